//! Processes (thesis 7.1.2): code that runs on a rank, each on a thread of its own, or on a
//! coroutine in the simulator.
//!
//! Forks and ends are messages of the order, so all ranks know which processes there are, and where
//! each lives. The upcall of a fork starts the thread and waits for nothing.

use crate::copy::Fault;
use crate::deadlock::Executes;
use crate::format::{End, Fork, NAME_MAX};
use crate::objects::Inner;
use crate::shared::{Shared, lock};
use crate::{Error, Objects, Result};
use std::collections::{BTreeMap, VecDeque};
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;
use weft_endpoint::{Rank, Thread};
use weft_messaging::{Completer, Completion, Engine};

/// Time for which processes may go on after the program has failed.
const GRACE: Duration = Duration::from_secs(1);

/// Code of a process type: it gets the objects of its rank, and arguments.
pub(crate) type Code = dyn Fn(&Objects, &[u8]) -> Ended + Send + Sync;

/// End of a process.
pub(crate) type Ended = std::result::Result<(), ProcessError>;

/// Reason why a process has failed: text, which anything that is text or an error becomes by `?`.
#[derive(Debug)]
pub struct ProcessError(String);

impl<E: Display> From<E> for ProcessError {
    fn from(error: E) -> Self {
        ProcessError(error.to_string())
    }
}

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

/// The processes of a job, as a rank knows them, and those of this rank.
#[derive(Default)]
pub(crate) struct Processes {
    books: Mutex<Books>,
}

