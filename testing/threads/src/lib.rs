//! Jobs whose ranks are threads of one process, over real shared memory, UDP, AF_XDP or two of
//! these, for tests.
//!
//! Every rank has its own node, link and mappings, as if it were a process of its own.

#![forbid(unsafe_code)]

mod copied;
mod ethernet;
mod gate;
mod hosts;
mod limit;
mod long;
mod tap;
mod wire;

pub use gate::Gate;
pub use tap::Tap;
pub use weft_link::wrap::FaultPlan;
pub use weft_netns::adversary::Attack;
pub use wire::Weather;

use copied::Copied;
use ethernet::{Ethernet, Frames};
use hosts::{Hosts, beside};
use limit::TimeLimit;
use long::Long;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use weft_endpoint::{Node, Packets, WaitPolicy, WatchThread, network_settings};
use weft_link::wrap::{FaultyLink, FramesOnly};
use weft_link::{Capabilities, Link, bell::Loss};
use weft_link_shm::{Settings, Shm, Supervisor, create_memory};
use weft_protocol::tree::Shape;
use weft_protocol::{Preset, Silence};
use weft_wire::Rank;
use wire::Wire;

/// Network between the ranks of a job.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Between {
    /// Shared memory.
    Memory,
    /// Shared memory without what a network does not have: shared words, one-write multicast.
    Plain,
    /// UDP over loopback, where the weather is like this.
    Udp(Weather),
    /// Hosts with a rank each, UDP between them over loopback, in fair weather, and TCP beside it
    /// for long packets.
    Long,
    /// AF_XDP between hosts with a rank each, 2 to 9 of them, with these faults on top.
    Xdp(FaultPlan),
    /// UDP or AF_XDP between hosts with a rank each, 3 to 9 of them, which a bridge joins that
    /// copies multicasts. This share of what goes to a host is lost, and these faults come on top.
    Copied(Way, f64, FaultPlan),
    /// Hosts with so many ranks each, 2 to 9 of them: shared memory within, and AF_XDP between. The
    /// bridge copies multicasts, and loses this share of all frames.
    Hosts(u16, f64),
    /// UDP over loopback, through the wrapper that loses and doubles what ranks send.
    Faulty(FaultPlan),
}

/// By what frames go from host to host.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Way {
    /// UDP.
    Udp,
    /// AF_XDP.
    Xdp,
}

impl Way {
    /// Both.
    pub const ALL: [Way; 2] = [Way::Udp, Way::Xdp];
}

/// Times for which peers may keep silent in tests that are about something else.
const PATIENT: Silence = Silence { heartbeat_after: 200_000_000, lost_after: 60_000_000_000 };

/// A job to run in threads.
#[derive(Clone, Copy, Debug)]
pub struct Job {
    /// Numbers of ranks and packets, and on shared memory sizes of frames.
    pub memory: Settings,
    /// The protocol.
    pub preset: Preset,
    /// The shape of multicast trees.
    pub shape: Shape,
    /// The link.
    pub between: Between,
    /// The polling watchdog's delay; without one there are no upcall threads.
    pub interrupt_delay: Option<Duration>,
    /// Between hosts, where the test gets at the network.
    pub tap: Option<&'static Tap>,
    /// Times for which peers may keep silent; if not given, longer than a busy machine keeps
    /// threads waiting, and for ever without upcall threads: then ranks that compute do not say
    /// that they live.
    pub silence: Option<Silence>,
    /// True if all invariants are checked after each packet.
    pub checks_all: bool,
    /// Longest time of the job.
    pub limit: Duration,
    /// Number that fixes what the program does, for who is told that the job has taken too long.
    pub seed: Option<u64>,
}

impl Job {
    /// A job of `ranks` with everything as users get it, but no upcall threads.
    pub fn new(ranks: u16) -> Self {
        Job {
            memory: Settings::new(ranks),
            preset: Preset::default(),
            shape: Shape::Flat,
            between: Between::Memory,
            interrupt_delay: None,
            tap: None,
            silence: None,
            checks_all: false,
            limit: TimeLimit::USUAL,
            seed: None,
        }
    }

    /// Runs `program` on every rank and returns what they return, by rank. `connect` turns a rank's
    /// packets into what its program wants, and into what an interrupt does.
    pub fn run<C, T: Send>(
        self,
        connect: impl Fn(Packets) -> (C, Interrupt) + Sync,
        program: impl Fn(C) -> T + Sync,
    ) -> Vec<T> {
        let returned: Vec<_> = (0..self.memory.ranks).map(|_| Mutex::new(None)).collect();
        self.run_bodies(&|packets, watch| {
            let (client, interrupt) = connect(packets.clone());
            let _watch = watch(interrupt);
            let result = program(client);
            *lock(&returned[packets.rank().index()]) = Some(result);
            packets.linger();
        });
        let values = returned.iter().map(|value| lock(value).take());
        values.map(|value| value.expect("a rank that did not panic has returned")).collect()
    }

