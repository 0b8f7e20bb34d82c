//! Where frames may be lost: timers that somebody has to serve, packets held back for company, and an
//! end that waits until everything has arrived. On other links nothing of this runs, and the compiler
//! leaves it out.
//!
//! Who enters the node tells the protocol the time, and flushes the link when leaving. Who sleeps does so
//! until the next timer at most. While the program computes, the upcall thread serves the timers, and
//! receives acknowledgements: it is rung if a timer will run out before it would look by itself.

use crate::biased::Entered;
use crate::inner::{Inner, Side};
use crate::node::Node;
use crate::{AnyNode, Result};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use weft_link::Link;
use weft_link::bell::{Ticket, Waiter};
use weft_link::clock::{Clock, Nanoseconds};
use weft_protocol::Body;

/// The upcall thread leaves timers to a program that polls for this long, and does not look more often.
const GRACE: Nanoseconds = 250_000;
/// A rank that ends gives up after so long without any progress.
const PATIENCE: Nanoseconds = 1_000_000_000;
/// The longest that a rank that has ended stays for others.
const LONGEST_STAY: Nanoseconds = 100_000_000;

/// Who serves timers while nobody polls, and whether packets are held back.
#[derive(Default)]
pub(crate) struct Backstop {
    /// When the upcall thread looks again by itself; 0 while it is awake, or there is none.
    looks_at: AtomicU64,
    held: AtomicBool,
}

impl Backstop {
    /// The upcall thread is awake, and needs no ringing.
    pub fn awake(&self) {
        self.looks_at.store(0, Ordering::Relaxed);
    }

    #[inline]
    pub fn hold(&self, held: bool) {
        self.held.store(held, Ordering::Relaxed);
    }
}

impl<L: Link> Inner<L> {
    /// Runs the host's protocol, which is in the same place here, on what the NI has left to it.
    pub fn receive_left_behind(&mut self) -> Result<()> {
        if let Some(failure) = &self.apart.failure {
            return Err(failure.clone());
        }
        while let Some(deferred) = self.apart.deferred.pop_front() {
            let body = deferred.body;
            let (ni, mut out) = self.split(Side::Host);
            if let Err(violation) = ni.host_received(deferred, &mut out) {
                if let Body::Buffer(buffer) = body {
                    self.link.free(buffer);
                }
                return Err(violation.into());
            }
        }
        Ok(())
    }
}

impl<L: Link> Node<L> {
    /// Leaves the node; what was transmitted leaves too.
    #[inline(always)]
    pub(crate) fn leave(&self, mut inner: Entered<'_, Inner<L>>) {
        if L::LOSSY {
            self.backstop.hold(false);
            inner.link.flush();
            self.look_after_timers(inner);
        }
    }

    /// The same, for who may be told that more follows.
    #[inline(always)]
    pub(crate) fn leave_unless_held(&self, inner: Entered<'_, Inner<L>>) {
        if !L::LOSSY {
            return;
        }
        match self.backstop.held.load(Ordering::Relaxed) {
            true => self.look_after_timers(inner),
            false => self.leave(inner),
        }
    }

    /// Rings the upcall thread if it sleeps beyond the next timer.
    #[inline]
    fn look_after_timers(&self, inner: Entered<'_, Inner<L>>) {
        let looks_at = self.backstop.looks_at.load(Ordering::Relaxed);
        if looks_at == 0 {
            return;
        }
        let deadline = inner.ni.next_deadline().map_or(u64::MAX, |(deadline, _)| deadline);
        if deadline.saturating_add(2 * GRACE) < looks_at {
            self.backstop.looks_at.store(0, Ordering::Relaxed);
            drop(inner);
            self.bells.ring(Waiter::Watch);
        }
    }

    /// How long it is until the protocol has to be told the time.
    pub(crate) fn until_timer(&self) -> Duration {
        if !L::LOSSY {
            return Duration::MAX;
        }
        let deadline = self.inner.enter().ni.next_deadline();
        deadline.map_or(Duration::MAX, |(deadline, _)| self.until(deadline))
    }

