//! Who polls, and how everybody else waits (thesis 6.2.2).
//!
//! Of the threads that wait, one *leads*: it polls, and sleeps where an arrival wakes it. The others
//! follow: they are parked, and woken by what they wait for, or to lead when the leader has what it wanted.
//! Tasks are woken in the same way, and run by the leader. While no thread waits, all of them compute, and
//! the upcall thread takes what arrives.

use crate::engine::Engine;
use crate::error::{Error, Result};
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;
use std::time::Duration;
use weft_node::biased::this_thread;
use weft_packet::{Packets, Step};

/// The longest that a follower is parked before it looks by itself (invariant I9).
const LONGEST_PARK: Duration = Duration::from_millis(100);

/// Wakes the thread that leads, if it sleeps.
pub(crate) struct Nudge(pub Packets);

impl Wake for Nudge {
    fn wake(self: Arc<Self>) {
        self.0.nudge();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.nudge();
    }
}

/// Wakes a thread that follows.
struct Unpark {
    thread: Thread,
    woken: AtomicBool,
}

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.woken.store(true, Ordering::SeqCst);
        self.thread.unpark();
    }
}

/// Notes that a future was woken, and wakes who polls it.
struct Woken {
    woken: AtomicBool,
    waiter: Waker,
    waiting: AtomicBool,
    thread: Thread,
}

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.woken.store(true, Ordering::SeqCst);
        if self.waiting.load(Ordering::SeqCst) {
            self.thread.unpark();
        }
        self.waiter.wake_by_ref();
    }
}

/// Leads while it lives.
struct Leading<'a> {
    engine: &'a Arc<Engine>,
}

impl Engine {
    /// Makes progress until `look` finds something. Given a waker, a `look` that finds nothing has left
    /// it where it will be woken once there may be something; without one, the caller looks again by
    /// itself.
    pub(crate) fn wait<T>(
        self: &Arc<Self>,
        look: impl FnMut(&Arc<Engine>, Option<&Waker>) -> Result<Option<T>>,
    ) -> Result<T> {
        match self.wait_until(None, look)? {
            Some(found) => Ok(found),
            None => unreachable!("a wait without a deadline ends when something is found"),
        }
    }

    /// As [`Self::wait`], until `deadline` at most, by the clock of [`Packets::now`].
    pub(crate) fn wait_until<T>(
        self: &Arc<Self>,
        deadline: Option<Duration>,
        mut look: impl FnMut(&Arc<Engine>, Option<&Waker>) -> Result<Option<T>>,
    ) -> Result<Option<T>> {
        if let Some(found) = look(self, None)? {
            return Ok(Some(found));
        }
        // What is there already is taken without leading anybody.
        while self.step()? {
            if let Some(found) = look(self, None)? {
                return Ok(Some(found));
            }
        }
        loop {
            if let Some(leading) = self.lead() {
                return leading.poll_until(deadline, &mut look);
            }
            match self.follow(deadline, &mut look) {
                Ok(Poll::Pending) => {}
                Ok(Poll::Ready(outcome)) => return Ok(outcome),
                Err(error) => return Err(error),
            }
        }
    }

    /// Makes progress until `look` finds something that nobody wakes anybody for: in memory that ranks
    /// share. A rank that changes it wakes sleepers, so every thread that watches polls by itself.
    pub(crate) fn watch<T>(
        self: &Arc<Self>,
        mut look: impl FnMut() -> Result<Option<T>>,
    ) -> Result<T> {
        let mut outcome = None;
        self.packets().wait(&mut || {
            let stepped = match look() {
                Ok(None) => self.step(),
                done => {
                    outcome = done.transpose();
                    return Ok(Step::Done);
                }
            };
            match stepped {
                // What came may be what the thread that leads waits for.
                Ok(true) => self.packets().nudge(),
                Ok(false) => return Ok(Step::Idle),
                Err(error) => {
                    outcome = Some(Err(error));
                    return Ok(Step::Done);
                }
            }
            Ok(Step::Progress)
        })?;
        outcome.unwrap_or_else(|| unreachable!("the wait ended with an outcome"))
    }

