//! Some nodes that share some regions, in one value: programs that do anything they may, and a
//! network that takes its time. To be explored in all its states, or driven at random.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;
use weft_endpoint::Rank;
use weft_model::explore::{Model, digest};
use weft_model::memory::Memory;
use weft_region::coherence::table::ReplicaState;
use weft_region::coherence::{
    Actions, Call, Hint, Message, MessageKind, Planted, Policy, Region, Version,
};
use weft_region::invariants::{self, Holding};

/// Options of a world.
#[derive(Clone, Debug)]
pub struct Options {
    /// Nodes.
    pub nodes: u16,
    /// The home of each region.
    pub homes: Vec<u16>,
    /// Of each region.
    pub policy: Policy,
    /// Calls that each node may make, and how many times, besides ending what it began.
    pub calls: Vec<Call>,
    pub times: u32,
    /// Node 0 calls nothing.
    pub idle_home: bool,
    /// Number of nested reads of a region by one node.
    pub nesting: u32,
    /// Transport of invalidations and updates.
    pub multicast: Multicast,
    /// Nodes forget regions of which they have no copy.
    pub forgetful: bool,
    /// Nodes that may be lost, at any time.
    pub mortal: Vec<u16>,
    /// A mistake in the rules of all nodes.
    pub planted: Option<Planted>,
}

/// Transport of invalidations and updates.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Multicast {
    /// With everything else.
    Never,
    /// By a way of their own, on which they keep order.
    InOrder,
    /// By ways of their own: those of a kind keep order with every other one at most.
    Freely,
    /// In order where they are for several nodes, else with everything else.
    Sometimes,
}

impl Options {
    /// Reads and writes of as many nodes, one region whose home is node 0.
    pub fn new(nodes: u16, times: u32) -> Self {
        Options {
            nodes,
            homes: vec![0],
            policy: Policy::default(),
            calls: vec![Call::StartRead, Call::StartWrite],
            times,
            idle_home: false,
            nesting: 1,
            multicast: Multicast::InOrder,
            forgetful: false,
            mortal: Vec::new(),
            planted: None,
        }
    }
}

/// Something that happens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    Call {
        node: usize,
        region: usize,
        call: Call,
    },
    Arrive(Way),
    /// The node forgets what it knew of a region, and asks the home for it anew.
    Forget {
        node: usize,
        region: usize,
    },
    /// The node is lost. What it has sent may still arrive.
    Crash(usize),
    /// The node hears that the other is lost: nothing comes from there any more.
    Hear {
        node: usize,
        lost: usize,
    },
}

/// From, to, and 0 or by which multicast.
pub type Way = (Rank, Rank, u32);

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Step::Call { node, region, call } => {
                write!(f, "{node} calls {call:?} of region {region}")
            }
            Step::Forget { node, region } => write!(f, "{node} forgets region {region}"),
            Step::Crash(node) => write!(f, "{node} is lost"),
            Step::Hear { node, lost } => write!(f, "{node} hears that {lost} is lost"),
            Step::Arrive((from, to, multicast)) => {
                write!(f, "a message of {from} arrives at {to}")?;
                f.write_str(if multicast > 0 { ", multicast" } else { "" })
            }
        }
    }
}

/// Ranks that wait, and for what.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stuck(pub String);

impl fmt::Display for Stuck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "stuck: {}", self.0)
    }
}

/// A state of it all.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct World {
    /// By node, then by region.
    regions: Vec<Vec<Region>>,
    memory: Vec<Vec<u64>>,
    hosts: Vec<Host>,
    ways: BTreeMap<Way, VecDeque<Packet>>,
    judge: Memory,
    lost: Losses,
}

