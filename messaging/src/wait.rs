//! The thread that polls, and the waits of all others (thesis 6.2.2).
//!
//! Of the threads that wait, one *leads*: it polls, and sleeps where an arrival wakes it. The
//! others follow: they are parked, and woken by what they wait for, or to lead when the leader has
//! what it wanted. Tasks are woken in the same way, and run by the leader. While no thread waits,
//! all of them compute, and the upcall thread takes what arrives. Coroutines of a simulated rank
//! are one thread here, and all of them that wait lead, each when it has the processor.

use crate::error::Result;
use crate::seats::Seats;
use crate::tasks::Tasks;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;
use std::time::Duration;
use weft_endpoint::biased::{Biased, Entered, this_thread};
use weft_endpoint::{Awaited, Packets, Step, Whom};

/// The longest that a follower is parked before it looks by itself (invariant I9).
const LONGEST_PARK: Duration = Duration::from_millis(100);

/// Object of a wait, made when somebody may want to know it.
pub(crate) type What<'a> = &'a (dyn Fn() -> Awaited + 'a);

/// Work that a thread does while it waits. Its waits make progress until `look` finds something, or
/// fails. Given a waker, a `look` that finds nothing has left it where it will be woken once there
/// may be something; without one, the caller looks again by itself. Others get to know `what` this
/// rank waits for.
pub(crate) trait Polls: Copy {
    /// The threads that take turns at it.
    fn threads(&self) -> &Threads;

    /// Takes one packet, and runs what is ready. True if anything happened.
    fn poll(self) -> Result<bool>;

    /// Returns a fault that the program has not heard of, once.
    fn raise_incident(self) -> Result<()>;

    /// Leaves what is ready to the upcall thread: this one may not poll again for long, and unless
    /// another packet comes nobody would see it.
    fn leave(self);

    /// Waits for what `look` finds.
    #[inline]
    fn wait_for<T>(
        self,
        what: What<'_>,
        look: impl FnMut(Option<&Waker>) -> Result<Option<T>>,
    ) -> Result<T> {
        match self.wait_until(what, None, look)? {
            Some(found) => Ok(found),
            None => unreachable!("a wait without a deadline ends when something is found"),
        }
    }

    /// Waits for what `look` finds, until `deadline` at most, by the clock of [`Packets::now`].
    #[inline]
    fn wait_until<T>(
        self,
        what: What<'_>,
        deadline: Option<Duration>,
        mut look: impl FnMut(Option<&Waker>) -> Result<Option<T>>,
    ) -> Result<Option<T>> {
        wait(self, Wait { what, deadline, watches: false }, &mut look)
    }

    /// Waits for a condition that wakes nobody: it is looked at whenever a thread that leads has
    /// nothing else to do, or was rung.
    fn watch_for(self, what: What<'_>, mut look: impl FnMut() -> Result<bool>) -> Result<()> {
        self.watch_until(what, None, || Ok(look()?.then_some(()))).map(drop)
    }

    /// Waits for what `look` finds, which wakes nobody, until `deadline` at most.
    fn watch_until<T>(
        self,
        what: What<'_>,
        deadline: Option<Duration>,
        mut look: impl FnMut() -> Result<Option<T>>,
    ) -> Result<Option<T>> {
        wait(self, Wait { what, deadline, watches: true }, &mut |_: Option<&Waker>| look())
    }

    /// Runs `future` to its end on this thread, which polls meanwhile, or waits for who does.
    fn block_on<T>(self, what: What<'_>, future: impl Future<Output = T>) -> Result<T> {
        let mut future = pin!(future);
        let woken = Arc::new(Woken {
            woken: AtomicBool::new(true),
            waiter: self.threads().nudger.clone(),
            waiting: AtomicBool::new(false),
            thread: std::thread::current(),
        });
        let waker = Waker::from(Arc::clone(&woken));
        let _blocked = Blocked::on(self.threads());
        self.wait_for(what, |follower| {
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
}

/// Threads of one rank, of which one polls while the others wait.
pub(crate) struct Threads {
    packets: Packets,
    tasks: Arc<Tasks>,
    seats: Arc<Biased<Seats>>,
    /// Wakes the thread that polls.
    pub nudger: Waker,
    /// Threads that follow and that nothing wakes but the leader.
    watchers: AtomicUsize,
}

/// A wait.
#[derive(Clone, Copy)]
struct Wait<'a> {
    what: What<'a>,
    deadline: Option<Duration>,
    /// True if nothing wakes it but the leader.
    watches: bool,
}

/// Wakes the thread that leads, if it sleeps.
struct Nudge(Packets);

impl Wake for Nudge {
    fn wake(self: Arc<Self>) {
        self.0.presence().nudge();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.presence().nudge();
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

/// Notes that a future was woken, and wakes the thread that polls it.
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

#[inline]
fn wait<P: Polls, T>(
    polls: P,
    wait: Wait<'_>,
    look: &mut impl FnMut(Option<&Waker>) -> Result<Option<T>>,
) -> Result<Option<T>> {
    if let Some(found) = look(None)? {
        return Ok(Some(found));
    }
    // What is there already is taken without leading anybody.
    while polls.poll()? {
        if let Some(found) = look(None)? {
            polls.leave();
            return Ok(Some(found));
        }
    }
    wait_longer(polls, wait, look)
}

/// Waits for what is not there yet.
#[inline(never)]
fn wait_longer<P: Polls, T>(
    polls: P,
    wait: Wait<'_>,
    look: &mut impl FnMut(Option<&Waker>) -> Result<Option<T>>,
) -> Result<Option<T>> {
    let threads = polls.threads();
    loop {
        polls.raise_incident()?;
        if let Some(leading) = Leading::begin(polls) {
            return leading.poll_until(wait, look);
        }
        let watches = usize::from(wait.watches);
        threads.watchers.fetch_add(watches, Ordering::SeqCst);
        let followed = threads.follow(wait.deadline, look);
        threads.watchers.fetch_sub(watches, Ordering::SeqCst);
        if let Poll::Ready(outcome) = followed? {
            return Ok(outcome);
        }
    }
}

impl Threads {
    /// Threads by whose `seats` tasks find the one that polls.
    pub fn new(packets: Packets, tasks: Arc<Tasks>, seats: Arc<Biased<Seats>>) -> Self {
        let nudger = Waker::from(Arc::new(Nudge(packets.clone())));
        Threads { packets, tasks, seats, nudger, watchers: AtomicUsize::new(0) }
    }

    /// All threads are equal from here on.
    pub fn share(&self) {
        self.seats.share();
    }

    /// Those through which threads that follow are woken.
    pub fn followers(&self) -> Vec<Waker> {
        self.seats.enter().followers()
    }

    /// Has all that follow look again.
    pub fn wake_followers(&self) {
        self.followers().into_iter().for_each(Waker::wake);
    }

    /// True if the calling thread polls, or follows who does.
    pub fn waits_here(&self) -> bool {
        self.seats.enter().waits(this_thread())
    }

    /// Waits to be woken, once. `Ready` with what was found, or with nothing when the time is up.
    fn follow<T>(
        &self,
        deadline: Option<Duration>,
        look: &mut impl FnMut(Option<&Waker>) -> Result<Option<T>>,
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
        // A leader that leaves passes the lead on.
        if !matches!(found, Ok(Poll::Pending)) {
            self.hand_over(seats);
        }
        found
    }

    fn park<T>(
        &self,
        parked: &Unpark,
        waker: &Waker,
        deadline: Option<Duration>,
        look: &mut impl FnMut(Option<&Waker>) -> Result<Option<T>>,
    ) -> Result<Poll<Option<T>>> {
        if let Some(found) = look(Some(waker))? {
            return Ok(Poll::Ready(Some(found)));
        }
        let mut limit = LONGEST_PARK;
        if let Some(deadline) = deadline {
            let left = deadline.saturating_sub(self.packets.now());
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

    /// Ends a wait of the leader. True if nobody leads any more.
    fn resign(&self) -> bool {
        let mut seats = self.seats.enter();
        let resigned = seats.resign();
        if resigned {
            self.hand_over(seats);
        }
        resigned
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
            None if self.tasks.is_ready() => self.packets.system().set_pending_work(true),
            None => {}
        }
    }
}

/// Leads while it lives.
struct Leading<P: Polls>(P);

impl<P: Polls> Leading<P> {
    /// Becomes the thread that polls, unless another is.
    fn begin(polls: P) -> Option<Self> {
        // Made only if it leads: dropping it ends that.
        polls.threads().seats.enter().lead(this_thread()).then(|| Leading(polls))
    }

    fn poll_until<T>(
        &self,
        Wait { what, deadline, .. }: Wait<'_>,
        look: &mut impl FnMut(Option<&Waker>) -> Result<Option<T>>,
    ) -> Result<Option<T>> {
        let threads = self.0.threads();
        // What ends by itself is nobody's to end.
        let what = || match what() {
            awaited if deadline.is_none() && !threads.tasks.any_naps() => awaited,
            awaited => Awaited { whom: Whom::Unknown, ..awaited },
        };
        let mut outcome = None;
        let mut idle = false;
        threads.packets.presence().wait_for(&what, deadline, &mut || {
            match look(idle.then_some(&threads.nudger)) {
                Ok(None) => {}
                done => {
                    outcome = Some(done);
                    return Ok(Step::Done);
                }
            }
            if deadline.is_some_and(|deadline| threads.packets.now() >= deadline) {
                outcome = Some(Ok(None));
                return Ok(Step::Done);
            }
            match self.0.poll() {
                Ok(any) => {
                    idle = !any;
                    if idle && threads.watchers.load(Ordering::SeqCst) > 0 {
                        threads.wake_followers();
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

impl<P: Polls> Drop for Leading<P> {
    fn drop(&mut self) {
        if self.0.threads().resign() {
            self.0.leave();
        }
    }
}

/// This thread waits for a future: it polls, or follows who does.
struct Blocked<'a>(&'a Threads);

impl<'a> Blocked<'a> {
    fn on(threads: &'a Threads) -> Self {
        threads.seats.enter().block(this_thread());
        Blocked(threads)
    }
}

impl Drop for Blocked<'_> {
    fn drop(&mut self) {
        self.0.seats.enter().unblock(this_thread());
    }
}