    /// Makes progress until `done` says so. It is asked after each packet, and by nothing else: what it
    /// looks at is changed by handlers of this rank.
    ///
    /// # Errors
    /// As [`Self::progress`].
    pub fn poll_until(self: &Arc<Self>, mut done: impl FnMut() -> bool) -> Result<()> {
        self.wait(|_, _| Ok(done().then_some(())))
    }

    /// Runs `future` to its end on this thread, which polls meanwhile, or waits for who does.
    ///
    /// # Errors
    /// As [`Self::progress`]; the future is dropped then.
    pub fn block_on<T>(self: &Arc<Self>, future: impl Future<Output = T>) -> Result<T> {
        let mut future = pin!(future);
        let woken = Arc::new(Woken {
            woken: AtomicBool::new(true),
            waiter: self.nudger.clone(),
            waiting: AtomicBool::new(false),
            thread: std::thread::current(),
        });
        let waker = Waker::from(Arc::clone(&woken));
        self.wait(|_, follower| {
            woken.waiting.store(follower.is_some(), Ordering::SeqCst);
            if !woken.woken.swap(false, Ordering::SeqCst) {
                return Ok(None);
            }
            match future.as_mut().poll(&mut Context::from_waker(&waker)) {
                Poll::Ready(value) => Ok(Some(value)),
                Poll::Pending => Ok(None),
            }
        })
    }

    /// Waits for `time`.
    pub fn sleep(self: &Arc<Self>, time: Duration) -> impl Future<Output = ()> + Send + use<> {
        let deadline = self.packets().now() + time;
        Sleep { engine: Arc::clone(self), deadline, timer: None }
    }

    /// What `future` returns, or [`Error::TimedOut`] after `time`.
    ///
    /// # Errors
    /// [`Error::TimedOut`]; the future is dropped then.
    pub async fn within<T>(
        self: &Arc<Self>,
        time: Duration,
        future: impl Future<Output = T>,
    ) -> Result<T> {
        let mut future = pin!(future);
        let mut sleep = pin!(self.sleep(time));
        poll_fn(|context| match future.as_mut().poll(context) {
            Poll::Ready(value) => Poll::Ready(Ok(value)),
            Poll::Pending => sleep.as_mut().poll(context).map(|()| Err(Error::TimedOut(time))),
        })
        .await
    }

    /// Has arrivals looked at even if no thread of Weft's waits: a task of somebody else's executor does.
    pub(crate) fn somebody_waits(&self) {
        let state = self.state.enter();
        let polled = state.leader == this_thread() || state.is_handling();
        drop(state);
        if !polled {
            self.packets().set_eager();
        }
    }

