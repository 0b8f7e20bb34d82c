//! Members that add to a counter and move it after losses.

use super::judge;
use crate::counting::{Brought, Gathered, Mark, NewHome, Planted};
use crate::mistake::Mistake;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::fmt;
use weft_endpoint::{Rank, Variable};
use weft_model::explore::{Model, digest};

/// A team that counts, and losses.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    pub members: usize,
    /// Amounts that each member adds, one after the other.
    pub amounts: &'static [u64],
    pub losses: usize,
    /// True if variables of lost ranks are there: ranks share memory.
    pub are_shared: bool,
    pub planted: Option<Planted>,
    pub careless: Option<Careless>,
}

/// A mistake of whoever drives a member: a test of the tests.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Careless {
    /// A member goes into the all-gather while it adds.
    MovesWhileItAdds,
    /// The first member does not look at other marks than its own.
    TrustsItsOwnMark,
    /// The first member sets the new variable after all have heard of it.
    SetsItLate,
    /// The first member takes the new variable although the broadcast has failed.
    MovesAlone,
    /// The last member does not take the new variable.
    StaysWhenAllMoved,
}

/// An operation of a team: it ends well at all members that live, or at none.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Operation<T> {
    brought: BTreeMap<usize, T>,
    outcome: Option<bool>,
}

/// Place of a member's program.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Place {
    Adding,
    Shrinking,
    Shrunk,
    InGather,
    /// The first member alone.
    Sets,
    InBroadcast,
}

/// An addition under way.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Addition {
    amount: u64,
    variable: Variable,
    /// The value before, once it was executed.
    before: Option<u64>,
    /// Ends of all members' last additions when it was called.
    pub ends: Vec<u64>,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Member {
    pub lives: bool,
    pub place: Place,
    pub variable: Variable,
    mark: Mark,
    addition: Option<Addition>,
    /// Additions that have begun.
    begun: usize,
    /// Values before, and amounts, of additions that have returned.
    pub returned: Vec<(u64, u64)>,
}

impl Member {
    fn end(&self) -> u64 {
        self.returned.last().map_or(0, |(before, amount)| before + amount)
    }
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct World {
    pub members: Vec<Member>,
    /// Values, by the home and the index of the variable.
    values: BTreeMap<(u16, u16), u64>,
    /// Number of indices that each rank has given.
    given: Vec<u16>,
    /// Requests of lost members that are under way.
    strays: Vec<(Variable, u64)>,
    team: Vec<usize>,
    gather: Operation<Brought>,
    broadcast: Operation<Option<NewHome>>,
    losses_left: usize,
    /// True once a value is lost.
    pub is_value_lost: bool,
}

impl<T> Operation<T> {
    fn new() -> Self {
        Operation { brought: BTreeMap::new(), outcome: None }
    }
}

impl World {
    fn new(options: &Options) -> Self {
        let variable = Variable { home: Rank(0), index: 0 };
        let member = Member {
            lives: true,
            place: Place::Adding,
            variable,
            mark: Mark { mistake: Mistake::planted(options.planted), ..Mark::default() },
            addition: None,
            begun: 0,
            returned: Vec::new(),
        };
        let mut given = vec![0; options.members];
        given[0] = 1;
        World {
            members: vec![member; options.members],
            values: BTreeMap::new(),
            given,
            strays: Vec::new(),
            team: (0..options.members).collect(),
            gather: Operation::new(),
            broadcast: Operation::new(),
            losses_left: options.losses,
            is_value_lost: false,
        }
    }

    pub fn live(&self) -> impl Iterator<Item = &Member> {
        self.members.iter().filter(|member| member.lives)
    }

    fn places(&self) -> impl Iterator<Item = usize> + use<> {
        let lives: Vec<bool> = self.members.iter().map(|member| member.lives).collect();
        (0..lives.len()).filter(move |at| lives[*at])
    }

    fn has_lost(&self) -> bool {
        self.team.iter().any(|member| !self.members[*member].lives)
    }

    /// True if the variable answers.
    fn is_there(&self, options: &Options, variable: Variable) -> bool {
        options.are_shared || self.members[variable.home.index()].lives
    }

