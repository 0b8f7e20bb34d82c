//! Processes (thesis 7.1.2): code that runs on a rank, each on a thread of its own, or on a
//! coroutine in the simulator.
//!
//! Forks and ends are messages of the order, so all ranks know which processes there are, and where
//! each lives. The upcall of a fork starts the thread and waits for nothing.

use crate::deadlock::{self, Executes};
use crate::error::{Ended, Error, ProcessError, Result};
use crate::format::{End, Fork, NAME_MAX, PROBING};
use crate::objects::Objects;
use crate::programs::{Next, Process, Start};
use crate::shared::{Node, Shared};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;
use weft_endpoint::Rank;
use weft_messaging::Completion;

/// Time for which processes may go on after the program has failed.
const GRACE: Duration = Duration::from_secs(1);

impl Objects {
    /// Starts a process of that type on a rank. Returns once the order has the fork here: then this
    /// rank knows of the process, which may not have begun.
    ///
    /// # Errors
    /// [`Error::NoSuchRank`], [`Error::UnknownProcess`], [`Error::LongName`], what the program that
    /// runs has failed by, or a lost rank.
    pub fn fork(&self, process: &str, on: Rank, arguments: &[u8]) -> Result<()> {
        self.fork_as(false, process, on, arguments)
    }

    /// Runs a program: rank 0 forks `main` on itself. Returns on all ranks once all processes,
    /// everywhere, have ended. All ranks call it, at the same place in the sequence of programs;
    /// handlers run meanwhile.
    ///
    /// A process that panics or returns an error ends the program: whoever is blocked on a guard,
    /// or would be, gets its error, and so does this, when the processes have ended, or a second
    /// later if some have not.
    ///
    /// Processes are threads. In the simulator those of a rank take turns: one runs until it waits.
    ///
    /// # Errors
    /// [`Error::UnknownProcess`], [`Error::Process`], or a lost rank.
    pub fn run(&self, main: &str, arguments: &[u8]) -> Result<()> {
        let Node { shared, .. } = &*self.0;
        let packets = shared.engine.packets();
        if !shared.processes.contains_key(main) {
            return Err(Error::UnknownProcess(main.into()));
        }
        if packets.has_threads() {
            // They all operate on objects.
            shared.engine.share();
        }
        let number = shared.programs.enter();
        if shared.own == Rank(0) {
            let over = shared.programs.watcher(number, &shared.engine);
            self.fork_as(true, main, Rank(0), arguments)?;
            self.0.watch(over);
        }
        let outcome = self.wait_for_end(number);
        shared.programs.join();
        outcome
    }

    /// Processes that live, everywhere, as far as this rank has executed the order.
    pub fn processes(&self) -> Vec<Process> {
        self.0.shared.programs.live()
    }

    fn fork_as(&self, is_main: bool, process: &str, on: Rank, arguments: &[u8]) -> Result<()> {
        let Node { shared, order, .. } = &*self.0;
        let ranks = shared.engine.packets().size();
        if on.index() >= ranks {
            return Err(Error::NoSuchRank(on, ranks));
        }
        if process.len() > NAME_MAX {
            return Err(Error::LongName(process.len()));
        }
        if !shared.processes.contains_key(process) {
            return Err(Error::UnknownProcess(process.into()));
        }
        let head = Fork { is_main, on, name: process }.emit();
        order.broadcast_and_wait(&[&head[..], process.as_bytes(), arguments])?;
        // Nothing is forked in a program that has failed; that of a main its run tells.
        shared.programs.failure().filter(|_| !is_main).map_or(Ok(()), Err)
    }

    /// Waits until that program is over.
    fn wait_for_end(&self, number: u64) -> Result<()> {
        let Node { shared, .. } = &*self.0;
        let mut give_up_at = None;
        loop {
            match shared.programs.next(number, &shared.engine) {
                Next::Over(outcome) => return outcome,
                Next::Wait(change) => change.wait()?,
                Next::Failed(failure, change) => {
                    let now = shared.engine.packets().now();
                    let left = give_up_at.get_or_insert(now + GRACE).saturating_sub(now);
                    let change = shared.engine.within(left, change);
                    match shared.engine.block_on(change)? {
                        Ok(changed) => changed?,
                        // Some process computes, or waits for something that is no object.
                        Err(_) => return Err(failure),
                    }
                }
            }
        }
    }
}

impl Shared {
    /// Starts what is to be started.
    pub(crate) fn start_processes(&self) {
        let Some(node) = self.node() else { return };
        while let Some(start) = self.programs.next_start() {
            node.start_thread(start);
        }
    }
}

impl Node {
    /// Asks now and then whether all processes wait, until `over` completes.
    fn watch(self: &Arc<Self>, mut over: Completion<()>) {
        let (node, engine) = (Arc::downgrade(self), Arc::clone(&self.shared.engine));
        self.shared.engine.spawn(async move {
            let mut after = deadlock::FIRST;
            while engine.within(after, &mut over).await.is_err() {
                let Some(node) = node.upgrade() else { return };
                // All have answered to one question before the next is asked.
                if let Some(pause) = node.shared.watch.pause(after) {
                    after = pause;
                    node.broadcast_soon(PROBING.to_vec());
                }
            }
        });
    }

    /// Executes a process to its end, and tells everybody of that.
    fn execute_process(self: &Arc<Self>, start: Start) {
        let outcome = match self.shared.processes.get(&start.name) {
            Some(code) => {
                let _executes = Executes::process(start.id);
                let run = AssertUnwindSafe(|| code(self, &start.arguments));
                catch_unwind(run).unwrap_or_else(|panic| Err(ProcessError(text_of(&*panic))))
            }
            None => Err(ProcessError("its type is not among those that its rank was given".into())),
        };
        self.tell_end(start.id, outcome);
    }

    /// Tells everybody that a process of this rank has ended.
    fn tell_end(&self, process: u64, outcome: Ended) {
        let text = outcome.err().map(|ProcessError(text)| text);
        let head = End { process, has_failed: text.is_some() }.emit();
        let text = text.unwrap_or_default();
        // If a rank was lost, all that waits is told of that.
        drop(self.order.broadcast(&[&head[..], text.as_bytes()]));
    }

    /// Starts a thread for a process.
    fn start_thread(self: &Arc<Self>, start: Start) {
        let (id, name, node) = (start.id, start.name.clone(), Arc::clone(self));
        let Shared { engine, programs, .. } = &*self.shared;
        let spawn = || engine.packets().spawn(&name, move || node.execute_process(start));
        if let Err(error) = programs.start(id, spawn) {
            self.tell_end(id, Err(ProcessError(format!("it got no thread: {error}"))));
        }
    }
}

/// Text of a panic.
fn text_of(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    format!("it panicked: {}", text.unwrap_or_else(|| "no text".into()))
}