    /// Becomes the thread that polls, unless another is.
    fn lead(self: &Arc<Self>) -> Option<Leading<'_>> {
        let (me, mut state) = (this_thread(), self.state.enter());
        if state.leader != 0 && state.leader != me {
            return None;
        }
        state.leader = me;
        state.depth += 1;
        Some(Leading { engine: self })
    }

    /// Waits to be woken, once. `Ready` with what was found, or with nothing when the time is up.
    fn follow<T>(
        self: &Arc<Self>,
        deadline: Option<Duration>,
        look: &mut impl FnMut(&Arc<Engine>, Option<&Waker>) -> Result<Option<T>>,
    ) -> Result<Poll<Option<T>>> {
        let me = this_thread();
        let parked =
            Arc::new(Unpark { thread: std::thread::current(), woken: AtomicBool::new(false) });
        let waker = Waker::from(Arc::clone(&parked));
        {
            let mut state = self.state.enter();
            if state.leader == 0 {
                return Ok(Poll::Pending);
            }
            state.followers.push((me, waker.clone()));
        }
        let found = self.park(&parked, &waker, deadline, look);
        let mut state = self.state.enter();
        state.followers.retain(|(thread, _)| *thread != me);
        // Whoever leaves with what it wanted passes on that somebody has to lead.
        let next = match &found {
            Ok(Poll::Pending) => None,
            _ if state.leader == 0 => state.followers.pop(),
            _ => None,
        };
        drop(state);
        if let Some((_, waker)) = next {
            waker.wake();
        }
        found
    }

    fn park<T>(
        self: &Arc<Self>,
        parked: &Unpark,
        waker: &Waker,
        deadline: Option<Duration>,
        look: &mut impl FnMut(&Arc<Engine>, Option<&Waker>) -> Result<Option<T>>,
    ) -> Result<Poll<Option<T>>> {
        if let Some(found) = look(self, Some(waker))? {
            return Ok(Poll::Ready(Some(found)));
        }
        let mut limit = LONGEST_PARK;
        if let Some(deadline) = deadline {
            let left = deadline.saturating_sub(self.packets().now());
            if left.is_zero() {
                return Ok(Poll::Ready(None));
            }
            limit = limit.min(left);
        }
        if !parked.woken.load(Ordering::SeqCst) {
            std::thread::park_timeout(limit);
        }
        Ok(Poll::Pending)
    }
}

impl Leading<'_> {
    fn poll_until<T>(
        &self,
        deadline: Option<Duration>,
        look: &mut impl FnMut(&Arc<Engine>, Option<&Waker>) -> Result<Option<T>>,
    ) -> Result<Option<T>> {
        let engine = self.engine;
        let _alarm = deadline.map(|time| Alarm::set(engine, time));
        let mut outcome = None;
        let mut idle = false;
        engine.packets().wait(&mut || {
            let looked = look(engine, idle.then_some(&engine.nudger));
            match looked {
                Ok(None) => {}
                done => {
                    outcome = Some(done);
                    return Ok(Step::Done);
                }
            }
            if deadline.is_some_and(|deadline| engine.packets().now() >= deadline) {
                outcome = Some(Ok(None));
                return Ok(Step::Done);
            }
            match engine.step() {
                Ok(any) => {
                    idle = !any;
                    Ok(if any { Step::Progress } else { Step::Idle })
                }
                Err(error) => {
                    outcome = Some(Err(error));
                    Ok(Step::Done)
                }
            }
        })?;
        outcome.unwrap_or_else(|| unreachable!("the wait ended with an outcome"))
    }
}

impl Drop for Leading<'_> {
    fn drop(&mut self) {
        let mut state = self.engine.state.enter();
        state.depth -= 1;
        if state.depth > 0 {
            return;
        }
        state.leader = 0;
        let next = state.followers.pop();
        drop(state);
        match next {
            Some((_, waker)) => waker.wake(),
            None if self.engine.tasks.is_ready() => self.engine.packets().set_errand(true),
            None => {}
        }
    }
}

/// A timer that wakes the leader.
struct Alarm<'a> {
    engine: &'a Engine,
    time: Duration,
    number: u64,
}

impl<'a> Alarm<'a> {
    fn set(engine: &'a Engine, time: Duration) -> Self {
        let number = engine.tasks.wake_at(time, &engine.nudger);
        Alarm { engine, time, number }
    }
}

impl Drop for Alarm<'_> {
    fn drop(&mut self) {
        self.engine.tasks.forget(self.time, self.number);
    }
}

/// A point in time that somebody waits for.
struct Sleep {
    engine: Arc<Engine>,
    deadline: Duration,
    timer: Option<u64>,
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: std::pin::Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        self.forget();
        if self.engine.packets().now() >= self.deadline {
            return Poll::Ready(());
        }
        self.engine.somebody_waits();
        self.timer = Some(self.engine.tasks.wake_at(self.deadline, context.waker()));
        Poll::Pending
    }
}

impl Sleep {
    fn forget(&mut self) {
        if let Some(number) = self.timer.take() {
            self.engine.tasks.forget(self.deadline, number);
        }
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        self.forget();
    }
}
