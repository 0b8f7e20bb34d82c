//! The thread that polls, and the waits of all others (thesis 6.2.2).
//!
//! Of the threads that wait, one *leads*: it polls, and sleeps where an arrival wakes it. The
//! others follow: they are parked, and woken by what they wait for, or to lead when the leader has
//! what it wanted. Tasks are woken in the same way, and run by the leader. While no thread waits,
//! all of them compute, and the upcall thread takes what arrives. Coroutines of a simulated rank
//! are one thread here, and all of them that wait lead, each when it has the processor.

use crate::announced::Asker;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::seats::Seats;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;
use std::time::Duration;
use weft_endpoint::biased::{Entered, this_thread};
use weft_endpoint::{Awaited, Packets, Step, Whom};

/// The longest that a follower is parked before it looks by itself (invariant I9).
const LONGEST_PARK: Duration = Duration::from_millis(100);

/// Object of a wait, made when somebody may want to know it.
pub(crate) type What<'a> = &'a (dyn Fn() -> Awaited + 'a);

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
    /// Makes progress until `look` finds something. Given a waker, a `look` that finds nothing has
    /// left it where it will be woken once there may be something; without one, the caller looks
    /// again by itself.
    pub(crate) fn wait<T>(
        self: &Arc<Self>,
        look: impl FnMut(&Arc<Engine>, Option<&Waker>) -> Result<Option<T>>,
    ) -> Result<T> {
        match self.wait_until(None, None, look)? {
            Some(found) => Ok(found),
            None => unreachable!("a wait without a deadline ends when something is found"),
        }
    }

    /// Does what [`Self::wait`] does, until `deadline` at most, by the clock of [`Packets::now`],
    /// for an asker that `look` looks at.
    pub(crate) fn wait_until<T>(
        self: &Arc<Self>,
        deadline: Option<Duration>,
        asker: Option<&Asker<'_>>,
        mut look: impl FnMut(&Arc<Engine>, Option<&Waker>) -> Result<Option<T>>,
    ) -> Result<Option<T>> {
        self.wait_for(&|| Awaited::of_unknown("its peers"), deadline, asker, &mut look)
    }

    /// Does what [`Self::wait_until`] does, and lets others know `what` this rank waits for.
    pub(crate) fn wait_for<T>(
        self: &Arc<Self>,
        what: What<'_>,
        deadline: Option<Duration>,
        asker: Option<&Asker<'_>>,
        mut look: impl FnMut(&Arc<Engine>, Option<&Waker>) -> Result<Option<T>>,
    ) -> Result<Option<T>> {
        let follow = |deadline, look: &mut _| self.follow(deadline, look);
        self.wait_following(what, deadline, asker, follow, &mut look)
    }

    /// Waits for a condition that wakes nobody: it is looked at whenever a thread that leads has
    /// nothing else to do, or was rung. Lets others know `what` this rank waits for.
    pub(crate) fn watch_for(
        self: &Arc<Self>,
        what: What<'_>,
        mut look: impl FnMut(&Arc<Engine>) -> Result<bool>,
    ) -> Result<()> {
        let mut look = |engine: &Arc<Engine>, _: Option<&Waker>| Ok(look(engine)?.then_some(()));
        let follow = |deadline: Option<Duration>, look: &mut _| {
            self.watchers.fetch_add(1, Ordering::SeqCst);
            let followed = self.follow(deadline, look);
            self.watchers.fetch_sub(1, Ordering::SeqCst);
            followed
        };
        self.wait_following(what, None, None, follow, &mut look).map(drop)
    }

    fn wait_following<T, L: FnMut(&Arc<Engine>, Option<&Waker>) -> Result<Option<T>>>(
        self: &Arc<Self>,
        what: What<'_>,
        deadline: Option<Duration>,
        asker: Option<&Asker<'_>>,
        follow: impl Fn(Option<Duration>, &mut L) -> Result<Poll<Option<T>>>,
        look: &mut L,
    ) -> Result<Option<T>> {
        if let Some(found) = look(self, None)? {
            return Ok(Some(found));
        }
        // What is there already is taken without leading anybody.
        while self.step(asker)? {
            if let Some(found) = look(self, None)? {
                self.defer_pending();
                return Ok(Some(found));
            }
        }
        self.wait_longer(what, deadline, asker, follow, look)
    }

    /// Waits for what is not there yet.
    #[inline(never)]
    fn wait_longer<T, L: FnMut(&Arc<Engine>, Option<&Waker>) -> Result<Option<T>>>(
        self: &Arc<Self>,
        what: What<'_>,
        deadline: Option<Duration>,
        asker: Option<&Asker<'_>>,
        follow: impl Fn(Option<Duration>, &mut L) -> Result<Poll<Option<T>>>,
        look: &mut L,
    ) -> Result<Option<T>> {
        loop {
            self.raise_incident(None)?;
            if let Some(leading) = self.lead() {
                return leading.poll_until(what, deadline, asker, look);
            }
            if let Poll::Ready(outcome) = follow(deadline, look)? {
                return Ok(outcome);
            }
        }
    }

    /// Has the upcall thread run the handlers that the last step of this thread left. This thread
    /// may not poll again for long, and unless another packet comes nobody would see them.
    #[inline]
    fn defer_pending(&self) {
        // After a failure nothing runs any more, and what is pending stays.
        if self.has_pending() && self.failure().is_none() {
            self.have_handlers_run();
        }
    }

    /// Makes progress until `done` says so. It is asked after each packet, and by nothing else:
    /// what it looks at is changed by handlers of this rank.
    ///
    /// # Errors
    /// Those of [`Self::progress`].
    pub fn poll_until(self: &Arc<Self>, mut done: impl FnMut() -> bool) -> Result<()> {
        let what = || Awaited::new("what its handlers are to do", Whom::Anyone);
        self.wait_for(&what, None, None, |_, _| Ok(done().then_some(()))).map(drop)
    }

    /// Has all that follow look again.
    pub(crate) fn wake_followers(&self) {
        let followers = self.seats.enter().followers();
        followers.into_iter().for_each(Waker::wake);
    }

    /// Runs `future` to its end on this thread, which polls meanwhile, or waits for who does.
    ///
    /// # Errors
    /// Those of [`Self::progress`]; the future is dropped then.
    pub fn block_on<T>(self: &Arc<Self>, future: impl Future<Output = T>) -> Result<T> {
        let mut future = pin!(future);
        let woken = Arc::new(Woken {
            woken: AtomicBool::new(true),
            waiter: self.nudger.clone(),
            waiting: AtomicBool::new(false),
            thread: std::thread::current(),
        });
        let waker = Waker::from(Arc::clone(&woken));
        let _blocked = Blocked::on(self);
        let what = || Awaited::of_unknown("a future");
        let found = self.wait_for(&what, None, None, |_, follower| {
            woken.waiting.store(follower.is_some(), Ordering::SeqCst);
            if !woken.woken.swap(false, Ordering::SeqCst) {
                return Ok(None);
            }
            match future.as_mut().poll(&mut Context::from_waker(&waker)) {
                Poll::Ready(value) => Ok(Some(value)),
                Poll::Pending => Ok(None),
            }
        })?;
        Ok(found.unwrap_or_else(|| unreachable!("a wait without a deadline ends with a value")))
    }

    /// Waits for `time`.
    pub fn sleep(self: &Arc<Self>, time: Duration) -> impl Future<Output = ()> + Send + use<> {
        let deadline = self.packets().now() + time;
        Sleep { engine: Arc::clone(self), deadline, timer: None }
    }

    /// Result of `future`, or [`Error::TimedOut`] after `time`.
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

    /// Has arrivals looked at even if no thread of Weft's waits: a task of somebody else's executor
    /// does.
    pub(crate) fn somebody_waits(&self) {
        let waits = self.seats.enter().waits(this_thread());
        if !waits && !self.state.enter().is_handling() {
            self.packets().set_eager();
        }
    }

    /// Becomes the thread that polls, unless another is.
    fn lead(self: &Arc<Self>) -> Option<Leading<'_>> {
        // Made only if it leads: dropping it ends that.
        let leads = self.seats.enter().lead(this_thread());
        leads.then(|| Leading { engine: self })
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
        if !self.seats.enter().follow(me, &waker) {
            return Ok(Poll::Pending);
        }
        let found = self.park(&parked, &waker, deadline, look);
        let mut seats = self.seats.enter();
        seats.leave(me);
        // Whoever leaves with what it wanted passes on that somebody has to lead.
        if !matches!(found, Ok(Poll::Pending)) {
            self.hand_over(seats);
        }
        found
    }

    /// Nobody leads any more: one of those who wait does, or else the upcall thread runs what is
    /// ready.
    fn hand_over(&self, mut seats: Entered<'_, Seats>) {
        if seats.is_led() {
            return;
        }
        let next = seats.successor();
        drop(seats);
        match next {
            Some(waker) => waker.wake(),
            None if self.tasks.is_ready() => self.packets().set_pending_work(true),
            None => {}
        }
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
        what: What<'_>,
        deadline: Option<Duration>,
        asker: Option<&Asker<'_>>,
        look: &mut impl FnMut(&Arc<Engine>, Option<&Waker>) -> Result<Option<T>>,
    ) -> Result<Option<T>> {
        let engine = self.engine;
        // What ends by itself is nobody's to end.
        let what = || match what() {
            awaited if deadline.is_none() && !engine.tasks.any_naps() => awaited,
            awaited => Awaited { whom: Whom::Unknown, ..awaited },
        };
        let mut outcome = None;
        let mut idle = false;
        engine.packets().wait_for(&what, deadline, &mut || {
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
            match engine.step(asker) {
                Ok(any) => {
                    idle = !any;
                    if idle && engine.watchers.load(Ordering::SeqCst) > 0 {
                        engine.wake_followers();
                    }
                    Ok(Step::of(any))
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
        let mut seats = self.engine.seats.enter();
        if !seats.resign() {
            return;
        }
        self.engine.hand_over(seats);
        self.engine.defer_pending();
    }
}

/// This thread waits for a future: it polls, or follows who does.
struct Blocked<'a>(&'a Engine);

impl<'a> Blocked<'a> {
    fn on(engine: &'a Engine) -> Self {
        engine.seats.enter().block(this_thread());
        Blocked(engine)
    }
}

impl Drop for Blocked<'_> {
    fn drop(&mut self) {
        self.0.seats.enter().unblock(this_thread());
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
        self.engine.tasks.naps.fetch_add(1, Ordering::Relaxed);
        Poll::Pending
    }
}

impl Sleep {
    fn forget(&mut self) {
        if let Some(number) = self.timer.take() {
            self.engine.tasks.naps.fetch_sub(1, Ordering::Relaxed);
            self.engine.tasks.forget(self.deadline, number);
        }
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        self.forget();
    }
}
