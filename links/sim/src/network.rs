//! The scheduler: runs the programs and the NIs of all ranks, each when its time has come.

use crate::coroutine::{Panic, Stack, Strand};
use crate::faults::{Faults, Injected, Injector};
use crate::host::{Processor, Stopped};
use crate::link::{Sim, processor};
use crate::machine::MachineModel;
use crate::state::{Event, Life, MAIN, Next, Shared, State, Waiting};
use crate::trace::{FrameEvent, Happened, Observer, Trace, in_words};
use std::cell::RefMut;
use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;
use weft_link::bell::{Cause, Loss};
use weft_link::clock::Nanoseconds;
use weft_link::ni::{NiEvent, NiHalf};
use weft_wire::Rank;

/// Options of a network.
pub struct Setup {
    /// Costs of everything.
    pub machine: MachineModel,
    /// Ranks in the job.
    pub ranks: u16,
    /// Faults of the network. Must have been checked ([`Faults::check`]).
    pub faults: Faults,
    /// Decides which frames meet which faults.
    pub seed: u64,
    /// Charges the real time that programs run, in place of the work that they declare.
    pub measured: bool,
    /// Ends the run at this virtual time.
    pub limit: Duration,
    /// Time without progress of any program (sends, takes a packet, computes) that ends it.
    pub stuck_after: Duration,
    /// Events of each rank that are kept to be read.
    pub keep_events: usize,
    /// Sees all events.
    pub observer: Option<Box<dyn Observer>>,
    /// The stack of each coroutine of a rank's program. Pages that it does not touch cost nothing.
    pub stack_bytes: usize,
    /// Leaves a program that has to stop where it is, with all that it has, rather than unwind it:
    /// for programs in languages that cannot be unwound.
    pub abandons: bool,
}

impl Setup {
    /// `ranks` ranks on `machine`, nothing wrong, no limit.
    pub fn new(machine: MachineModel, ranks: u16) -> Self {
        Setup {
            machine,
            ranks,
            faults: Faults::default(),
            seed: 0,
            measured: false,
            limit: Duration::MAX,
            stuck_after: Duration::from_secs(10),
            keep_events: 0,
            observer: None,
            stack_bytes: 256 << 10,
            abandons: false,
        }
    }
}

/// A simulated network with the programs of its ranks. One thread makes, runs and drops it.
pub struct SimulatedNetwork {
    shared: Arc<Shared>,
    nodes: Vec<Node>,
    running: usize,
    abandons: bool,
}

struct Node {
    processor: Processor,
    ni: Option<Arc<dyn NiHalf>>,
    stack: Option<Stack>,
    /// Coroutines that have not ended, by their numbers.
    strands: BTreeMap<u32, Strand>,
    end: RankEnd,
}

/// End of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunEnd {
    /// All programs ended.
    Finished,
    /// Programs wait, and nothing will happen any more, or nobody got on for too long.
    Stuck(Vec<Stuck>),
    /// The time limit passed.
    Limit,
}

impl fmt::Display for RunEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunEnd::Finished => f.write_str("all programs ended"),
            RunEnd::Limit => f.write_str("the time limit passed before all programs had ended"),
            RunEnd::Stuck(ranks) => {
                write!(f, "nothing happens any more, and {} ranks wait", ranks.len())?;
                for Stuck { rank, since, what } in ranks.iter().take(4) {
                    write!(f, "; rank {rank} {what} since {}", in_words(*since))?;
                }
                Ok(())
            }
        }
    }
}

/// A rank whose program could not end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stuck {
    /// Rank that waits.
    pub rank: Rank,
    /// Since when.
    pub since: Duration,
    /// Wait of its program, in words.
    pub what: &'static str,
}

/// End of a rank's program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RankEnd {
    /// It did not.
    Running,
    /// Well.
    Finished,
    /// By itself, but not well: the others are told.
    Failed,
    /// It panicked, and said this.
    Panicked(String),
    /// It was crashed on purpose.
    Crashed,
}

fn nanoseconds(time: Duration) -> Nanoseconds {
    u64::try_from(time.as_nanos()).unwrap_or(Nanoseconds::MAX)
}

impl SimulatedNetwork {
    /// A network without programs.
    ///
    /// # Errors
    /// The system has no memory for the stacks.
    pub fn new(setup: Setup) -> io::Result<Self> {
        let Setup { machine, ranks, faults, seed, .. } = setup;
        let injector = Injector::new(faults, ranks, seed);
        let trace = Trace::new(ranks, setup.keep_events, setup.observer);
        let mut state = State::new(machine, ranks, injector, trace);
        state.limit = nanoseconds(setup.limit);
        state.stuck_after = nanoseconds(setup.stuck_after);
        state.stack_bytes = setup.stack_bytes;
        state.plan_crashes();
        let shared = Arc::new(Shared::new(state));
        let node = |rank| {
            Ok(Node {
                processor: processor(&shared, Rank(rank), setup.measured),
                ni: None,
                stack: Some(Stack::new(setup.stack_bytes)?),
                strands: BTreeMap::new(),
                end: RankEnd::Running,
            })
        };
        let nodes = (0..ranks).map(node).collect::<io::Result<_>>()?;
        Ok(SimulatedNetwork { shared, nodes, running: 0, abandons: setup.abandons })
    }

