//! Work besides packets: continuations of handlers, tasks, timers.
//!
//! Whoever polls the network runs what is ready, between packets. If nobody does, the upcall thread
//! is told that there is pending work.

use crate::machine::PortRun;
use crate::seats::Seats;
use std::collections::{BTreeMap, VecDeque};
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;
use weft_endpoint::biased::Biased;
use weft_endpoint::{Packets, Rank};

/// No timer.
const NEVER: u64 = u64::MAX;

/// A future, or a handler that has waited, which goes on when it is resumed.
pub(crate) type Continuation = Pin<Box<dyn Resume>>;

pub(crate) trait Resume: Send {
    fn resume(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()>;
}

impl<R: Future<Output = ()> + Send> Resume for Option<R> {
    fn resume(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let Some(future) = self.as_mut().as_pin_mut() else { return Poll::Ready(()) };
        let polled = future.poll(context);
        if polled.is_ready() {
            self.set(None);
        }
        polled
    }
}

/// The ready tasks and the timers of one rank.
pub(crate) struct Tasks {
    packets: Packets,
    ready: Mutex<VecDeque<Arc<Task>>>,
    any_ready: AtomicBool,
    timers: Mutex<Timers>,
    /// The earliest timer, in nanoseconds.
    next_timer: AtomicU64,
    /// Futures that wait for their time, and then may do anything.
    pub naps: AtomicU32,
    seats: Arc<Biased<Seats>>,
}

#[derive(Default)]
struct Timers {
    wakers: BTreeMap<(Duration, u64), Waker>,
    last: u64,
}

/// A continuation or a future, and who gets to know that it ended.
pub(crate) struct Task {
    tasks: Arc<Tasks>,
    /// The port whose handler it is; it runs nothing else before this has ended.
    pub port: Option<PortRun>,
    /// The port does not wait for it.
    pub concurrent: bool,
    /// The sender of the message that its port's handler waits in.
    from: AtomicU16,
    parked: Mutex<Option<Continuation>>,
    stage: AtomicU8,
}

/// Stages of a task. It is in the queue of those that are ready once at most.
const WAITS: u8 = 0;
const READY: u8 = 1;
const RUNS: u8 = 2;
/// Woken while it runs: it is ready again as soon as it waits.
const WOKEN: u8 = 3;

impl Tasks {
    /// None yet. Whoever leads among `seats` runs them.
    pub fn new(packets: Packets, seats: Arc<Biased<Seats>>) -> Arc<Self> {
        Arc::new(Tasks {
            packets,
            seats,
            ready: Mutex::default(),
            any_ready: AtomicBool::new(false),
            timers: Mutex::default(),
            next_timer: AtomicU64::new(NEVER),
            naps: AtomicU32::new(0),
        })
    }

    /// True if a task is ready, or a timer may be.
    #[inline]
    pub fn has_any(&self) -> bool {
        self.any_ready.load(Ordering::Relaxed) || self.next_timer.load(Ordering::Relaxed) != NEVER
    }

    /// True if futures wait for their time.
    pub fn any_naps(&self) -> bool {
        self.naps.load(Ordering::Relaxed) > 0
    }

    /// True if a task is ready.
    pub fn is_ready(&self) -> bool {
        self.any_ready.load(Ordering::SeqCst)
    }

    /// Begins `future`, which runs when somebody polls.
    pub fn spawn(self: &Arc<Self>, future: impl Future<Output = ()> + Send + 'static) {
        let task = Task::of_port(self, None, true);
        let future: Continuation = Box::pin(Some(future));
        task.stage.store(WOKEN, Ordering::SeqCst);
        task.park(future);
    }

    /// The next task that is ready. Wakes those whose time has come first.
    pub fn next(&self) -> Option<Arc<Task>> {
        self.fire_timers();
        let mut ready = lock(&self.ready);
        let task = ready.pop_front();
        if ready.is_empty() && self.any_ready.swap(false, Ordering::SeqCst) {
            drop(ready);
            self.packets.system().set_pending_work(false);
            // One that became ready between the two has set the pending work for nothing.
            if self.is_ready() {
                self.announce();
            }
        }
        task
    }

    /// A task is ready: whoever polls runs it, or else the upcall thread.
    fn announce(&self) {
        self.packets.system().note_owing(true);
        match self.seats.enter().is_led() {
            true => self.packets.presence().nudge(),
            false => self.packets.system().set_pending_work(true),
        }
    }

