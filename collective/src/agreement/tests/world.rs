//! A team in one value: its ranks, the messages under way, and the detector, which is late.
//!
//! A rank that crashes in the middle of its sends is one whose last messages to some others do not
//! arrive: they are [cut](Step::Cut), or come after the notice of the crash, which is the same to
//! the rest of the world.

use super::judge;
use crate::agreement::planted::Planted;
use crate::agreement::{Agreement, AgreementMessage, Decision, Post};
use crate::mistake::Mistake;
use crate::shrinking::{self, Shrinking, Shrunk};
use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use weft_endpoint::Rank;
use weft_model::explore::{Model, digest};

/// Team, and what may happen to it.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    pub members: u16,
    /// Agreements that each rank takes part in, one after another.
    pub agreements: usize,
    /// Ranks that crash, at most.
    pub losses: usize,
    /// True if messages from ranks that are known to be lost arrive at any time, and may be cut.
    /// Otherwise they are handed over as soon as they will be dropped.
    pub late: bool,
    /// True if each rank shrinks the team, by as many agreements as that takes; else it takes part
    /// in the number given above.
    pub shrinks: bool,
    pub planted: Option<Planted>,
    /// A mistake of those that shrink.
    pub planted_in_shrinking: Option<shrinking::Planted>,
}

/// One thing that happens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// A rank begins its next agreement.
    Begin(Rank),
    /// The oldest message between two ranks arrives.
    Deliver(Rank, Rank),
    /// The detector tells a rank of another.
    Notice {
        at: Rank,
        of: Rank,
    },
    Crash(Rank),
    /// The messages of a crashed rank to another are lost.
    Cut(Rank, Rank),
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::Begin(rank) => write!(f, "{rank} begins"),
            Step::Deliver(from, to) => write!(f, "a message arrives from {from} at {to}"),
            Step::Notice { at, of } => write!(f, "{at} is told that {of} is lost"),
            Step::Crash(rank) => write!(f, "{rank} crashes"),
            Step::Cut(from, to) => write!(f, "the messages from {from} to {to} are lost"),
        }
    }
}

/// One rank, and what a judge saw of it.
#[derive(Clone, Hash, Debug)]
pub struct Member {
    pub machine: Agreement,
    pub lives: bool,
    /// For each agreement that it has begun, the ranks that it had been told to be lost.
    pub begun: Vec<Vec<Rank>>,
    pub decisions: Vec<Decision>,
    /// Flags that it has brought to each.
    pub brought: Vec<u64>,
    pub shrinking: Option<Shrinking>,
    pub shrunk: Option<Shrunk>,
    /// Ranks that the detector has told it of.
    pub told: Vec<Rank>,
}

/// Messages under way, for each ordered pair of ranks.
type Wires = BTreeMap<(Rank, Rank), VecDeque<AgreementMessage>>;

#[derive(Clone, Hash, Debug)]
pub struct World {
    pub members: Vec<Member>,
    pub wires: Wires,
    pub late: bool,
}

/// Messages that one rank sends.
struct Sends<'a> {
    from: Rank,
    wires: &'a mut Wires,
    sent: Vec<Step>,
}

impl Post for Sends<'_> {
    fn send(&mut self, to: Rank, message: &AgreementMessage) {
        // As it comes out of its bytes.
        let message = AgreementMessage::parse(&message.emit()).expect("a message that was written");
        self.wires.entry((self.from, to)).or_default().push_back(message);
        self.sent.push(Step::Deliver(self.from, to));
    }
}

/// Name that a rank gives a team.
pub fn name_of(rank: Rank) -> u32 {
    100 + u32::from(rank.0)
}

/// Flags of a rank in an agreement: all but one bit, which no other has.
fn flags_of(rank: Rank, number: usize, members: usize) -> u64 {
    !(1 << ((rank.index() + number * members) % 64))
}