    /// The link of `rank`.
    pub fn link(&self, rank: Rank) -> Sim {
        Sim::new(self.nodes[rank.index()].processor.clone())
    }

    /// Gives `rank` its NI.
    pub fn attach(&mut self, rank: Rank, ni: Arc<dyn NiHalf>) {
        self.nodes[rank.index()].ni = Some(ni);
        self.shared.borrow().rank(rank).has_ni = true;
    }

    /// Gives `rank` its program, which begins at time 0 and returns whether it ended well.
    ///
    /// # Panics
    /// If the rank has, or had, a program.
    pub fn spawn(&mut self, rank: Rank, program: Box<dyn FnOnce() -> bool>) {
        let shared = Arc::clone(&self.shared);
        let node = &mut self.nodes[rank.index()];
        let Some(stack) = node.stack.take() else { panic!("{rank:?} has a program already") };
        let processor = node.processor.clone();
        let strand = Strand::new(MAIN, stack, move || {
            processor.start_watch();
            if !program() {
                shared.borrow().lose(Loss { rank, cause: Cause::Exited(1) });
                // The scheduler sees it when the strand has ended.
                shared.borrow().rank(rank).failed = true;
            }
        });
        node.strands.insert(MAIN, strand);
        self.running += 1;
        let mut state = self.shared.borrow();
        let parts = state.rank(rank);
        parts.life = Life::Alive;
        parts.add(MAIN);
        state.resume_next(rank);
    }

    /// Runs until all programs have ended and what they sent is where it belongs, or they cannot
    /// end.
    pub fn run(&mut self) -> RunEnd {
        let shared = Arc::clone(&self.shared);
        let mut state = shared.borrow();
        loop {
            if self.running == 0 && state.lively == 0 {
                return RunEnd::Finished;
            }
            match state.next() {
                Next::Event(event) => state = self.handle(event, &shared, state),
                _ if self.running == 0 => return RunEnd::Finished,
                Next::Nothing | Next::NoProgress => return RunEnd::Stuck(self.stuck(&state)),
                Next::Limit => return RunEnd::Limit,
            }
        }
    }

