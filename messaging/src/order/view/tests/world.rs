//! An order in one value: its members, the messages under way, and the detector, which is late.
//!
//! A rank that crashes in the middle of its sends is one whose last messages to some others do not
//! arrive: they are [cut](Step::Cut), or come after the notice of the crash. Between two ranks
//! there are two wires, each FIFO: broadcasts, and messages about members.

use super::judge;
use crate::order::view::planted::Planted;
use crate::order::view::{Founding, Message, Place, Post, View};
use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::Arc;
use weft_endpoint::{Rank, Variable};
use weft_model::explore::{Model, digest};

/// Order, and what may happen to it.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    pub members: u16,
    /// Messages that each member broadcasts.
    pub messages: u8,
    /// Ranks that crash, at most.
    pub losses: usize,
    /// True if members hand over what is due at once, and not at any time.
    pub eager: bool,
    pub planted: Option<Planted>,
}

/// One thing that happens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// A member has a message to broadcast, and asks for a number.
    Broadcast(Rank),
    /// A member asks for numbers for what waits.
    Draw(Rank),
    /// A member gets the numbers that it has asked for, and sends.
    Send(Rank),
    /// A member hands a message over.
    Take(Rank),
    /// The oldest broadcast between two ranks arrives.
    Arrive(Rank, Rank),
    /// The oldest message about members between two ranks arrives.
    Deliver(Rank, Rank),
    /// The coordinator begins an epoch.
    Decide(Rank),
    /// The detector tells a rank of another.
    Notice {
        at: Rank,
        of: Rank,
    },
    Crash(Rank),
    /// Broadcasts of a crashed rank to another are lost.
    CutBroadcasts(Rank, Rank),
    /// Messages of a crashed rank to another are lost.
    Cut(Rank, Rank),
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::Broadcast(rank) => write!(f, "{rank} broadcasts"),
            Step::Draw(rank) => write!(f, "{rank} draws numbers"),
            Step::Send(rank) => write!(f, "{rank} sends what has numbers"),
            Step::Take(rank) => write!(f, "{rank} hands a message over"),
            Step::Arrive(from, to) => write!(f, "a broadcast arrives from {from} at {to}"),
            Step::Deliver(from, to) => write!(f, "a message arrives from {from} at {to}"),
            Step::Decide(rank) => write!(f, "{rank} begins an epoch"),
            Step::Notice { at, of } => write!(f, "{at} is told that {of} is lost"),
            Step::Crash(rank) => write!(f, "{rank} crashes"),
            Step::CutBroadcasts(from, to) => write!(f, "broadcasts from {from} to {to} are lost"),
            Step::Cut(from, to) => write!(f, "messages from {from} to {to} are lost"),
        }
    }
}

/// A message that a member was handed over: its sender's place and its number among the sender's.
pub type Handed = (usize, u8);

/// One rank, and what a judge saw of it.
#[derive(Clone, Hash, Debug)]
pub struct Member {
    pub view: View<()>,
    pub lives: bool,
    /// Messages that its program has broadcast.
    pub broadcast: u8,
    /// Outcome of its draw that is under way: a value, unless the home of the variable has crashed.
    drawn: Option<Option<u64>>,
    pub handed: Vec<Handed>,
    /// For each loss that its program has heard of, the number of messages before.
    pub cuts: BTreeMap<Rank, usize>,
    /// Ranks that the detector has told it of.
    told: Vec<Rank>,
    /// Numbers that each member has consumed, as far as this one knows.
    consumed: Vec<u64>,
}

/// A broadcast under way: with what its sender has consumed, and knows that all have.
#[derive(Clone, Hash, Debug)]
pub struct Sent {
    place: Place,
    tag: u8,
    consumed: u64,
    stable: u64,
}

/// Messages under way, for each ordered pair of ranks.
type Wires<M> = BTreeMap<(Rank, Rank), VecDeque<M>>;

#[derive(Clone, Hash, Debug)]
pub struct World {
    pub members: Vec<Member>,
    broadcasts: Wires<Sent>,
    messages: Wires<Vec<u8>>,
    variables: BTreeMap<(Rank, u16), u64>,
    eager: bool,
}

/// Messages that one rank sends.
struct Sends<'a> {
    from: Rank,
    wires: &'a mut Wires<Vec<u8>>,
}

impl Post for Sends<'_> {
    fn send(&mut self, to: Rank, message: Message) {
        self.wires.entry((self.from, to)).or_default().push_back(message.emit());
    }
}