    fn execute(&mut self, variable: Variable, amount: u64) -> u64 {
        let value = self.values.entry((variable.home.0, variable.index)).or_default();
        *value += amount;
        *value - amount
    }

    /// Worlds after a loss.
    fn losses(&self, options: &Options) -> Vec<World> {
        let mut next = Vec::new();
        if self.losses_left == 0 {
            return next;
        }
        for at in self.places() {
            let mut world = self.clone();
            world.losses_left -= 1;
            let is_home = self.live().any(|member| member.variable.home.index() == at);
            world.is_value_lost |= is_home && !options.are_shared;
            let lost = &mut world.members[at];
            lost.lives = false;
            if let Some(Addition { amount, variable, before: None, .. }) = lost.addition.take() {
                world.strays.push((variable, amount));
            }
            next.push(world);
        }
        next
    }

    /// Worlds after what is under way.
    fn steps(&self, options: &Options) -> Vec<World> {
        let mut next = Vec::new();
        for at in self.places() {
            self.of_addition(options, at, &mut next);
            self.of_program(options, at, &mut next);
        }
        for (place, (variable, amount)) in self.strays.iter().enumerate() {
            let mut world = self.clone();
            world.strays.remove(place);
            if self.is_there(options, *variable) {
                world.execute(*variable, *amount);
            }
            next.push(world);
        }
        self.shrink(&mut next);
        self.of_operation(|world| &mut world.gather, &mut next);
        self.of_operation(|world| &mut world.broadcast, &mut next);
        next
    }

    /// Steps of a member's addition.
    fn of_addition(&self, options: &Options, at: usize, next: &mut Vec<World>) {
        let member = &self.members[at];
        let mut world = self.clone();
        let Some(addition) = &member.addition else {
            if member.place == Place::Adding
                && let Some(&amount) = options.amounts.get(member.begun)
            {
                let ends = self.members.iter().map(Member::end).collect();
                let (adds, variable) = (&mut world.members[at], member.variable);
                adds.addition = Some(Addition { amount, variable, before: None, ends });
                adds.begun += 1;
                next.push(world);
            }
            return;
        };
        let (amount, variable) = (addition.amount, addition.variable);
        let is_there = self.is_there(options, variable);
        match addition.before {
            None if is_there => {
                let before = Some(world.execute(variable, amount));
                world.members[at].addition = Some(Addition { before, ..addition.clone() });
                next.push(world);
            }
            Some(before) => {
                judge::c2_values_never_go_down(self, addition, before);
                let adds = &mut world.members[at];
                adds.addition = None;
                assert!(adds.mark.added(before, amount), "numbers are small");
                adds.returned.push((before, amount));
                next.push(world);
            }
            None => {}
        }
        if !is_there {
            // It fails, executed or not.
            let mut world = self.clone();
            world.members[at].addition = None;
            if member.place == Place::Adding && member.variable == variable {
                world.members[at].place = Place::Shrinking;
            }
            next.push(world);
        }
    }

    /// The step of a member's program, if it has one.
    fn of_program(&self, options: &Options, at: usize, next: &mut Vec<World>) {
        let mut world = self.clone();
        let is_first = self.team.first() == Some(&at);
        let member = &self.members[at];
        match member.place {
            Place::Adding => {
                let is_careless = options.careless == Some(Careless::MovesWhileItAdds);
                if !self.has_lost() || (member.addition.is_some() && !is_careless) {
                    return;
                }
                world.members[at].place = Place::Shrinking;
            }
            Place::Shrinking => return,
            Place::Shrunk => {
                let (variable, seen) = (member.variable, member.mark.seen());
                let holders = self.team.len() as u64;
                let brought = Brought::Counter { variable, seen, holders };
                world.gather.brought.insert(at, brought);
                world.members[at].place = Place::InGather;
            }
            Place::InGather => match self.gather.outcome {
                None => return,
                Some(false) => world.members[at].place = Place::Shrinking,
                Some(true) if is_first => world.members[at].place = Place::Sets,
                Some(true) => world.go_into_broadcast(at, None),
            },
            Place::Sets => {
                let told = world.set(options, at);
                world.go_into_broadcast(at, Some(told));
            }
            Place::InBroadcast => match self.broadcast.outcome {
                None => return,
                Some(is_well) => world.end_broadcast(options, at, is_well),
            },
        }
        next.push(world);
    }

