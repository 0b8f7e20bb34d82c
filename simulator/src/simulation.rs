//! Ranks, nodes and programs on a simulated network.

use crate::options::{Options, OptionsError};
use crate::report::{Outcome, Report};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use weft::{Backend, Guard, Packets, Rank, Weft};
use weft_endpoint::{Bells, Link, Node, Shape, Step, WaitPolicy, Waiter};
use weft_link_sim::{Interruptible, Processor, RankEnd, Setup, Sim, SimulatedNetwork};

/// A job of simulated ranks, ready to run one program.
pub struct Simulation {
    // Before the nodes: its drop unwinds the programs, which use them.
    network: SimulatedNetwork,
    nodes: Vec<Arc<Node<Sim>>>,
    processors: Vec<Processor>,
    resident_before: u64,
    measured: bool,
    goes_on: bool,
}

impl Simulation {
    /// The ranks that `options` ask for.
    ///
    /// # Errors
    /// [`OptionsError`]: options that cannot be.
    pub fn new(options: Options) -> Result<Self, OptionsError> {
        options.check()?;
        let resident_before = resident_bytes();
        let mut settings = options.settings;
        if options.goes_on {
            settings.shape = Shape::Flat;
        }
        let (settings, goes_on) = (settings, options.goes_on);
        let machine = options.machine_for_preset();
        let mut network = SimulatedNetwork::new(Setup {
            seed: options.seed,
            measured: options.measured,
            limit: options.limit,
            stuck_after: options.stuck_after,
            keep_events: options.keep_events,
            observer: match &options.tape {
                Some(tape) => Some(tape.observer(options.observer)),
                None => options.observer,
            },
            stack_bytes: options.stack_bytes,
            abandons: options.abandons,
            faults: options.faults,
            ..Setup::new(machine, settings.ranks)
        })
        .map_err(|error| OptionsError::Memory { ranks: settings.ranks, error })?;
        let (mut nodes, mut processors) = (Vec::new(), Vec::new());
        for rank in (0..settings.ranks).map(Rank) {
            let mut link = network.link(rank);
            processors.push(link.clock());
            if let Some(tape) = &options.tape {
                link.set_recorder(tape.recorder(rank, link.clock()));
            }
            let node = Arc::new(Node::new(rank, settings, link, WaitPolicy::SLEEP));
            if let Some(delay) = options.interrupt_delay {
                node.watch(delay);
            }
            network.attach(rank, Arc::clone(&node) as Arc<_>);
            nodes.push(node);
        }
        let measured = options.measured;
        Ok(Simulation { network, nodes, processors, resident_before, measured, goes_on })
    }

    /// Ranks of the job.
    pub fn ranks(&self) -> u16 {
        self.nodes.len() as u16
    }

    /// User bytes that a packet holds at most.
    pub fn packet_bytes(&self) -> u16 {
        self.nodes[0].capabilities().max_payload as u16
    }

    /// Has the NI of `rank` make a mistake at its `opportunity`-th opportunity, to see whether it
    /// is found.
    #[cfg(feature = "planted")]
    pub fn plant(&self, rank: Rank, bug: weft_endpoint::Bug, opportunity: u32) {
        self.nodes[rank.index()].plant(bug, opportunity);
    }