    /// All that depends on the link, and not on the test: it is compiled once, here.
    fn run_bodies(self, body: Body) {
        let _limit = TimeLimit::start(self);
        let weather = match self.between {
            Between::Udp(weather) => weather,
            Between::Faulty(_) => Weather::default(),
            Between::Xdp(faults) => {
                let ethernet =
                    Ethernet::new(&self.memory, Frames { each: 1, copied: None }, faults, self.tap);
                return self.ranks(|rank| ethernet.attach(rank), body);
            }
            Between::Copied(Way::Xdp, loss, faults) => {
                let frames = Frames { each: 1, copied: Some(loss) };
                let ethernet = Ethernet::new(&self.memory, frames, faults, self.tap);
                return self.ranks(|rank| ethernet.attach(rank), body);
            }
            Between::Long => {
                let network = Long::new(&self.memory);
                return self.ranks(|rank| network.attach(rank), body);
            }
            Between::Hosts(each, loss) => {
                let hosts = Hosts::new(&self.memory, each, loss, self.tap);
                return self.ranks(|rank| hosts.attach(rank), body);
            }
            Between::Copied(Way::Udp, loss, faults) => {
                let network = Copied::new(&self.memory, loss, faults, self.tap);
                return self.ranks(|rank| network.attach(rank), body);
            }
            Between::Memory | Between::Plain => return self.run_in_memory(body),
        };
        let wire = Wire::new(&self.memory, weather, self.tap);
        match self.between {
            Between::Faulty(plan) => {
                let seed = |rank: Rank| plan.seed ^ u64::from(rank.0) << 32;
                let plan = |rank| FaultPlan { seed: seed(rank), ..plan };
                self.ranks(|rank| FaultyLink::new(wire.attach(rank), plan(rank)), body);
            }
            _ => self.ranks(|rank| wire.attach(rank), body),
        }
        wire.judge();
    }

    fn run_in_memory(self, body: Body) {
        let file = create_memory(&self.memory).expect("shared memory can be made");
        let attach = |rank| Shm::attach(rank, self.memory, &file).expect("a rank can attach");
        match self.between {
            Between::Plain => self.ranks(|rank| FramesOnly::new(attach(rank)), body),
            _ => self.ranks(attach, body),
        }
    }

    /// A job over UDP in fair weather, with this preset.
    pub fn over_udp(ranks: u16, preset: Preset) -> Self {
        let shape = Shape::Binary;
        Job { preset, shape, between: Between::Udp(Weather::default()), ..Job::new(ranks) }
    }

    /// A job over AF_XDP without faults, with this preset; `None` where the system does not permit
    /// it, which is said, and where there must be one (in CI) fails.
    pub fn over_xdp(ranks: u16, preset: Preset) -> Option<Self> {
        let faults = FaultPlan { seed: 1, loss: 0.0, duplication: 0.0 };
        let between = Between::Xdp(faults);
        weft_netns::available().then(|| Job { between, ..Job::over_udp(ranks, preset) })
    }

    /// A job between hosts whose multicasts the network copies, without faults; `None` as above.
    pub fn over_multicast(way: Way, ranks: u16, preset: Preset) -> Option<Self> {
        let faults = FaultPlan { seed: 1, loss: 0.0, duplication: 0.0 };
        let (between, shape) = (Between::Copied(way, 0.0, faults), Shape::Flat);
        weft_netns::available().then(|| Job { between, shape, ..Job::over_udp(ranks, preset) })
    }

    /// A job of hosts with so many ranks each, which lose nothing; `None` as above.
    pub fn on_hosts(ranks: u16, each: u16, preset: Preset) -> Option<Self> {
        let (between, shape) = (Between::Hosts(each, 0.0), Shape::Flat);
        weft_netns::available().then(|| Job { between, shape, ..Job::over_udp(ranks, preset) })
    }

    fn ranks<L: Link>(self, attach: impl Fn(Rank) -> L + Sync, body: Body) {
        std::thread::scope(|scope| {
            let ranks: Vec<_> = (0..self.memory.ranks)
                .map(|rank| {
                    let attach = &attach;
                    scope.spawn(move || self.rank(Rank(rank), attach(Rank(rank)), body))
                })
                .collect();
            ranks.into_iter().for_each(join);
        });
    }

