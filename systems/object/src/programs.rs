//! Processes and programs of a job, without what executes them.

use crate::error::{Error, Result};
use crate::format::Fork;
use crate::lock::lock;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};
use weft_endpoint::{Rank, Thread};
use weft_messaging::{Completer, Completion, Engine};

/// A process that lives.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Process {
    /// Number of its fork in the order.
    pub id: u64,
    /// Name of its type.
    pub name: String,
    /// The rank on which it runs.
    pub rank: Rank,
}

/// The processes and programs of a job, as a rank knows them, and the processes of this rank.
#[derive(Default)]
pub(crate) struct Programs(Mutex<ProcessTable>);

#[derive(Default)]
struct ProcessTable {
    live: BTreeMap<u64, Process>,
    /// Programs that were begun, and the one that is not over.
    begun: u64,
    running: Option<u64>,
    /// Reason why the program that runs has failed; and why the last that failed did.
    failure: Option<Error>,
    last_failure: Option<Error>,
    /// Outcomes of programs that this rank has not asked for yet.
    outcomes: BTreeMap<u64, Result<()>>,
    /// Calls of [`crate::Objects::run`] here.
    entered: u64,
    /// Whoever waits in [`crate::Objects::run`] for a change of these.
    waiter: Option<Completer<()>>,
    /// The task that looks for a deadlock.
    watcher: Option<(u64, Completer<()>)>,
    /// Processes of this rank that are to be started.
    starting: VecDeque<Start>,
    /// Threads of this rank; and those whose processes have ended.
    threads: BTreeMap<u64, Thread>,
    ended: Vec<Thread>,
}

/// A process that is to be started here.
pub(crate) struct Start {
    pub id: u64,
    pub name: String,
    pub arguments: Vec<u8>,
}

/// Next step of a thread that waits in [`crate::Objects::run`].
pub(crate) enum Next {
    Over(Result<()>),
    /// The program has failed: it is waited for a while longer.
    Failed(Error, Completion<()>),
    Wait(Completion<()>),
}

impl Programs {
    /// Reason why the program that runs has failed, if it has.
    pub fn failure(&self) -> Option<Error> {
        lock(&self.0).failure.clone()
    }

    /// Processes that live, by their numbers.
    pub fn live(&self) -> Vec<Process> {
        lock(&self.0).live.values().cloned().collect()
    }

    /// Error of an operation that was ended with the program.
    pub fn ending(&self) -> Error {
        lock(&self.0).last_failure.clone().unwrap_or(Error::Ended)
    }

    /// A process was forked. True if this rank, `own`, is to start it.
    pub fn forked(&self, id: u64, fork: &Fork<'_>, arguments: &[u8], own: Rank) -> bool {
        let Fork { is_main, on, name } = *fork;
        let mut table = lock(&self.0);
        if is_main && !table.begin_program() || table.failure.is_some() {
            table.tell_change();
            return false;
        }
        table.live.insert(id, Process { id, name: name.into(), rank: on });
        if on != own {
            return false;
        }
        table.starting.push_back(Start { id, name: name.into(), arguments: arguments.to_vec() });
        table.tell_change();
        true
    }

    /// The next process that is to be started here.
    pub fn next_start(&self) -> Option<Start> {
        lock(&self.0).starting.pop_front()
    }

    /// Has a process be executed by the thread that `spawn` makes. It has not ended before its
    /// thread is known.
    ///
    /// # Errors
    /// Those of `spawn`.
    pub fn start<E>(
        &self,
        id: u64,
        spawn: impl FnOnce() -> std::result::Result<Thread, E>,
    ) -> std::result::Result<(), E> {
        let mut table = lock(&self.0);
        table.threads.insert(id, spawn()?);
        Ok(())
    }

    /// A process of `source` has ended; `None` if that has none of this number.
    pub fn ended(&self, source: Rank, process: u64) -> Option<Process> {
        let mut table = lock(&self.0);
        table.live.get(&process).filter(|process| process.rank == source)?;
        let thread = table.threads.remove(&process);
        table.ended.extend(thread);
        table.live.remove(&process)
    }

    /// Processes of a rank that is lost, which live no more.
    pub fn lose(&self, rank: Rank) -> Vec<Process> {
        let mut table = lock(&self.0);
        let all = std::mem::take(&mut table.live).into_iter();
        let (lost, live) = all.partition(|(_, process)| process.rank == rank);
        table.live = live;
        let lost: BTreeMap<u64, Process> = lost;
        lost.into_values().collect()
    }

    /// Ends the program if no process lives. True if it had failed.
    pub fn end_program(&self) -> bool {
        lock(&self.0).end_program()
    }

    /// The program has failed. False if it had before.
    pub fn fail(&self, failure: Error) -> bool {
        let mut table = lock(&self.0);
        if table.failure.is_some() {
            return false;
        }
        table.failure = Some(failure.clone());
        table.last_failure = Some(failure);
        table.tell_change();
        true
    }

    /// Number of the program that this rank runs now.
    pub fn enter(&self) -> u64 {
        let mut table = lock(&self.0);
        table.entered += 1;
        table.entered
    }

    /// Completes when that program is over. The one before it, which has failed, may not be yet.
    pub fn watcher(&self, program: u64, engine: &Arc<Engine>) -> Completion<()> {
        let (completer, over) = Completion::new(engine);
        lock(&self.0).watcher = Some((program, completer));
        over
    }

    /// Next step of whoever waits until that program is over.
    pub fn next(&self, program: u64, engine: &Arc<Engine>) -> Next {
        let mut table = lock(&self.0);
        if let Some(outcome) = table.outcomes.remove(&program) {
            return Next::Over(outcome);
        }
        let (completer, change) = Completion::new(engine);
        table.waiter = Some(completer);
        match table.failure.clone() {
            Some(failure) => Next::Failed(failure, change),
            None => Next::Wait(change),
        }
    }

    /// Waits for the threads whose processes have ended.
    pub fn join(&self) {
        let ended = std::mem::take(&mut lock(&self.0).ended);
        // They say nothing: a panic of a process was told to all.
        ended.into_iter().for_each(Thread::join);
    }
}

impl ProcessTable {
    /// Tells whoever waits for a change.
    fn tell_change(&mut self) {
        if let Some(waiter) = self.waiter.take() {
            waiter.complete(Ok(()));
        }
    }

    /// A program begins, unless the one before it has failed and is not over. False then.
    fn begin_program(&mut self) -> bool {
        self.begun += 1;
        match self.failure.clone() {
            None => self.running = Some(self.begun),
            Some(failure) => self.end(self.begun, Err(failure)),
        }
        self.running == Some(self.begun)
    }

    /// Ends the program if no process lives. True if it had failed.
    fn end_program(&mut self) -> bool {
        if !self.live.is_empty() {
            return false;
        }
        let failure = self.failure.take();
        let has_failed = failure.is_some();
        if let Some(program) = self.running.take() {
            self.end(program, failure.map_or(Ok(()), Err));
        }
        self.tell_change();
        has_failed
    }

    /// A program is over.
    fn end(&mut self, program: u64, outcome: Result<()>) {
        self.outcomes.insert(program, outcome);
        if let Some((_, watcher)) = self.watcher.take_if(|(of, _)| *of <= program) {
            watcher.complete(Ok(()));
        }
    }
}
