//! Where frames may be lost: timers that somebody has to serve, packets held back for company, and an
//! end that waits until everything has arrived. On other links nothing of this runs, and the compiler
//! leaves it out.
//!
//! Who enters the node tells the protocol the time, and flushes the link when leaving. Who sleeps does so
//! until the next timer at most. While the program computes, the upcall thread serves the timers, and
//! receives acknowledgements: it is rung if a timer will run out before it would look by itself.

use crate::biased::Entered;
use crate::ni::inner::{Inner, Side};
use crate::ni::node::Node;
use crate::{AnyNode, Result};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::time::Duration;
use weft_link::Link;
use weft_link::bell::{Ticket, Waiter};
use weft_link::clock::{Clock, Nanoseconds};
use weft_protocol::Body;
use weft_wire::Rank;

/// A packet waits for company for so long, if the program goes on sending.
const COALESCE_FOR: Nanoseconds = 10_000;
/// And for so long, if it does not, and the upcall thread has to see to it.
const LONGEST_WAIT: Nanoseconds = 100_000;
/// The upcall thread leaves timers to a program that polls for this long, and does not look more often.
const GRACE: Nanoseconds = 250_000;
/// A rank that ends gives up after so long without any progress.
const PATIENCE: Nanoseconds = 1_000_000_000;
/// The longest that a rank that has ended stays for others.
const LONGEST_STAY: Nanoseconds = 100_000_000;

/// Who serves timers while nobody polls, and whether packets are held back.
#[derive(Default)]
pub(crate) struct TimerFallback {
    /// Whether there is an upcall thread.
    watched: AtomicBool,
    /// When the upcall thread looks again by itself; 0 while it is awake, or there is none.
    looks_at: AtomicU64,
    hint: AtomicU8,
}

/// What the layer above has said of the packet that it launches next: nothing; that more follow at once;
/// that it is the last of these.
const NO_HINT: u8 = 0;
const MORE: u8 = 1;
const LAST: u8 = 2;

/// Packets that wait in the link for others, to share a datagram and a system call with.
///
/// The first packet to a rank since the program last looked at the network leaves at once, so that who
/// sends one thing and waits for the answer does not wait for anything else (the fast path of Pupa 2.3).
/// The second shows that there are more.
#[derive(Default)]
pub(crate) struct Coalescing {
    /// To whom the last packet went, since the program looked.
    last: Option<Rank>,
    /// Since when packets wait.
    since: Option<Nanoseconds>,
}

impl TimerFallback {
    /// From here on there is an upcall thread.
    pub fn watched(&self) {
        self.watched.store(true, Ordering::Relaxed);
    }

    /// The upcall thread is awake, and needs no ringing.
    pub fn awake(&self) {
        self.looks_at.store(0, Ordering::Relaxed);
    }

    /// More packets follow at once, or the next is the last of them.
    #[inline]
    pub fn hold(&self, held: bool) {
        self.hint.store(if held { MORE } else { LAST }, Ordering::Relaxed);
    }

    fn hint(&self) -> u8 {
        self.hint.load(Ordering::Relaxed)
    }
}