impl World {
    pub fn new(options: &Options) -> Self {
        let all: Arc<[Rank]> = (0..options.members).map(Rank).collect();
        let member = |&me: &Rank| {
            let variable = Variable { home: Rank(0), index: 0 };
            let founding =
                Founding { me, members: Arc::clone(&all), variable, spare: Some(1), limit: 8 };
            let mut view = View::new(founding).expect("a member");
            view.planted = options.planted;
            Member {
                view,
                lives: true,
                broadcast: 0,
                drawn: None,
                handed: Vec::new(),
                cuts: BTreeMap::new(),
                told: Vec::new(),
                consumed: vec![0; all.len()],
            }
        };
        let spare = all.iter().map(|rank| ((*rank, 1), 5 + u64::from(rank.0)));
        World {
            members: all.iter().map(member).collect(),
            broadcasts: Wires::new(),
            messages: Wires::new(),
            variables: spare.chain([((Rank(0), 0), 0)]).collect(),
            eager: options.eager,
        }
    }

    pub fn live(&self) -> impl Iterator<Item = (Rank, &Member)> {
        (0..).map(Rank).zip(&self.members).filter(|(_, member)| member.lives)
    }

    pub fn is_live(&self, rank: Rank) -> bool {
        self.members[rank.index()].lives
    }

    pub fn losses(&self) -> usize {
        self.members.iter().filter(|member| !member.lives).count()
    }

    /// All that can happen but crashes and cuts.
    pub fn due(&self, messages: u8) -> Vec<Step> {
        let mut steps = Vec::new();
        for (rank, member) in self.live() {
            let has_drawn = member.drawn.is_some();
            if member.broadcast < messages {
                steps.push(Step::Broadcast(rank));
            }
            if !has_drawn && member.view.may_draw() && member.view.has_pending() {
                steps.push(Step::Draw(rank));
            }
            if has_drawn {
                steps.push(Step::Send(rank));
            }
            let mut view = member.view.clone();
            if view.next_loss().is_some() || view.take().is_some() {
                steps.push(Step::Take(rank));
            }
            if member.view.decision_due().is_some_and(|variable| self.is_live(variable.home)) {
                steps.push(Step::Decide(rank));
            }
            let dead = (0..).map(Rank).take(self.members.len()).filter(|of| !self.is_live(*of));
            let news = dead.filter(|of| !member.told.contains(of));
            steps.extend(news.map(|of| Step::Notice { at: rank, of }));
        }
        steps.extend(self.broadcasts.keys().map(|&(from, to)| Step::Arrive(from, to)));
        steps.extend(self.messages.keys().map(|&(from, to)| Step::Deliver(from, to)));
        steps
    }

    /// Takes a step, which is possible.
    pub fn take(&mut self, step: Step) {
        match step {
            Step::Broadcast(rank) => {
                let member = &mut self.members[rank.index()];
                let tag = member.broadcast;
                member.broadcast += 1;
                member.view.queue([tag].into(), ());
                self.draw(rank);
            }
            Step::Draw(rank) => self.draw(rank),
            Step::Send(rank) => self.send(rank),
            Step::Take(rank) => self.hand_over(rank),
            Step::Arrive(from, to) => self.arrive(from, to),
            Step::Deliver(from, to) => {
                let message = pop(&mut self.messages, from, to);
                self.deliver(from, to, &message);
            }
            Step::Decide(rank) => {
                let variable = self.members[rank.index()].view.decision_due();
                let Variable { home, index } = variable.expect("it is due");
                let base = self.variables[&(home, index)];
                self.at(rank, |view, out| view.decide(base, out).expect("honest reports"));
            }
            Step::Notice { at, of } => {
                let member = &mut self.members[at.index()];
                member.told.push(of);
                member.told.sort();
                member.consumed[of.index()] = u64::MAX;
                self.at(at, |view, out| view.lost(of, out));
                self.forget(at, 0);
            }
            Step::Crash(rank) => self.crash(rank),
            Step::CutBroadcasts(from, to) => drop(self.broadcasts.remove(&(from, to))),
            Step::Cut(from, to) => drop(self.messages.remove(&(from, to))),
        }
        let members = &self.members;
        self.messages.retain(|(_, to), _| members[to.index()].lives);
        if self.eager {
            let all: Vec<Rank> = self.live().map(|(rank, _)| rank).collect();
            all.into_iter().for_each(|rank| while self.hand_over_one(rank) {});
        }
    }