/// Losses so far.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
struct Losses {
    nodes: BTreeSet<usize>,
    /// Pairs of a node and a loss that it has heard of.
    heard: BTreeSet<(usize, usize)>,
    /// Regions that may be lost with them: their bytes were there, or on the way there or back.
    regions: BTreeSet<usize>,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Packet {
    region: usize,
    message: Message,
    data: Option<u64>,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Host {
    left: u32,
    doing: Doing,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Doing {
    Nothing,
    Waiting,
    Reading(usize, u32),
    Writing(usize),
    Deleting(usize),
}

impl World {
    /// Before anything has happened.
    pub fn new(options: &Options) -> Self {
        let region = |node: u16, &home: &u16| {
            let mut region = if node == home {
                Region::at_home(Rank(node), options.policy)
            } else {
                Region::elsewhere(Rank(node), Rank(home), Version::default())
            };
            if let Some(planted) = options.planted {
                region.plant(planted);
            }
            region
        };
        let regions = |node| options.homes.iter().map(|home| region(node, home)).collect();
        let nodes = usize::from(options.nodes);
        let mut hosts = vec![Host { left: options.times, doing: Doing::Nothing }; nodes];
        if options.idle_home {
            hosts[0].left = 0;
        }
        World {
            regions: (0..options.nodes).map(regions).collect(),
            memory: vec![vec![0; options.homes.len()]; nodes],
            hosts,
            ways: BTreeMap::new(),
            judge: Memory::new(options.homes.len()),
            lost: Losses::default(),
        }
    }

    /// All that can happen next.
    pub fn possible(&self, options: &Options) -> Vec<Step> {
        let mut steps: Vec<Step> = self.ways.keys().map(|&way| Step::Arrive(way)).collect();
        let mortal = options.mortal.iter().map(|node| usize::from(*node));
        steps.extend(mortal.filter(|node| !self.is_lost(*node)).map(Step::Crash));
        steps.extend(self.unheard().map(|(node, lost)| Step::Hear { node, lost }));
        for (node, host) in self.hosts.iter().enumerate() {
            let may = |region, call| Step::Call { node, region, call };
            let more = |call| host.left > 0 && options.calls.contains(&call);
            if host.left > 0 && options.forgetful {
                let idle = |&region: &usize| {
                    let region = &self.regions[node][region];
                    let has_home = !self.is_lost(region.home().index());
                    region.replica().is_idle() && region.directory().is_none() && has_home
                };
                let regions = (0..options.homes.len()).filter(idle);
                steps.extend(regions.map(|region| Step::Forget { node, region }));
            }
            if let Doing::Reading(region, _) | Doing::Writing(region) = host.doing {
                let calls = [Call::Prefetch, Call::PrefetchWrite].into_iter();
                let calls = calls.filter(|&call| more(call));
                steps.extend(calls.map(|call| may(region, call)));
            }
            match host.doing {
                Doing::Nothing if host.left > 0 => {
                    let calls = options.calls.iter();
                    let all = |&call| (0..options.homes.len()).map(move |region| may(region, call));
                    steps.extend(calls.flat_map(all));
                }
                Doing::Nothing | Doing::Waiting | Doing::Deleting(_) => {}
                Doing::Reading(region, times) => {
                    steps.push(may(region, Call::EndRead));
                    if more(Call::StartRead) && times < options.nesting {
                        steps.push(may(region, Call::StartRead));
                    }
                }
                Doing::Writing(region) => steps.push(may(region, Call::EndWrite)),
            }
        }
        steps
    }

    /// Takes one of [`Self::possible`]. Panics if it is wrong.
    pub fn take(&mut self, options: &Options, step: Step) {
        match step {
            Step::Call { node, region, call } => self.call(options, node, region, call),
            Step::Arrive(way) => self.arrive(options, way),
            Step::Crash(node) => self.crash(options, node),
            Step::Hear { node, lost } => self.hear(options, node, lost),
            Step::Forget { node, region } => {
                self.hosts[node].left -= 1;
                let home = self.regions[node][region].home();
                let directory = self.regions[home.index()][region].directory();
                let version = directory.expect("the home's").version();
                let mut fresh = Region::elsewhere(Rank(node as u16), home, version);
                if let Some(planted) = options.planted {
                    fresh.plant(planted);
                }
                self.regions[node][region] = fresh;
            }
        }
    }

    fn is_lost(&self, node: usize) -> bool {
        self.lost.nodes.contains(&node)
    }

    /// Nodes that have yet to hear of a loss, and of whose.
    fn unheard(&self) -> impl Iterator<Item = (usize, usize)> {
        let live = (0..self.hosts.len()).filter(|node| !self.is_lost(*node));
        let of = move |node| self.lost.nodes.iter().map(move |lost| (node, *lost));
        live.flat_map(of).filter(|pair| !self.lost.heard.contains(pair))
    }

    fn crash(&mut self, options: &Options, node: usize) {
        let has =
            (0..options.homes.len()).filter(|region| self.has_only_copy(options, node, *region));
        let has: Vec<usize> = has.collect();
        self.lost.regions.extend(has);
        self.lost.nodes.insert(node);
        self.hosts[node] = Host { left: 0, doing: Doing::Nothing };
        self.judge.lose(node);
        self.ways.retain(|(_, to, _), _| to.index() != node);
    }

    /// True if the only copy of a region is at a node, or may be on the way there or back.
    fn has_only_copy(&self, options: &Options, node: usize, region: usize) -> bool {
        use ReplicaState::*;
        let here = &self.regions[node][region];
        let asks = match here.replica().state() {
            Exclusive | ExclusiveReading | Writing | AwaitingExclusive | AwaitingUpgrade => true,
            AwaitingShared => options.policy.hint == Hint::Migratory,
            _ => false,
        };
        let mut sent = self.ways.iter().filter(|((from, ..), _)| from.index() == node);
        let gives = |packet: &Packet| packet.region == region && packet.data.is_some();
        here.directory().is_some() || asks || sent.any(|(_, packets)| packets.iter().any(gives))
    }

    fn hear(&mut self, options: &Options, node: usize, lost: usize) {
        self.lost.heard.insert((node, lost));
        self.ways.retain(|(from, to, _), _| (from.index(), to.index()) != (lost, node));
        for region in 0..options.homes.len() {
            let (machine, mut actions) = self.actions(options, node, region, None);
            machine.lose(Rank(lost as u16), &mut actions);
        }
    }

    fn call(&mut self, options: &Options, node: usize, region: usize, call: Call) {
        let host = &mut self.hosts[node];
        let before = host.doing;
        match call {
            Call::EndRead => {
                self.judge.end_read(node, region).unwrap();
                let Doing::Reading(_, times) = host.doing else { panic!("nothing to end") };
                let more = times > 1;
                host.doing = if more { Doing::Reading(region, times - 1) } else { Doing::Nothing };
            }
            Call::EndWrite => {
                self.judge.end_write(node, region).unwrap();
                host.doing = Doing::Nothing;
            }
            Call::Prefetch | Call::PrefetchWrite | Call::Flush => host.left -= 1,
            Call::StartRead | Call::StartWrite => {
                host.left -= 1;
                if host.doing == Doing::Nothing {
                    host.doing = Doing::Waiting;
                }
            }
            Call::Delete => {
                host.left -= 1;
                host.doing = Doing::Deleting(region);
            }
        }
        let under_way = self.ways.clone();
        let (machine, mut actions) = self.actions(options, node, region, None);
        let mut alike = machine.clone();
        let is_hit = alike.hit(call);
        machine.call(call, &mut actions).unwrap();
        // A hit is the same call in fewer steps, and asks nobody.
        if is_hit {
            assert!(*machine == alike, "{call:?}: a hit comes to {alike:?} and not {machine:?}");
            let waits = self.hosts[node].doing == Doing::Waiting;
            assert!(!waits && self.ways == under_way, "a hit waits for nothing and sends nothing");
        }
        if let (Call::StartRead, Doing::Reading(_, before)) = (call, before) {
            let again = Doing::Reading(region, before + 1);
            assert_eq!(self.hosts[node].doing, again, "a reader waits inside its own read");
        }
    }

    fn arrive(&mut self, options: &Options, way: Way) {
        let queue = self.ways.get_mut(&way).expect("a way that something is on");
        let Packet { region, message, data } = queue.pop_front().expect("a packet");
        if queue.is_empty() {
            self.ways.remove(&way);
        }
        let (from, to, _) = way;
        let (machine, mut actions) = self.actions(options, to.index(), region, data);
        machine.receive(from, message, &mut actions).unwrap();
    }

    fn actions(
        &mut self,
        options: &Options,
        node: usize,
        region: usize,
        received: Option<u64>,
    ) -> (&mut Region, NodeActions<'_>) {
        let actions = NodeActions {
            node,
            region,
            received,
            multicast: options.multicast,
            bytes: &mut self.memory[node][region],
            host: &mut self.hosts[node],
            ways: &mut self.ways,
            judge: &mut self.judge,
            lost: &self.lost,
        };
        (&mut self.regions[node][region], actions)
    }

    /// Panics if an invariant is broken.
    pub fn check(&self) {
        for region in 0..self.memory[0].len() {
            let here = |node: usize| &self.regions[node][region];
            let nodes: Vec<usize> =
                (0..self.regions.len()).filter(|node| !self.is_lost(*node)).collect();
            let nodes = nodes.into_iter();
            let copies: Vec<Holding> = nodes
                .clone()
                .filter_map(|node| Holding::of(Rank(node as u16), here(node).replica()))
                .collect();
            invariants::r1_single_writer(&copies);
            invariants::r2_one_version(&copies);
            nodes.clone().for_each(|node| invariants::r5_demands_are_met(here(node).replica()));
            nodes.clone().for_each(|node| invariants::r7_lost_is_left(here(node).replica()));
            let checked = |node| here(node).check_invariants();
            nodes.clone().try_for_each(checked).unwrap_or_else(|broken| panic!("{broken}"));
            let directory = nodes.clone().filter_map(|node| here(node).directory()).next();
            let is_lost = nodes.clone().any(|node| here(node).replica().lost_with().is_some());
            assert!(
                !is_lost || self.lost.regions.contains(&region),
                "region {region} is lost without need"
            );
            let Some(directory) = directory else { continue };
            invariants::r3_home_knows(&copies, directory);
            invariants::r4_bounded(directory);
        }
    }

    /// True if nobody waits and nothing is under way.
    pub fn is_idle(&self) -> bool {
        self.ways.is_empty()
            && self.unheard().next().is_none()
            && self.hosts.iter().all(|host| host.doing == Doing::Nothing)
    }

    /// Ranks that wait, if nothing can happen any more.
    pub fn stuck(&self, options: &Options) -> Option<Stuck> {
        let stuck = !self.is_idle() && self.possible(options).is_empty();
        stuck.then(|| {
            let waits = |(node, _): (usize, _)| format!("{node}: {:?}", self.regions[node]);
            let waiting =
                self.hosts.iter().enumerate().filter(|(_, host)| host.doing != Doing::Nothing);
            Stuck(waiting.map(waits).collect::<Vec<_>>().join("\n"))
        })
    }

    /// Writes to a region so far.
    pub fn written(&self, region: usize) -> u64 {
        self.judge.written(region)
    }
}

/// Carries out what a region tells a node.
struct NodeActions<'a> {
    node: usize,
    region: usize,
    /// The bytes that the message came with.
    received: Option<u64>,
    multicast: Multicast,
    bytes: &'a mut u64,
    host: &'a mut Host,
    ways: &'a mut BTreeMap<Way, VecDeque<Packet>>,
    judge: &'a mut Memory,
    lost: &'a Losses,
}

impl NodeActions<'_> {
    fn launch(&mut self, to: Rank, multicast: u32, message: Message) {
        if self.lost.nodes.contains(&to.index()) {
            return;
        }
        let data = message.kind.carries_data().then_some(*self.bytes);
        let way = (Rank(self.node as u16), to, multicast);
        let packet = Packet { region: self.region, message, data };
        self.ways.entry(way).or_default().push_back(packet);
    }
}

impl Actions for NodeActions<'_> {
    fn send(&mut self, to: Rank, message: Message) {
        assert!(
            !matches!(message.kind, MessageKind::Invalidate | MessageKind::Update),
            "these are multicast"
        );
        assert_ne!(to.index(), self.node, "a node sends nothing to itself");
        self.launch(to, 0, message);
    }