    fn schedule(&self, task: Arc<Task>) {
        let mut ready = lock(&self.ready);
        ready.push_back(task);
        self.any_ready.store(true, Ordering::SeqCst);
        drop(ready);
        self.announce();
    }

    /// Wakes `waker` at `time`, unless [`Self::forget`] is told the number that this returns.
    pub fn wake_at(&self, time: Duration, waker: &Waker) -> u64 {
        let mut timers = lock(&self.timers);
        timers.last += 1;
        let number = timers.last;
        timers.wakers.insert((time, number), waker.clone());
        self.set_alarm(&timers);
        number
    }

    /// Forgets a timer that may have fired.
    pub fn forget(&self, time: Duration, number: u64) {
        let mut timers = lock(&self.timers);
        if timers.wakers.remove(&(time, number)).is_some() {
            self.set_alarm(&timers);
        }
    }

    fn set_alarm(&self, timers: &Timers) {
        let next = timers.wakers.keys().next().map(|(time, _)| *time);
        let nanoseconds = next.map_or(NEVER, |time| time.as_nanos() as u64);
        if self.next_timer.swap(nanoseconds, Ordering::SeqCst) != nanoseconds {
            self.packets.presence().set_alarm(next);
        }
    }

    fn fire_timers(&self) {
        let next = self.next_timer.load(Ordering::Relaxed);
        if next == NEVER {
            return;
        }
        let now = self.packets.now();
        if (now.as_nanos() as u64) < next {
            return;
        }
        let mut timers = lock(&self.timers);
        let later = timers.wakers.split_off(&(now, u64::MAX));
        let due = std::mem::replace(&mut timers.wakers, later);
        self.set_alarm(&timers);
        drop(timers);
        due.into_values().for_each(Waker::wake);
    }

    /// Drops what is ready and all timers: the rank is done.
    pub fn clear(&self) {
        let ready = std::mem::take(&mut *lock(&self.ready));
        let mut timers = lock(&self.timers);
        let wakers = std::mem::take(&mut timers.wakers);
        // Else threads would look again and again for what nobody does any more.
        self.set_alarm(&timers);
        drop(timers);
        drop((ready, wakers));
    }
}

impl Task {
    /// A task that nothing is in yet.
    pub fn of_port(tasks: &Arc<Tasks>, port: Option<PortRun>, concurrent: bool) -> Arc<Self> {
        let (tasks, parked, from) = (Arc::clone(tasks), Mutex::default(), AtomicU16::new(0));
        Arc::new(Task { tasks, port, concurrent, from, parked, stage: AtomicU8::new(WAITS) })
    }

    /// Another for the same port.
    pub fn fresh(&self) -> Arc<Self> {
        Task::of_port(&self.tasks, self.port, self.concurrent)
    }

    /// Marks the task as running, before its continuation runs.
    #[inline]
    pub fn begin(&self) {
        self.stage.store(RUNS, Ordering::SeqCst);
    }

    /// The sender of the message that its port's handler waits in.
    pub fn from(&self) -> Rank {
        Rank(self.from.load(Ordering::Relaxed))
    }

    /// The handler of a message from `from` waits.
    pub fn park_handler(self: Arc<Self>, from: Rank, continuation: Continuation) {
        self.from.store(from.0, Ordering::Relaxed);
        self.park(continuation);
    }

    /// Takes the continuation, to be run now; `None` if it runs elsewhere, or has ended.
    pub fn take(&self) -> Option<Continuation> {
        let continuation = lock(&self.parked).take()?;
        self.begin();
        Some(continuation)
    }

    /// Puts the continuation back once it waits. It may have been woken already.
    pub fn park(self: Arc<Self>, continuation: Continuation) {
        *lock(&self.parked) = Some(continuation);
        if self.turn(RUNS, WAITS) {
            return;
        }
        self.stage.store(READY, Ordering::SeqCst);
        Arc::clone(&self.tasks).schedule(self);
    }

    /// Goes from one stage to another; false if it was in a third.
    fn turn(&self, from: u8, to: u8) -> bool {
        self.stage.compare_exchange(from, to, Ordering::SeqCst, Ordering::SeqCst).is_ok()
    }
}

impl Wake for Task {
    fn wake(self: Arc<Self>) {
        // It may begin to wait between the two looks, but not to run.
        if !self.turn(RUNS, WOKEN) && self.turn(WAITS, READY) {
            Arc::clone(&self.tasks).schedule(self);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