    fn until(&self, time: Nanoseconds) -> Duration {
        Duration::from_nanos(time.saturating_sub(self.clock.now()))
    }

    /// Arms the upcall thread's bell, for a sleep that lasts no longer than `limit`; returns with the
    /// ticket how long it may last. `None` if something is there, or the host is inside.
    pub(crate) fn arm_watch(&self, limit: Duration) -> Option<(Ticket, Duration)> {
        let limit = limit.min(self.until_alarm());
        let mut inner = self.inner.try_enter()?;
        if !inner.pending.is_empty() {
            return None;
        }
        let ticket = inner.link.arm(Waiter::Watch)?;
        Some((ticket, self.announce_sleep(&inner, limit)))
    }

    /// The upcall thread will sleep for `limit`, or until shortly after the next timer.
    fn announce_sleep(&self, inner: &Inner<L>, limit: Duration) -> Duration {
        if !L::LOSSY {
            return limit;
        }
        let now = self.clock.now();
        let timer = inner.ni.next_deadline().map_or(u64::MAX, |(deadline, _)| deadline);
        let looks_at = (timer.max(now).saturating_add(GRACE))
            .min(now.saturating_add(u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX)));
        self.backstop.looks_at.store(looks_at, Ordering::Relaxed);
        Duration::from_nanos(looks_at - now)
    }

    /// What the upcall thread does for the protocol when it is awake: receives, and runs out timers. No
    /// upcall is made.
    pub(crate) fn serve(&self) {
        if !L::LOSSY {
            return;
        }
        // A host that is inside does the same.
        let Some(mut inner) = self.inner.try_enter() else { return };
        self.tell_time(&mut inner);
        if let Err(error) = inner.drain() {
            inner.apart.failure.get_or_insert(error);
        }
        let any = !inner.pending.is_empty();
        self.leave(inner);
        if any {
            // What would have woken it is no longer in the link.
            self.nudge();
        }
    }

    /// Whether somebody has to look at this node at times, whatever its program and its upcalls do, and
    /// how often.
    pub(crate) fn heartbeat(&self) -> Option<Duration> {
        let silence = self.inner.enter().ni.settings().silence.filter(|_| L::LOSSY);
        silence.map(|silence| Duration::from_nanos(silence.heartbeat_after / 2))
    }

    /// Looks at it, and leaves what has come to the upcall thread.
    pub(crate) fn beat(&self) {
        self.serve();
        if self.try_has_arrivals().unwrap_or(false) {
            self.bells.ring(Waiter::Watch);
        }
    }

    pub(crate) fn linger_until_quiet(&self) {
        self.say_farewell();
        let stay = self.inner.enter().ni.settings().retransmit_after.saturating_mul(4);
        let stay = stay.min(LONGEST_STAY);
        let mut last = self.clock.now();
        while let Ok(progress) = self.receive_and_forget() {
            let now = self.clock.now();
            if progress {
                last = now;
            }
            let patience = if self.is_flushed() { stay } else { PATIENCE };
            if now - last >= patience {
                return;
            }
            if !progress {
                self.doze(Duration::from_nanos(patience - (now - last)));
            }
        }
    }

    fn say_farewell(&self) {
        let mut inner = self.inner.enter();
        self.tell_time(&mut inner);
        let (ni, mut out) = inner.split(Side::Host);
        ni.leave(&mut out);
        self.leave(inner);
    }

    /// Receives, and gives back at once what is for a program that has ended: peers may wait for what is
    /// behind it.
    fn receive_and_forget(&self) -> Result<bool> {
        let any = self.drain()?;
        let mut inner = self.inner.enter();
        while let Some(delivery) = inner.pending.pop_front() {
            inner.release(delivery);
        }
        self.leave(inner);
        Ok(any)
    }

    /// Sleeps until something arrives, a timer runs out, or `limit` has passed.
    fn doze(&self, limit: Duration) {
        let Some(ticket) = self.inner.enter().link.arm(Waiter::Host) else { return };
        self.bells.wait(Waiter::Host, ticket, limit.min(self.until_timer()));
        self.inner.enter().link.disarm(Waiter::Host);
    }
}
