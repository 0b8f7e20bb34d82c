//! All states of small worlds, in which any rank may be lost at any time.

use super::*;
use std::convert::Infallible;
use std::fmt;
use weft_model::explore::{Explored, Model, Wrong, digest, explore};

/// Rank of the first member.
const FIRST: Rank = Rank(0);

/// An operation of the team: it ends well at all members that live, or at none.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
struct Operation {
    entered: Vec<bool>,
    outcome: Option<bool>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Place {
    InBarrier,
    /// The first member alone.
    Starts,
    InBroadcast,
    Done(bool),
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Newcomer {
    is_started: bool,
    lives: bool,
    inbox: Vec<News>,
    has_heard_loss: bool,
    come: Option<Come>,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct World {
    places: Vec<Place>,
    live: Vec<bool>,
    barrier: Operation,
    broadcast: Operation,
    growing: Growing,
    /// Messages that the first member has yet to send.
    unsent: Vec<(usize, News)>,
    newcomers: Vec<Newcomer>,
    losses_left: usize,
}

impl World {
    fn new(options: &Options) -> Self {
        let Options { members, newcomers, losses, planted } = *options;
        let operation = || Operation { entered: vec![false; members], outcome: None };
        let newcomer = Newcomer {
            is_started: false,
            lives: true,
            inbox: Vec::new(),
            has_heard_loss: false,
            come: None,
        };
        let mut barrier = operation();
        barrier.entered.fill(true);
        World {
            places: vec![Place::InBarrier; members],
            live: vec![true; members],
            barrier,
            broadcast: operation(),
            growing: Growing { come: Vec::new(), mistake: Mistake::planted(planted) },
            unsent: Vec::new(),
            newcomers: vec![newcomer; newcomers],
            losses_left: losses,
        }
    }

    fn rank(&self, newcomer: usize) -> Rank {
        Rank((self.places.len() + newcomer) as u16)
    }

    fn newcomer(&self, rank: Rank) -> usize {
        rank.index() - self.places.len()
    }

    /// Worlds after a loss.
    fn losses(&self) -> Vec<World> {
        let mut next = Vec::new();
        if self.losses_left == 0 {
            return next;
        }
        for member in 0..self.live.len() {
            if self.live[member] {
                let mut world = self.clone();
                world.live[member] = false;
                world.losses_left -= 1;
                if Rank(member as u16) == FIRST {
                    world.unsent.clear();
                }
                next.push(world);
            }
        }
        for newcomer in 0..self.newcomers.len() {
            if self.newcomers[newcomer].is_started && self.newcomers[newcomer].lives {
                let mut world = self.clone();
                world.newcomers[newcomer].lives = false;
                world.losses_left -= 1;
                next.push(world);
            }
        }
        next
    }

    /// Worlds after what is under way.
    fn steps(&self) -> Vec<World> {
        let mut next = Vec::new();
        let of_operation: [fn(&mut World) -> &mut Operation; 2] =
            [|world| &mut world.barrier, |world| &mut world.broadcast];
        for of in of_operation {
            let mut world = self.clone();
            let Operation { entered, outcome } = of(&mut world).clone();
            if outcome.is_none() {
                if entered.iter().all(|is_in| *is_in) {
                    of(&mut world).outcome = Some(true);
                    next.push(world.clone());
                }
                if self.live.contains(&false) && entered.contains(&true) {
                    of(&mut world).outcome = Some(false);
                    next.push(world);
                }
            }
        }
        next.extend((0..self.places.len()).filter_map(|member| self.advanced(member)));
        if let Some((to, told)) = self.unsent.first().copied() {
            let mut world = self.clone();
            world.unsent.remove(0);
            world.newcomers[to].inbox.push(told);
            next.push(world);
        }
        next.extend((0..self.newcomers.len()).filter_map(|newcomer| self.heard(newcomer)));
        next
    }

    /// The world after the next step of a member, if it has one.
    fn advanced(&self, member: usize) -> Option<World> {
        let mut world = self.clone();
        if !self.live[member] {
            return None;
        }
        let is_first = Rank(member as u16) == FIRST;
        match self.places[member] {
            Place::InBarrier => match self.barrier.outcome? {
                false => world.places[member] = Place::Done(false),
                true if is_first => world.places[member] = Place::Starts,
                true => world.enter_broadcast(member),
            },
            Place::Starts => {
                let come: Vec<Rank> = (0..self.newcomers.len()).map(|it| self.rank(it)).collect();
                world.newcomers.iter_mut().for_each(|newcomer| newcomer.is_started = true);
                world.growing.started(come);
                world.enter_broadcast(member);
            }
            Place::InBroadcast => {
                let is_well = self.broadcast.outcome?;
                world.places[member] = Place::Done(is_well);
                if is_first {
                    let (come, told) = world.growing.ended(is_well);
                    let sends = come.into_iter().map(|rank| (self.newcomer(rank), told));
                    world.unsent.extend(sends);
                }
            }
            Place::Done(_) => return None,
        }
        Some(world)
    }

    fn enter_broadcast(&mut self, member: usize) {
        self.places[member] = Place::InBroadcast;
        self.broadcast.entered[member] = true;
    }

    /// The world after a newcomer has heard something: messages of a lost rank before its loss.
    fn heard(&self, newcomer: usize) -> Option<World> {
        let mut world = self.clone();
        let Newcomer { is_started, lives, inbox, has_heard_loss, come: ended } =
            &mut world.newcomers[newcomer];
        if !(*is_started && *lives) || ended.is_some() {
            return None;
        }
        let heard = match inbox.is_empty() {
            false => Heard::Said(inbox.remove(0)),
            true if self.live[FIRST.index()] || *has_heard_loss => return None,
            true => Heard::Loss(FIRST),
        };
        *has_heard_loss |= matches!(heard, Heard::Loss(_));
        *ended = Coming { spawner: FIRST, mistake: self.growing.mistake.clone() }.hear(heard);
        Some(world)
    }

    /// Outcomes at members that live and are done.
    fn outcomes(&self) -> impl Iterator<Item = bool> {
        self.places.iter().zip(&self.live).filter_map(|(place, lives)| match place {
            Place::Done(is_well) if *lives => Some(*is_well),
            _ => None,
        })
    }

    fn has_come(&self, what: Come) -> bool {
        self.newcomers.iter().any(|newcomer| newcomer.come == Some(what))
    }
}

/// G1: whoever comes has a team only if all members that live and are done have it.
fn g1_all_have_it(world: &World) {
    let is_had = world.outcomes().all(|is_well| is_well);
    assert!(!world.has_come(Come::Member) || is_had, "G1 {world:?}");
}

/// G2: nobody waits for ever.
fn g2_termination(world: &World) {
    let is_done = |(place, lives): (&Place, &bool)| !lives || matches!(place, Place::Done(_));
    assert!(world.places.iter().zip(&world.live).all(is_done), "G2 {world:?}");
    let waits = |it: &Newcomer| it.is_started && it.lives && it.come.is_none();
    assert!(!world.newcomers.iter().any(waits), "G2 {world:?}");
}

/// G3: whoever is not needed ends as no loss, and as a victim only if the first member is lost.
fn g3_unneeded_are_no_losses(world: &World) {
    let is_had = world.outcomes().any(|is_well| is_well);
    assert!(!world.has_come(Come::Unneeded) || !is_had, "G3 {world:?}");
    assert!(!world.has_come(Come::Victim) || !world.live[FIRST.index()], "G3 {world:?}");
}

/// A team, ranks that come to it, and losses.
#[derive(Clone, Copy, Debug)]
struct Options {
    members: usize,
    newcomers: usize,
    losses: usize,
    planted: Option<Planted>,
}

/// A step: what happens, and the world after it.
#[derive(Clone)]
struct Step(&'static str, Box<World>);

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {:?}", self.0, self.1)
    }
}

impl Model for Options {
    type State = World;
    type Step = Step;
    type Deadlock = Infallible;

    fn start(&self) -> World {
        World::new(self)
    }

    fn steps(&self, world: &World) -> Vec<Step> {
        let step = |what| move |next| Step(what, Box::new(next));
        let under_way = world.steps().into_iter().map(step("it goes on"));
        under_way.chain(world.losses().into_iter().map(step("a rank is lost"))).collect()
    }

    fn take(&self, world: &mut World, step: &Step) {
        world.clone_from(&step.1);
    }

    fn check(&self, world: &World) {
        g1_all_have_it(world);
        g3_unneeded_are_no_losses(world);
    }

    fn digest(&self, world: &World) -> u64 {
        digest(world)
    }

    fn is_done(&self, world: &World) -> bool {
        let is_at_rest = world.steps().is_empty();
        if is_at_rest {
            g2_termination(world);
        }
        is_at_rest
    }

    fn deadlock(&self, _: &World) -> Option<Infallible> {
        None
    }
}

const THREE: Options = Options { members: 3, newcomers: 2, losses: 2, planted: None };

fn explored(options: &Options) -> Explored {
    explore(options, 1_000_000).unwrap_or_else(|found| panic!("{found}"))
}

#[test]
fn all_that_live_have_the_team_or_are_done_without_whoever_is_lost() {
    assert_eq!(explored(&Options { members: 2, newcomers: 1, losses: 0, ..THREE }).states, 15);
    assert_eq!(explored(&Options { losses: 3, ..THREE }).states, 3_127);
    assert!(explored(&Options { members: 4, newcomers: 3, ..THREE }).states > 10_000);
}

#[test]
fn every_mistake_is_found() {
    let mistakes =
        [(Planted::InviteAnyway, "G1"), (Planted::ForgetThem, "G2"), (Planted::MindNoLoss, "G2")];
    for (planted, invariant) in mistakes {
        let found = explore(&Options { planted: Some(planted), ..THREE }, 1_000_000).unwrap_err();
        let Wrong::Broken(what) = found.wrong else { panic!("{planted:?}: {found}") };
        assert!(what.starts_with(invariant), "{planted:?}: {what}");
    }
}