    /// Joins every rank to the job, runs `program` on it, and leaves when it returns, as
    /// [`weft::run`] does for a process. Those ranks that the job does not begin with, by its
    /// settings, join when others [ask for them](Weft::grow).
    pub fn run<O: weft::Outcome + 'static>(
        self,
        program: impl Fn(Weft) -> O + 'static,
    ) -> Report<()> {
        self.run_joined(move |weft| match program(weft).error() {
            None => Ok(()),
            Some(error) => Err(error),
        })
    }

    /// Does what [`Self::run`] does, for programs that return something.
    pub fn run_joined<T: 'static>(
        self,
        program: impl Fn(Weft) -> Result<T, String> + 'static,
    ) -> Report<T> {
        let growth = self.growth();
        self.run_ranks(
            Arc::clone(&growth),
            Rc::new(move |packets, processor| {
                let place =
                    Simulated { processor, rank: packets.rank(), growth: Arc::clone(&growth) };
                let weft = Weft::assemble(packets, Box::new(place)).map_err(|e| e.to_string())?;
                let value = program(weft.clone())?;
                weft.leave().map_err(|error| error.to_string())?;
                Ok(value)
            }),
        )
    }

    /// Runs `program` on the packet interface of every rank. An interrupt polls.
    pub fn run_packets<T: 'static, E: std::fmt::Display>(
        self,
        program: impl Fn(Packets) -> Result<T, E> + 'static,
    ) -> Report<T> {
        let growth = self.growth();
        self.run_ranks(
            growth,
            Rc::new(move |packets, processor| {
                let _guard = poll_on_interrupts(&processor, packets.clone());
                program(packets).map_err(|error| error.to_string())
            }),
        )
    }

    fn growth(&self) -> Arc<Growth> {
        let founders = Packets::new(Arc::clone(&self.nodes[0])).size();
        let (started, staying) = (AtomicUsize::new(founders), AtomicUsize::new(founders));
        let spawners = Mutex::new(vec![None; self.nodes.len()]);
        Arc::new(Growth { started, staying, spawners, bells: self.processors.clone() })
    }

    fn run_ranks<T: 'static>(mut self, growth: Arc<Growth>, program: Rc<Program<T>>) -> Report<T> {
        let returned: Returned<T> = Rc::new(RefCell::new(BTreeMap::new()));
        for (node, processor) in self.nodes.iter().zip(&self.processors) {
            let rank = node.local();
            let (packets, processor) = (Packets::new(Arc::clone(node)), processor.clone());
            if self.goes_on {
                packets.losses().go_on();
            }
            let (program, returned) = (Rc::clone(&program), Rc::clone(&returned));
            let growth = Arc::clone(&growth);
            let body = Box::new(move || {
                if !growth.await_start(&packets) {
                    returned.borrow_mut().insert(rank, Err(Outcome::NeverCame));
                    return true;
                }
                let outcome = program(packets.clone(), processor).map_err(|what| {
                    // As for ranks that are processes: that another was lost says more than this.
                    let lost = packets.losses().first().is_some_and(|loss| loss.rank != rank);
                    if lost { Outcome::Victim(what) } else { Outcome::Failed(what) }
                });
                let well = outcome.is_ok();
                returned.borrow_mut().insert(rank, outcome);
                if well {
                    growth.stay(&packets);
                }
                well
            });
            self.network.spawn(rank, body);
        }
        let ended = self.network.run();
        let grown = resident_bytes().saturating_sub(self.resident_before);
        let (trace_hash, events) = self.network.trace_hash();
        let ranks = || self.nodes.iter().map(|node| node.local());
        let outcome = |rank| match (self.network.end_of(rank), returned.borrow_mut().remove(&rank))
        {
            (RankEnd::Panicked(what), _) => Outcome::Panicked(what.clone()),
            (RankEnd::Crashed, _) => Outcome::Crashed,
            (_, Some(Ok(value))) => Outcome::Returned(value),
            (_, Some(Err(failed))) => failed,
            (_, None) => Outcome::Unfinished,
        };
        Report {
            ended,
            outcomes: ranks().map(outcome).collect(),
            virtual_time: self.network.now(),
            statistics: self.nodes.iter().map(|node| node.statistics()).collect(),
            measured: self.measured,
            trace_hash,
            events,
            injected: self.network.injected(),
            most_received: ranks().map(|rank| self.network.most_received(rank)).collect(),
            last_events: ranks().map(|rank| self.network.last_events(rank)).collect(),
            bytes_per_rank: grown / self.nodes.len() as u64,
        }
    }
}

/// Ranks of a job that have come, and that are there still.
struct Growth {
    /// Number of ranks that have been started, the first ones.
    started: AtomicUsize,
    /// Number of those that have not come to their end.
    staying: AtomicUsize,
    /// By rank, the one that had it started.
    spawners: Mutex<Vec<Option<Rank>>>,
    bells: Vec<Processor>,
}