#[derive(Default)]
struct Books {
    live: BTreeMap<u64, Process>,
    /// Programs that were begun, and the one that is not over.
    begun: u64,
    running: Option<u64>,
    /// Reason why the program that runs has failed; and why the last that failed did.
    failure: Option<Error>,
    last_failure: Option<Error>,
    /// Outcomes of programs that this rank has not asked for yet.
    outcomes: BTreeMap<u64, Result<()>>,
    /// Calls of [`Objects::run`] here.
    entered: u64,
    /// Whoever waits in [`Objects::run`] for a change of these books.
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
struct Start {
    id: u64,
    name: String,
    arguments: Vec<u8>,
}

/// Next step of whoever waits in [`Objects::run`].
enum Next {
    Over(Result<()>),
    /// The program has failed: it is waited for a while longer.
    Failed(Error, Completion<()>),
    Wait(Completion<()>),
}

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
        let Inner { shared, .. } = &*self.0;
        let packets = shared.engine.packets();
        if !shared.types.has_process(main) {
            return Err(Error::UnknownProcess(main.into()));
        }
        if packets.has_threads() {
            // They all operate on objects.
            shared.engine.share();
        }
        let number = shared.processes.enter();
        if shared.own == Rank(0) {
            let over = shared.processes.watcher(number, &shared.engine);
            self.fork_as(true, main, Rank(0), arguments)?;
            self.0.watch(over);
        }
        let outcome = self.wait_for_end(number);
        shared.processes.join();
        outcome
    }

    /// Processes that live, everywhere, as far as this rank has executed the order.
    pub fn processes(&self) -> Vec<Process> {
        self.0.shared.live()
    }

    fn fork_as(&self, is_main: bool, process: &str, on: Rank, arguments: &[u8]) -> Result<()> {
        let Inner { shared, order, .. } = &*self.0;
        let ranks = shared.engine.packets().size();
        if on.index() >= ranks {
            return Err(Error::NoSuchRank(on, ranks));
        }
        if process.len() > NAME_MAX {
            return Err(Error::LongName(process.len()));
        }
        if !shared.types.has_process(process) {
            return Err(Error::UnknownProcess(process.into()));
        }
        let head = Fork { is_main, on, name: process }.emit();
        order.broadcast_and_wait(&[&head[..], process.as_bytes(), arguments])?;
        // Nothing is forked in a program that has failed; that of a main its run tells.
        shared.failure().filter(|_| !is_main).map_or(Ok(()), Err)
    }

    /// Waits until that program is over.
    fn wait_for_end(&self, number: u64) -> Result<()> {
        let Inner { shared, .. } = &*self.0;
        let mut give_up_at = None;
        loop {
            match shared.next(number) {
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

impl Inner {
    /// Threads of this rank can start from here on.
    pub(crate) fn begin_processes(self: &Arc<Self>) {
        self.shared.start_processes();
    }

    /// Executes a process to its end, and tells everybody of that.
    fn execute_process(self: &Arc<Self>, start: Start) {
        let outcome = match self.shared.types.process(&start.name) {
            Some(code) => {
                let objects = Objects(Arc::clone(self));
                let _executes = Executes::process(start.id);
                let run = AssertUnwindSafe(|| code(&objects, &start.arguments));
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
        let (id, name, inner) = (start.id, start.name.clone(), Arc::clone(self));
        let packets = self.shared.engine.packets();
        // With its books held: it has not ended before it is among them.
        let mut books = lock(&self.shared.processes.books);
        match packets.spawn(&name, move || inner.execute_process(start)) {
            Ok(thread) => {
                books.threads.insert(id, thread);
            }
            Err(error) => {
                drop(books);
                self.tell_end(id, Err(ProcessError(format!("it got no thread: {error}"))));
            }
        }
    }
}

/// Text of a panic.
fn text_of(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    format!("it panicked: {}", text.unwrap_or_else(|| "no text".into()))
}

impl Shared {
    /// Reason why the program that runs has failed, if it has.
    pub(crate) fn failure(&self) -> Option<Error> {
        lock(&self.processes.books).failure.clone()
    }

    /// Processes that live, by their numbers.
    pub(crate) fn live(&self) -> Vec<Process> {
        lock(&self.processes.books).live.values().cloned().collect()
    }

    /// Error of an operation that was ended with the program.
    pub(crate) fn ending(&self) -> Error {
        lock(&self.processes.books).last_failure.clone().unwrap_or(Error::Ended)
    }

    /// A process was forked.
    pub(crate) fn forked(&self, id: u64, fork: &Fork<'_>, arguments: &[u8]) {
        let Fork { is_main, on, name } = *fork;
        let mut books = lock(&self.processes.books);
        if is_main && !books.begin_program() || books.failure.is_some() {
            return books.tell_change();
        }
        books.live.insert(id, Process { id, name: name.into(), rank: on });
        if on != self.own {
            return;
        }
        books.starting.push_back(Start { id, name: name.into(), arguments: arguments.to_vec() });
        books.tell_change();
        drop(books);
        self.start_processes();
    }

    /// Starts what is to be started.
    fn start_processes(&self) {
        let Some(inner) = self.inner.get().and_then(Weak::upgrade) else { return };
        loop {
            let start = lock(&self.processes.books).starting.pop_front();
            let Some(start) = start else { return };
            inner.start_thread(start);
        }
    }

    /// A process of `source` has ended, of this error if it has failed.
    pub(crate) fn ended(&self, source: Rank, end: &End, text: &[u8]) {
        let mut books = lock(&self.processes.books);
        let is_its = books.live.get(&end.process).is_some_and(|process| process.rank == source);
        let ended = if is_its { books.live.remove(&end.process) } else { None };
        let Some(Process { name, rank, .. }) = ended else {
            drop(books);
            return self.violated(source, "it ended a process that is not its, or does not live");
        };
        let thread = books.threads.remove(&end.process);
        books.ended.extend(thread);
        drop(books);
        if end.has_failed {
            let what = String::from_utf8_lossy(text).into_owned();
            self.fail(Error::Process { name, rank, what });
        }
        let had_failed = lock(&self.processes.books).end_program();
        if had_failed {
            self.set_ending(None);
        }
    }

    /// The program has failed: nobody waits for guards any more.
    pub(crate) fn fail(&self, failure: Error) {
        let mut books = lock(&self.processes.books);
        if books.failure.is_some() {
            return;
        }
        books.failure = Some(failure.clone());
        books.last_failure = Some(failure);
        books.tell_change();
        drop(books);
        self.set_ending(Some(Fault::Ended));
    }

    /// Next step of whoever waits until that program is over.
    fn next(&self, program: u64) -> Next {
        let mut books = lock(&self.processes.books);
        if let Some(outcome) = books.outcomes.remove(&program) {
            return Next::Over(outcome);
        }
        let (completer, change) = Completion::new(&self.engine);
        books.waiter = Some(completer);
        match books.failure.clone() {
            Some(failure) => Next::Failed(failure, change),
            None => Next::Wait(change),
        }
    }
}

impl Processes {
    /// Number of the program that this rank runs now.
    fn enter(&self) -> u64 {
        let mut books = lock(&self.books);
        books.entered += 1;
        books.entered
    }

    /// Completes when that program is over. The one before it, which has failed, may not be yet.
    fn watcher(&self, program: u64, engine: &Arc<Engine>) -> Completion<()> {
        let (completer, over) = Completion::new(engine);
        lock(&self.books).watcher = Some((program, completer));
        over
    }

    /// Waits for the threads whose processes have ended.
    fn join(&self) {
        let ended = std::mem::take(&mut lock(&self.books).ended);
        // They say nothing: a panic of a process was told to all.
        ended.into_iter().for_each(Thread::join);
    }
}

impl Books {
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