    fn at(&mut self, at: Rank, act: impl FnOnce(&mut View<()>, &mut Sends<'_>)) {
        act(&mut self.members[at.index()].view, &mut Sends { from: at, wires: &mut self.messages });
    }

    fn draw(&mut self, rank: Rank) {
        let member = &mut self.members[rank.index()];
        let Some((Variable { home, index }, count)) = member.view.begin_draw() else { return };
        member.drawn = Some(None);
        if self.is_live(home) {
            let value = self.variables.get_mut(&(home, index)).expect("a variable");
            self.members[rank.index()].drawn = Some(Some(*value));
            *value += count;
        }
    }

    fn send(&mut self, rank: Rank) {
        let value = self.members[rank.index()].drawn.take().expect("it has drawn");
        let mut numbered = Vec::new();
        self.at(rank, |view, out| {
            numbered = view.end_draw(value, out).expect("numbers that can be")
        });
        let member = &self.members[rank.index()];
        let stable = member.consumed.iter().copied().min().unwrap_or(0);
        let consumed = member.handed.len() as u64;
        for numbered in numbered {
            let place = member.view.placed(numbered.number);
            let sent = Sent { place, tag: numbered.bytes[0], consumed, stable };
            for to in (0..).map(Rank).take(self.members.len()) {
                if to != rank && self.is_live(to) {
                    self.broadcasts.entry((rank, to)).or_default().push_back(sent.clone());
                }
            }
        }
    }

    fn hand_over(&mut self, rank: Rank) {
        assert!(self.hand_over_one(rank), "something is due");
    }

    /// Hands over what is due at a rank: a loss, or a message.
    fn hand_over_one(&mut self, rank: Rank) -> bool {
        let member = &mut self.members[rank.index()];
        if let Some(lost) = member.view.next_loss() {
            member.cuts.insert(lost, member.handed.len());
            return true;
        }
        let Some((number, whole)) = member.view.take() else { return false };
        assert_eq!(number, member.handed.len() as u64);
        assert_eq!(whole.own.is_some(), whole.from == rank.index(), "its own");
        member.handed.push((whole.from, whole.bytes[0]));
        member.consumed[rank.index()] = number + 1;
        self.forget(rank, 0);
        true
    }

    fn arrive(&mut self, from: Rank, to: Rank) {
        let Sent { place, tag, consumed, stable } = pop(&mut self.broadcasts, from, to);
        let member = &mut self.members[to.index()];
        let known = &mut member.consumed[from.index()];
        *known = consumed.max(*known);
        let arrived = member.view.arrived(place, from.index(), [tag].into());
        assert_eq!(arrived, Ok(()), "{from} sends {place:?} to {to}");
        self.forget(to, stable);
    }

    fn deliver(&mut self, from: Rank, to: Rank, message: &[u8]) {
        // As it comes out of its bytes.
        let message = Message::parse(message).expect("a message that was written");
        self.at(to, |view, out| {
            let taken = match message {
                Message::Report(report) => view.reported(from, report),
                Message::Begin(begin) => view.begun(from, begin, out),
                Message::Fill(fill) => view.filled(fill),
            };
            assert_eq!(taken, Ok(()), "from {from} at {to}");
        });
    }

    /// Forgets copies of what all have consumed.
    fn forget(&mut self, at: Rank, stable: u64) {
        let member = &mut self.members[at.index()];
        let own = member.consumed[at.index()];
        let all = member.consumed.iter().copied().min().unwrap_or(0).max(stable).min(own);
        member.view.all_have_consumed(all);
    }

    fn crash(&mut self, rank: Rank) {
        let member = &mut self.members[rank.index()];
        // Nobody looks at it any more; equal to all that have crashed, but for what it has sent.
        let messages = member.broadcast;
        let options = Options {
            members: self.members.len() as u16,
            messages: 0,
            losses: 0,
            eager: false,
            planted: None,
        };
        self.members[rank.index()] = World::new(&options).members.swap_remove(rank.index());
        let member = &mut self.members[rank.index()];
        (member.lives, member.broadcast) = (false, messages);
        self.messages.retain(|(_, to), _| *to != rank);
        self.broadcasts.retain(|(_, to), _| *to != rank);
    }
}

fn pop<M>(wires: &mut Wires<M>, from: Rank, to: Rank) -> M {
    let wire = wires.get_mut(&(from, to)).expect("something is under way");
    let message = wire.pop_front().expect("something is under way");
    if wire.is_empty() {
        wires.remove(&(from, to));
    }
    message
}

impl Model for Options {
    type State = World;
    type Step = Step;
    type Deadlock = std::convert::Infallible;

    fn start(&self) -> World {
        World::new(self)
    }

    fn steps(&self, world: &World) -> Vec<Step> {
        let mut steps = world.due(self.messages);
        if world.losses() < self.losses {
            steps.extend(world.live().map(|(rank, _)| Step::Crash(rank)));
        }
        let dead = |wire: &&(Rank, Rank)| !world.is_live(wire.0);
        let cut = world.broadcasts.keys().filter(dead);
        steps.extend(cut.map(|&(from, to)| Step::CutBroadcasts(from, to)));
        let cut = world.messages.keys().filter(dead);
        steps.extend(cut.map(|&(from, to)| Step::Cut(from, to)));
        steps
    }

    fn take(&self, world: &mut World, step: &Step) {
        world.take(*step);
    }

    fn check(&self, world: &World) {
        judge::check(world);
    }

    fn digest(&self, world: &World) -> u64 {
        digest(world)
    }

    fn is_done(&self, world: &World) -> bool {
        if !world.due(self.messages).is_empty() {
            return false;
        }
        judge::v4_termination(world);
        true
    }

    fn deadlock(&self, _: &World) -> Option<Self::Deadlock> {
        None
    }
}