    /// Runs `program` on the packets of every rank.
    pub fn packets<T: Send>(self, program: impl Fn(Packets) -> T + Sync) -> Vec<T> {
        let interrupt = |packets: Packets| {
            let polled = packets.clone();
            let poll = move || polled.interrupted(|| matches!(polled.poll(), Ok(true)));
            (packets, Box::new(poll) as Interrupt)
        };
        self.run(interrupt, program)
    }

    fn rank<L: Link>(self, rank: Rank, link: L, body: Body) {
        if let Some(tap) = self.tap {
            tap.attached(rank, link.bells());
        }
        let settings = self.settings(link.capabilities());
        let policy = WaitPolicy::for_ranks(usize::from(settings.ranks), 2);
        let node = Arc::new(Node::new(rank, settings, link, policy));
        if let Between::Hosts(each, _) = self.between {
            node.set_lossless(beside(rank, each).map(Rank).filter(|other| *other != rank));
            let host_of: Vec<u16> = (0..self.memory.ranks).map(|rank| rank / each).collect();
            node.set_hosts(&host_of);
        }
        body(Packets::new(Arc::clone(&node)), &|interrupt| {
            let start = |delay| WatchThread::start(Arc::clone(&node), delay, interrupt, |_| {});
            self.interrupt_delay.map(|delay| start(delay).expect("a thread can start"))
        });
    }
}

impl Job {
    fn settings(&self, link: &Capabilities) -> weft_protocol::Settings {
        let Settings { ranks, window_packets, .. } = self.memory;
        let settings = match link.lossless {
            true => weft_protocol::Settings::new(ranks, window_packets),
            // A thread of many on few cores may not run for some milliseconds.
            false => network_settings(ranks, self.preset, link, true),
        };
        weft_protocol::Settings {
            preset: self.preset,
            shape: self.shape,
            window_packets: match self.between {
                // The room of ranks of a host, with any network.
                Between::Hosts(..) => window_packets,
                _ => settings.window_packets,
            },
            silence: self.silence.or(settings.silence.and(self.interrupt_delay).map(|_| PATIENT)),
            checks_all: self.checks_all,
            ..settings
        }
    }
}

/// Interrupt handler of a rank.
pub type Interrupt = Box<dyn FnMut() + Send>;

/// Body of a rank, with its packets, and with what starts its upcall thread if the job has such.
type Body<'a> = &'a (dyn Fn(Packets, &dyn Fn(Interrupt) -> Option<WatchThread>) + Sync);

/// Runs `program` as rank 1 of a job of two in which rank 0 is lost while it runs: `lose` does it.
pub fn with_loss<T>(loss: Loss, program: impl FnOnce(Packets, &dyn Fn()) -> T) -> T {
    let survivor = Survivor::new(loss);
    program(Packets::new(survivor.node()), &|| survivor.lose())
}

/// Does what [`with_loss`] does, with an upcall thread; `connect` is that of [`Job::run`].
pub fn interrupted_with_loss<C, T>(
    loss: Loss,
    connect: impl FnOnce(Packets) -> (C, Interrupt),
    program: impl FnOnce(C, &dyn Fn()) -> T,
) -> T {
    let survivor = Survivor::new(loss);
    let (client, interrupt) = connect(Packets::new(survivor.node()));
    let _watch = survivor.watch(interrupt);
    program(client, &|| survivor.lose())
}

/// Rank 1 of two, and what loses rank 0.
struct Survivor {
    node: Arc<Node<Shm>>,
    supervisor: Supervisor,
    loss: Loss,
}

impl Survivor {
    fn new(loss: Loss) -> Self {
        let memory = Settings::new(2);
        let file = create_memory(&memory).expect("shared memory can be made");
        let supervisor = Supervisor::attach(&memory, &file).expect("memory can be mapped");
        let link = Shm::attach(Rank(1), memory, &file).expect("a rank can attach");
        let settings = weft_protocol::Settings {
            shape: Shape::Flat,
            ..weft_protocol::Settings::new(2, memory.window_packets)
        };
        let node = Arc::new(Node::new(Rank(1), settings, link, WaitPolicy::for_ranks(2, 2)));
        Survivor { node, supervisor, loss }
    }

    fn node(&self) -> Arc<Node<Shm>> {
        Arc::clone(&self.node)
    }

    fn lose(&self) {
        self.supervisor.announce_loss(self.loss.rank, self.loss.cause);
    }

    fn watch(&self, interrupt: Interrupt) -> WatchThread {
        let (node, delay) = (Arc::clone(&self.node), Duration::from_micros(50));
        WatchThread::start(node, delay, interrupt, |_| {}).expect("a thread can start")
    }
}

fn join(thread: std::thread::ScopedJoinHandle<'_, ()>) {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
}

pub(crate) fn lock<T>(value: &Mutex<Option<T>>) -> MutexGuard<'_, Option<T>> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}