impl Growth {
    /// Starts ranks for which `by` asks.
    fn spawn(&self, by: Rank, count: u16) -> weft_messaging::Result<Vec<Rank>> {
        let first = self.started.load(Ordering::Relaxed);
        let left = (self.bells.len() - first) as u16;
        if left < count {
            return Err(weft_messaging::Error::JobIsFull { asked: count, left });
        }
        let ranks: Vec<Rank> = (first as u16..).map(Rank).take(count.into()).collect();
        let mut spawners = self.spawners.lock().unwrap_or_else(PoisonError::into_inner);
        ranks.iter().for_each(|rank| spawners[rank.index()] = Some(by));
        drop(spawners);
        self.started.fetch_add(ranks.len(), Ordering::Relaxed);
        self.staying.fetch_add(ranks.len(), Ordering::Relaxed);
        self.ring_all();
        Ok(ranks)
    }

    /// Waits for the start of this rank. False if the job is over without it.
    fn await_start(&self, packets: &Packets) -> bool {
        let is_started = || packets.rank().index() < self.started.load(Ordering::Relaxed);
        if !is_started() {
            // A loss ends a wait, and not the job.
            let is_due = || is_started() || self.is_over(packets);
            while poll_until(packets, is_due).is_err() && packets.losses().goes_on() && !is_due() {}
        }
        is_started()
    }

    /// Serves the others until all of them are done too: acknowledging, and whatever else their
    /// packets need of this host. Ranks that are processes do so outside of any protocol as well:
    /// the launcher waits for all of them.
    fn stay(&self, packets: &Packets) {
        // A lost rank ends it for all, unless they go on; how this rank did is known already.
        let _ = poll_until(packets, || packets.is_flushed());
        self.staying.fetch_sub(1, Ordering::Relaxed);
        if self.is_over(packets) {
            self.ring_all();
        } else {
            let _ = poll_until(packets, || self.is_over(packets));
        }
    }

    fn is_over(&self, packets: &Packets) -> bool {
        self.staying.load(Ordering::Relaxed) <= packets.losses().all().len()
    }

    fn ring_all(&self) {
        self.bells.iter().for_each(|host| host.ring(Waiter::Host));
    }
}

/// Polls until `done`, whoever is lost.
fn poll_until(packets: &Packets, mut done: impl FnMut() -> bool) -> weft_endpoint::Result<()> {
    packets.presence().wait(&mut || {
        let any = packets.poll()?;
        Ok(if done() { Step::Done } else { Step::of(any) })
    })
}

/// Until what this returns is dropped, an interrupt polls.
fn poll_on_interrupts(processor: &Processor, packets: Packets) -> Interruptible {
    processor.on_interrupt(move || packets.interrupted(|| matches!(packets.poll(), Ok(true))))
}

/// Program of every rank.
type Program<T> = dyn Fn(Packets, Processor) -> Result<T, String>;

/// Values that programs returned, until the report takes them.
type Returned<T> = Rc<RefCell<BTreeMap<Rank, Result<T, Outcome<T>>>>>;

/// The place of a simulated rank: interrupts from the virtual processor, and nobody to tell but of
/// ranks that are to come.
struct Simulated {
    processor: Processor,
    rank: Rank,
    growth: Arc<Growth>,
}

impl Backend for Simulated {
    fn begin(&self, interrupt: Box<dyn FnMut() + Send>) -> weft::Result<Guard> {
        Ok(Box::new(self.processor.on_interrupt(interrupt)))
    }

    fn leave(&self) -> weft::Result<()> {
        Ok(())
    }

    fn spawner(&self) -> Option<Rank> {
        let spawners = self.growth.spawners.lock().unwrap_or_else(PoisonError::into_inner);
        spawners[self.rank.index()]
    }

    fn spawn(&self, count: u16) -> weft_messaging::Result<Vec<Rank>> {
        self.growth.spawn(self.rank, count)
    }

    fn end_if_lost(&self) {}
}

/// The memory that this process has in use.
fn resident_bytes() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm").ok().and_then(|text| {
        text.split_whitespace().nth(1).and_then(|resident| resident.parse::<u64>().ok())
    });
    pages.unwrap_or(0) * rustix::param::page_size() as u64
}