    /// Handles an event. Programs and NIs lock the state for themselves.
    fn handle<'a>(
        &mut self,
        event: Event,
        shared: &'a Shared,
        mut state: RefMut<'a, State>,
    ) -> RefMut<'a, State> {
        match event {
            Event::Resume(rank, epoch) if state.wake(rank, epoch) => {
                drop(state);
                self.resume(rank);
                shared.borrow()
            }
            Event::TimeUp(rank, epoch) if state.time_is_up(rank, epoch) => {
                drop(state);
                self.resume(rank);
                shared.borrow()
            }
            Event::Resume(..) | Event::TimeUp(..) => state,
            Event::Serve(rank) => {
                let Some(event) = state.begin_step(rank) else { return state };
                drop(state);
                self.step(rank, event);
                let mut state = shared.borrow();
                state.end_step(rank);
                state
            }
            Event::Copied(rank) => {
                if !state.begin_copied(rank) {
                    return state;
                }
                drop(state);
                self.step(rank, NiEvent::Copied);
                let mut state = shared.borrow();
                state.end_copied(rank);
                state
            }
            Event::Crash(rank) => {
                state.crash(rank);
                if state.rank(rank).life != Life::Crashed {
                    return state;
                }
                drop(state);
                self.stop(rank);
                self.nodes[rank.index()].end = RankEnd::Crashed;
                shared.borrow()
            }
            Event::Announce(loss) => {
                state.announce(loss);
                state
            }
            wire => {
                drop(state.handle_wire(wire));
                state
            }
        }
    }

    /// Has the NI of `rank` deal with an event. If it panics, the rank is lost.
    fn step(&mut self, rank: Rank, event: NiEvent) {
        let Some(ni) = &self.nodes[rank.index()].ni else { return };
        let Err(panic) = catch_unwind(AssertUnwindSafe(|| ni.step(event))) else { return };
        let mut state = self.shared.borrow();
        state.rank(rank).life = Life::Crashed;
        state.lose(Loss { rank, cause: Cause::Misbehaved });
        drop(state);
        self.stop(rank);
        self.nodes[rank.index()].end = RankEnd::Panicked(words(&*panic));
    }

    /// Lets the coroutine of `rank` run that has the processor.
    fn resume(&mut self, rank: Rank) {
        let node = &mut self.nodes[rank.index()];
        let mut state = self.shared.borrow();
        let parts = state.rank(rank);
        node.strands.extend(parts.newborn.drain(..));
        let number = parts.strand;
        drop(state);
        let Some(strand) = node.strands.get_mut(&number) else { return };
        let Some(outcome) = strand.resume() else { return };
        node.strands.remove(&number);
        match outcome {
            Ok(()) if number != MAIN => self.shared.borrow().resume_next(rank),
            outcome => self.end(rank, outcome),
        }
    }

    /// The program of `rank` has ended: its first coroutine has, or another has panicked.
    fn end(&mut self, rank: Rank, outcome: Result<(), Panic>) {
        self.running -= 1;
        let mut state = self.shared.borrow();
        let time = state.time_of(rank);
        state.trace.note(time, rank, FrameEvent::Ended, None);
        let parts = state.rank(rank);
        parts.life = Life::Ended;
        parts.waiting = Waiting::Not;
        self.nodes[rank.index()].end = match outcome {
            Ok(()) if parts.failed => RankEnd::Failed,
            Ok(()) => RankEnd::Finished,
            Err(panic) if panic.is::<Stopped>() => RankEnd::Running,
            Err(panic) => {
                state.lose(Loss { rank, cause: Cause::Exited(101) });
                RankEnd::Panicked(words(&*panic))
            }
        };
        drop(state);
        self.unwind(rank);
    }

    /// Stops the program of `rank`, which has been told to.
    fn stop(&mut self, rank: Rank) {
        self.running -= usize::from(self.nodes[rank.index()].strands.contains_key(&MAIN));
        self.unwind(rank);
    }

    /// Unwinds all coroutines of `rank`: first the one that has the processor, which may hold what
    /// the others want in the course of it. Or abandons them all.
    fn unwind(&mut self, rank: Rank) {
        let node = &mut self.nodes[rank.index()];
        if self.abandons {
            let strands = std::mem::take(&mut node.strands);
            return strands.into_values().for_each(std::mem::forget);
        }
        let mut state = self.shared.borrow();
        let parts = state.rank(rank);
        parts.unwinding = true;
        parts.off.clear();
        let (first, newborn) = (parts.strand, std::mem::take(&mut parts.newborn));
        drop(state);
        let mut strands = std::mem::take(&mut node.strands);
        let first = strands.remove(&first);
        for mut strand in first.into_iter().chain(strands.into_values()) {
            // A program that catches the unwinding and goes on is unwound again.
            while strand.is_suspended() && strand.resume().is_none() {}
        }
        drop(newborn);
        self.shared.borrow().rank(rank).unwinding = false;
    }

    fn stuck(&self, state: &State) -> Vec<Stuck> {
        let alive = state.ranks.iter().enumerate().filter(|(_, parts)| parts.life == Life::Alive);
        let stuck = alive.map(|(rank, parts)| Stuck {
            rank: Rank(rank as u16),
            since: Duration::from_nanos(parts.local),
            what: match parts.waiting {
                Waiting::Sync => "looks for packets again and again",
                Waiting::Computing => "computes",
                _ if parts.starved => "waits for a send buffer, or for a packet",
                _ => "waits for a packet",
            },
        });
        stuck.collect()
    }

    /// End of the program of `rank`.
    pub fn end_of(&self, rank: Rank) -> &RankEnd {
        &self.nodes[rank.index()].end
    }

    /// The virtual time: that of the latest event, or of the host that is farthest.
    pub fn now(&self) -> Duration {
        let state = self.shared.borrow();
        let latest = state.ranks.iter().map(|parts| parts.local).max().unwrap_or(0);
        Duration::from_nanos(latest.max(state.now))
    }

    /// A number that stands for everything that happened, and how many events that was. The same
    /// setup and programs give the same on any machine.
    pub fn trace_hash(&self) -> (u64, u64) {
        self.shared.borrow().trace.hash()
    }

    /// The last events of `rank`, oldest first, as many as [`Setup::keep_events`] says.
    pub fn last_events(&self, rank: Rank) -> Vec<Happened> {
        self.shared.borrow().trace.last(rank)
    }

    /// The most receive buffers of its NI that `rank` had in use at a time.
    pub fn most_received(&self, rank: Rank) -> usize {
        self.shared.borrow().rank(rank).most_received
    }

    /// The faults that were injected.
    pub fn injected(&self) -> Injected {
        self.shared.borrow().injector.injected
    }
}

impl Drop for SimulatedNetwork {
    fn drop(&mut self) {
        self.shared.borrow().stopping = true;
        for rank in 0..self.nodes.len() as u16 {
            self.stop(Rank(rank));
        }
    }
}

/// Message of a panic.
fn words(panic: &(dyn std::any::Any + Send)) -> String {
    match (panic.downcast_ref::<&str>(), panic.downcast_ref::<String>()) {
        (Some(text), _) => (*text).into(),
        (_, Some(text)) => text.clone(),
        _ => "a panic without words".into(),
    }
}

#[cfg(test)]
mod tests;