    fn multicast(&mut self, to: &BTreeSet<Rank>, message: Message) {
        assert!(!to.is_empty() && !to.contains(&Rank(self.node as u16)));
        let way = match self.multicast {
            Multicast::Never => 0,
            Multicast::Sometimes => u32::from(to.len() > 1),
            Multicast::InOrder => 1,
            Multicast::Freely => {
                1 + message.version.0 % 2 + 2 * u32::from(message.kind == MessageKind::Update)
            }
        };
        to.iter().for_each(|&to| self.launch(to, way, message));
    }

    fn place(&mut self) {
        *self.bytes = self.received.take().expect("bytes are placed that did not come");
    }

    fn grant(&mut self, call: Call) {
        let NodeActions { node, region, .. } = *self;
        let wrong = match call {
            Call::StartRead => {
                let times = if let Doing::Reading(_, times) = self.host.doing { times } else { 0 };
                self.host.doing = Doing::Reading(region, times + 1);
                self.judge.begin_read(node, region, *self.bytes)
            }
            Call::StartWrite => {
                self.host.doing = Doing::Writing(region);
                let allowed = self.judge.begin_write(node, region, *self.bytes);
                // The program writes at once: whoever gets these bytes before the end gets the
                // wrong ones.
                *self.bytes += 1;
                allowed
            }
            _ => {
                self.host.doing = Doing::Nothing;
                self.judge.delete(node, region)
            }
        };
        wrong.unwrap_or_else(|wrong| panic!("R6 readers see the last write: {wrong}"));
    }

    fn refuse(&mut self, _: Call) {
        self.host.doing = Doing::Nothing;
        // Of one that is lost nobody says that all have left it.
        if !self.lost.regions.contains(&self.region) {
            self.judge.delete(self.node, self.region).unwrap();
        }
    }
}

impl Model for Options {
    type State = World;
    type Step = Step;
    type Deadlock = Stuck;

    fn start(&self) -> World {
        World::new(self)
    }

    fn steps(&self, world: &World) -> Vec<Step> {
        world.possible(self)
    }

    fn take(&self, world: &mut World, step: &Step) {
        world.take(self, *step);
    }

    fn check(&self, world: &World) {
        world.check();
    }

    fn digest(&self, world: &World) -> u64 {
        digest(world)
    }

    fn is_done(&self, world: &World) -> bool {
        world.is_idle()
    }

    fn deadlock(&self, world: &World) -> Option<Stuck> {
        world.stuck(self)
    }
}