    /// The first member reads the old variable, and sets the new one.
    fn set(&mut self, options: &Options, first: usize) -> NewHome {
        let all: Vec<Brought> = match (options.careless, self.gather.brought[&first]) {
            (Some(Careless::TrustsItsOwnMark), Brought::Counter { variable, seen, .. }) => {
                vec![Brought::Counter { variable, seen, holders: 1 }]
            }
            _ => self.gather.brought.values().copied().collect(),
        };
        let gathered = Brought::compare(&all).expect("all bring the same");
        let gathered = Gathered { mistake: Mistake::planted(options.planted), ..gathered };
        let from = gathered.from.expect("it is somewhere");
        let old = self.is_there(options, from).then(|| self.execute(from, 0));
        let variable = Variable { home: Rank(first as u16), index: self.given[first] };
        self.given[first] += 1;
        let value = gathered.value(old);
        if options.careless != Some(Careless::SetsItLate) {
            self.execute(variable, value);
        }
        NewHome::At(variable, value)
    }

    fn go_into_broadcast(&mut self, at: usize, told: Option<NewHome>) {
        self.members[at].place = Place::InBroadcast;
        self.broadcast.brought.insert(at, told);
    }

    fn end_broadcast(&mut self, options: &Options, at: usize, is_well: bool) {
        let is_first = self.team.first() == Some(&at);
        let is_last = self.team.last() == Some(&at);
        let told = self.broadcast.brought.values().find_map(|told| *told);
        let moves = match options.careless {
            Some(Careless::MovesAlone) if is_first => true,
            Some(Careless::StaysWhenAllMoved) if is_last => false,
            _ => is_well,
        };
        let member = &mut self.members[at];
        member.place = if is_well { Place::Adding } else { Place::Shrinking };
        if let Some(NewHome::At(variable, value)) = told.filter(|_| moves) {
            member.variable = variable;
            let mistake = member.mark.mistake.clone();
            member.mark = Mark { mistake, ..Mark::at(value) };
            if is_first && options.careless == Some(Careless::SetsItLate) {
                self.execute(variable, value);
            }
        }
    }

    /// All that live have come to shrink their team.
    fn shrink(&self, next: &mut Vec<World>) {
        let mut live = self.live().peekable();
        if live.peek().is_some() && live.all(|member| member.place == Place::Shrinking) {
            let mut world = self.clone();
            world.team.retain(|member| self.members[*member].lives);
            (world.gather, world.broadcast) = (Operation::new(), Operation::new());
            let live = world.members.iter_mut().filter(|member| member.lives);
            live.for_each(|member| member.place = Place::Shrunk);
            next.push(world);
        }
    }

    /// The end of an operation.
    fn of_operation<T>(&self, of: impl Fn(&mut World) -> &mut Operation<T>, next: &mut Vec<World>) {
        let mut world = self.clone();
        let operation = of(&mut world);
        if operation.outcome.is_some() || operation.brought.is_empty() {
            return;
        }
        if operation.brought.len() == self.team.len() {
            operation.outcome = Some(true);
            next.push(world.clone());
        }
        if self.has_lost() {
            of(&mut world).outcome = Some(false);
            next.push(world);
        }
    }
}

/// A step: what happens, and the world after it.
#[derive(Clone)]
pub struct Step(&'static str, Box<World>);

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
        let under_way = world.steps(self).into_iter().map(step("it goes on"));
        let losses = world.losses(self).into_iter();
        under_way.chain(losses.map(step("a rank is lost"))).collect()
    }

    fn take(&self, world: &mut World, step: &Step) {
        world.clone_from(&step.1);
    }

    fn check(&self, world: &World) {
        judge::check(world);
    }

    fn digest(&self, world: &World) -> u64 {
        digest(world)
    }

    fn is_done(&self, world: &World) -> bool {
        let is_at_rest = world.steps(self).is_empty();
        if is_at_rest {
            judge::c5_termination(world);
        }
        is_at_rest
    }

    fn deadlock(&self, _: &World) -> Option<Infallible> {
        None
    }
}