impl World {
    pub fn new(options: &Options) -> Self {
        let all: Vec<Rank> = (0..options.members).map(Rank).collect();
        let member = |&me: &Rank| {
            let mut machine = Agreement::new(&all, me);
            machine.mistake = Mistake::planted(options.planted);
            let mut shrinking = Shrinking::new(all.clone(), me, name_of(me));
            shrinking.mistake = Mistake::planted(options.planted_in_shrinking);
            Member {
                machine,
                lives: true,
                begun: Vec::new(),
                decisions: Vec::new(),
                brought: Vec::new(),
                shrinking: options.shrinks.then_some(shrinking),
                shrunk: None,
                told: Vec::new(),
            }
        };
        let members = all.iter().map(member).collect();
        World { members, wires: Wires::new(), late: options.late }
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
    pub fn due(&self, agreements: usize) -> Vec<Step> {
        let may_begin = |(_, member): &(Rank, &Member)| {
            let (begun, decided) = (member.begun.len(), member.decisions.len());
            let more = match member.shrinking {
                Some(_) => member.shrunk.is_none(),
                None => begun < agreements,
            };
            begun == decided && more
        };
        let begins = self.live().filter(may_begin).map(|(rank, _)| Step::Begin(rank));
        let messages = self.wires.keys().map(|&(from, to)| Step::Deliver(from, to));
        let dead = || (0..).map(Rank).take(self.members.len()).filter(|&rank| !self.is_live(rank));
        let notices = self.live().flat_map(|(at, member)| {
            let news = dead().filter(|of| !member.told.contains(of));
            news.map(move |of| Step::Notice { at, of })
        });
        begins.chain(messages).chain(notices).collect()
    }

    /// Takes a step, which is possible. Returns the messages that it sends.
    pub fn take(&mut self, step: Step) -> Vec<Step> {
        match step {
            Step::Begin(rank) => self.begin(rank),
            Step::Deliver(from, to) => self.deliver(from, to),
            Step::Notice { at, of } => {
                self.members[at.index()].told.push(of);
                self.members[at.index()].told.sort();
                self.at(at, |machine, out| machine.lost(of, out))
            }
            Step::Crash(rank) => {
                self.crash(rank);
                Vec::new()
            }
            Step::Cut(from, to) => {
                self.wires.remove(&(from, to));
                Vec::new()
            }
        }
    }

    fn begin(&mut self, rank: Rank) -> Vec<Step> {
        let members = self.members.len();
        let member = &mut self.members[rank.index()];
        let flags = match &member.shrinking {
            Some(shrinking) => u64::from(shrinking.flags()),
            None => flags_of(rank, member.begun.len(), members),
        };
        member.begun.push(member.told.clone());
        member.brought.push(flags);
        self.at(rank, |machine, out| machine.begin(flags, out))
    }

    fn deliver(&mut self, from: Rank, to: Rank) -> Vec<Step> {
        let wire = self.wires.get_mut(&(from, to)).expect("something is under way");
        let message = wire.pop_front().expect("something is under way");
        if wire.is_empty() {
            self.wires.remove(&(from, to));
        }
        self.at(to, |machine, out| {
            let refused = machine.arrived(from, message, out).err();
            assert_eq!(refused, None, "{}", refused.map_or(String::new(), |why| why.to_string()));
        })
    }

    fn crash(&mut self, rank: Rank) {
        let member = &mut self.members[rank.index()];
        member.lives = false;
        // Nobody looks at it any more; equal to all that have crashed.
        let all: Vec<Rank> = (0..).map(Rank).take(self.members.len()).collect();
        let member = &mut self.members[rank.index()];
        member.machine = Agreement::new(&all, rank);
        member.begun.iter_mut().for_each(Vec::clear);
        member.decisions.clear();
        (member.shrinking, member.shrunk) = (None, None);
        member.told.clear();
        self.wires.retain(|(_, to), _| *to != rank);
    }

    fn at(&mut self, at: Rank, act: impl FnOnce(&mut Agreement, &mut Sends<'_>)) -> Vec<Step> {
        let member = &mut self.members[at.index()];
        let mut sends = Sends { from: at, wires: &mut self.wires, sent: Vec::new() };
        act(&mut member.machine, &mut sends);
        let mut sent = sends.sent;
        if let Some(decision) = member.machine.decided() {
            assert_eq!(decision.number as usize, member.decisions.len(), "each, in order");
            if let Some(shrinking) = &mut member.shrinking {
                let (flags, lost) = (decision.flags as u32, decision.lost.clone());
                member.shrunk = shrinking.decided(flags, lost);
            }
            member.decisions.push(decision);
        }
        let members = &self.members;
        self.wires.retain(|(_, to), _| members[to.index()].lives);
        sent.retain(|step| !matches!(step, Step::Deliver(_, to) if !self.is_live(*to)));
        if !self.late {
            self.drop_from_lost(at);
        }
        sent
    }

    /// Hands over what this rank will drop.
    fn drop_from_lost(&mut self, at: Rank) {
        let lost = self.members[at.index()].machine.known_lost().to_vec();
        for from in lost {
            while self.wires.contains_key(&(from, at)) {
                self.deliver(from, at);
            }
        }
    }
}

impl Model for Options {
    type State = World;
    type Step = Step;
    type Deadlock = std::convert::Infallible;

    fn start(&self) -> World {
        World::new(self)
    }

    fn steps(&self, world: &World) -> Vec<Step> {
        let mut steps = world.due(self.agreements);
        if world.losses() < self.losses {
            steps.extend(world.live().map(|(rank, _)| Step::Crash(rank)));
        }
        if self.late {
            let wires = world.wires.keys().filter(|(from, _)| !world.is_live(*from));
            steps.extend(wires.map(|&(from, to)| Step::Cut(from, to)));
        }
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
        if !world.due(self.agreements).is_empty() {
            return false;
        }
        judge::a3_termination(world, self.agreements);
        true
    }

    fn deadlock(&self, _: &World) -> Option<Self::Deadlock> {
        None
    }
}