impl<L: Link> Inner<L> {
    /// Runs the host's protocol, which is in the same place here, on what the NI has left to it.
    pub fn receive_left_behind(&mut self) -> Result<()> {
        while let Some(deferred) = self.offloaded.deferred.pop_front() {
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
    pub(crate) fn exit_and_flush(&self, mut inner: Entered<'_, Inner<L>>) {
        if L::LOSSY {
            self.timer_fallback.hint.store(NO_HINT, Ordering::Relaxed);
            inner.coalescing.since = None;
            inner.link.flush();
            self.look_after_timers(inner);
        }
    }

    /// Leaves the node after a look at what has come. What was transmitted leaves too, unless more has
    /// come already, which may have to be answered too.
    #[inline(always)]
    pub(crate) fn exit_after_look(&self, mut inner: Entered<'_, Inner<L>>) {
        if !L::LOSSY {
            return;
        }
        if inner.link.has_buffered() {
            return self.hold_back(inner);
        }
        inner.coalescing.last = None;
        self.exit_and_flush(inner);
    }

    /// Leaves the node after a packet to `to`, or to several.
    #[inline(always)]
    pub(crate) fn exit_after_launch(&self, mut inner: Entered<'_, Inner<L>>, to: Option<Rank>) {
        if !L::LOSSY {
            return;
        }
        let has_company = to.is_some() && inner.coalescing.last == to;
        inner.coalescing.last = to;
        match self.timer_fallback.hint() {
            MORE => self.look_after_timers(inner),
            NO_HINT if has_company => self.hold_back(inner),
            _ => self.exit_and_flush(inner),
        }
    }

    /// Leaves the node after the program has given a packet back.
    #[inline(always)]
    pub(crate) fn exit_after_release(&self, inner: Entered<'_, Inner<L>>) {
        match self.timer_fallback.hint() {
            MORE if L::LOSSY => self.look_after_timers(inner),
            _ => self.exit_after_look(inner),
        }
    }

    /// Leaves the node; what was transmitted may stay for a while.
    #[inline]
    fn hold_back(&self, mut inner: Entered<'_, Inner<L>>) {
        let now = inner.ni.now();
        let since = *inner.coalescing.since.get_or_insert(now);
        if now.saturating_sub(since) >= COALESCE_FOR
            || !self.timer_fallback.watched.load(Ordering::Relaxed)
        {
            return self.exit_and_flush(inner);
        }
        self.have_watched_by(inner, since + LONGEST_WAIT, LONGEST_WAIT);
    }

    /// Rings the upcall thread if it sleeps beyond the next timer.
    #[inline]
    fn look_after_timers(&self, inner: Entered<'_, Inner<L>>) {
        let deadline = inner.ni.next_deadline().map_or(u64::MAX, |(deadline, _)| deadline);
        self.have_watched_by(inner, deadline, 2 * GRACE);
    }

    /// Rings the upcall thread if it sleeps for much longer than until `deadline`.
    #[inline]
    fn have_watched_by(
        &self,
        inner: Entered<'_, Inner<L>>,
        deadline: Nanoseconds,
        grace: Nanoseconds,
    ) {
        let looks_at = self.timer_fallback.looks_at.load(Ordering::Relaxed);
        if looks_at > 0 && deadline.saturating_add(grace) < looks_at {
            self.timer_fallback.looks_at.store(0, Ordering::Relaxed);
            drop(inner);
            self.bells.ring(Waiter::Upcall);
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
        let mut inner = self.inner.try_enter()?;
        if !inner.pending.is_empty() {
            return None;
        }
        let ticket = inner.link.arm(Waiter::Upcall)?;
        // After the ticket: who sets an earlier alarm from here on rings the bell.
        let limit = limit.min(self.until_alarm());
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
        self.timer_fallback.looks_at.store(looks_at, Ordering::Relaxed);
        Duration::from_nanos(looks_at - now)
    }

    /// The upcall thread will not look for `time`, unless it is rung.
    pub(crate) fn announce_pause(&self, time: Duration) {
        if L::LOSSY {
            let time = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
            let looks_at = self.clock.now().saturating_add(time);
            self.timer_fallback.looks_at.store(looks_at, Ordering::Relaxed);
        }
    }

    /// Sends what has waited for company for long, beside a host that goes on.
    pub(crate) fn send_held(&self) {
        if !L::LOSSY {
            return;
        }
        let Some(inner) = self.inner.try_enter() else { return };
        if inner.coalescing.since.is_some_and(|since| self.clock.now() >= since + COALESCE_FOR) {
            self.exit_and_flush(inner);
        }
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
        // Who waits hears of a failure.
        let _ = inner.drain();
        let any = !inner.pending.is_empty();
        self.exit_and_flush(inner);
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
        if let Some(mut inner) = self.inner.try_enter()
            && let Some(silence) = inner.ni.settings().silence
        {
            inner.look_at_ways(self.clock.now(), silence.lost_after);
        }
        if self.try_has_arrivals().unwrap_or(false) {
            self.bells.ring(Waiter::Upcall);
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
        self.exit_and_flush(inner);
    }

    /// Receives, and gives back at once what is for a program that has ended: peers may wait for what is
    /// behind it.
    fn receive_and_forget(&self) -> Result<bool> {
        let any = self.drain()?;
        let mut inner = self.inner.enter();
        while let Some(delivery) = inner.pending.pop_front() {
            inner.release(delivery);
        }
        self.exit_and_flush(inner);
        Ok(any)
    }

    /// Sleeps until something arrives, a timer runs out, or `limit` has passed.
    fn doze(&self, limit: Duration) {
        let Some(ticket) = self.inner.enter().link.arm(Waiter::Host) else { return };
        self.bells.wait(Waiter::Host, ticket, limit.min(self.until_timer()));
        self.inner.enter().link.disarm(Waiter::Host);
    }
}
