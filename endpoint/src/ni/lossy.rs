//! Links that may lose frames: timers that have to be served, packets held back to be coalesced,
//! and an end of the program that waits until all has arrived. On other links none of this runs,
//! and the compiler leaves it out.
//!
//! A thread that enters the node tells the protocol the time, and flushes the link when it unlocks
//! the node. A thread that sleeps does so until the next timer at most. While the program computes,
//! the upcall thread serves the timers, and receives acknowledgements. What leaves when, and when
//! that thread looks, [`presence`](crate::presence) says.

use crate::Result;
use crate::biased::Entered;
use crate::ni::inner::Inner;
use crate::ni::interface::Interface;
use crate::ni::offloaded::Side;
use crate::presence::coalescing::{FlushHint, Leaves};
use std::ops::RangeInclusive;
use std::time::Duration;
use weft_link::bell::Waiter;
use weft_link::clock::{Clock, Nanoseconds};
use weft_link::{Link, Network, has_buffered, has_unflushed};
use weft_protocol::PacketBody;
use weft_wire::Rank;

impl<L: Link> Inner<L> {
    /// Runs the host's protocol, which runs in the same calls here, on the packets that the NI has
    /// deferred.
    pub fn receive_all_deferred(&mut self) -> Result<()> {
        while let Some(deferred) = self.offloaded.deferred.pop_front() {
            let body = deferred.body;
            let (ni, mut out) = self.split(Side::Host);
            if let Err(violation) = ni.host_received(deferred, &mut out) {
                if let PacketBody::Buffer(buffer) = body {
                    self.link.free(buffer);
                }
                return Err(violation.into());
            }
        }
        Ok(())
    }
}

impl<L: Link> Interface<L> {
    /// Unlocks the node, and flushes transmitted packets.
    #[inline(always)]
    pub(crate) fn exit_and_flush(&self, mut inner: Entered<'_, Inner<L>>) {
        if L::NETWORK.is_some() {
            self.attendance.hint.set(FlushHint::Nothing);
            let held = inner.coalescing.has_left();
            inner.link.flush();
            if held {
                self.attendance.fallback.left(inner.ni.now());
            }
            self.look_after_timers(inner);
        }
    }

    /// Unlocks the node after a look that found something, or did not.
    #[inline(always)]
    pub(crate) fn exit_after_look(&self, mut inner: Entered<'_, Inner<L>>, found: bool) {
        if L::NETWORK.is_some() {
            let Inner { coalescing, link, .. } = &mut *inner;
            let leaves = match found {
                true => coalescing.has_found(|| has_buffered(link)),
                false => coalescing.has_found_nothing(),
            };
            self.exit(inner, leaves);
        }
    }

    /// A thread does not sleep any more. That is a visit, because the upcall thread, which counts
    /// on those who sleep, may have armed no bell beside them.
    pub(crate) fn exit_after_sleep(&self) {
        let mut inner = self.inner.enter();
        inner.link.disarm(Waiter::Host);
        if L::NETWORK.is_some() {
            self.tell_time(&mut inner);
            self.exit_and_flush(inner);
        }
    }

    /// Unlocks the node after a packet to `to`, or to several ranks.
    #[inline(always)]
    pub(crate) fn exit_after_launch(&self, mut inner: Entered<'_, Inner<L>>, to: Option<Rank>) {
        if L::NETWORK.is_some() {
            let now = inner.ni.now();
            let leaves = inner.coalescing.launched(self.attendance.hint.get(), to, now);
            self.exit(inner, leaves);
        }
    }

    /// Unlocks the node after the program has given a packet back.
    #[inline(always)]
    pub(crate) fn exit_after_release(&self, mut inner: Entered<'_, Inner<L>>) {
        if L::NETWORK.is_some() {
            let Inner { coalescing, link, .. } = &mut *inner;
            let leaves = coalescing.released(self.attendance.hint.get(), || has_buffered(link));
            self.exit(inner, leaves);
        }
    }

    /// Unlocks the node; transmitted packets leave at this time.
    #[inline(always)]
    fn exit(&self, inner: Entered<'_, Inner<L>>, leaves: Leaves) {
        match leaves {
            Leaves::AtOnce => self.exit_and_flush(inner),
            Leaves::Soon => self.exit_and_coalesce(inner),
            Leaves::WithNext => self.look_after_timers(inner),
        }
    }

    /// Unlocks the node; transmitted packets may be held back for others.
    #[inline]
    fn exit_and_coalesce(&self, mut inner: Entered<'_, Inner<L>>) {
        if !has_unflushed(&inner.link) {
            return self.exit_and_flush(inner);
        }
        let (now, fallback) = (inner.ni.now(), &self.attendance.fallback);
        let since = inner.coalescing.hold(now).filter(|_| fallback.is_watched());
        let Some(since) = since else { return self.exit_and_flush(inner) };
        if let Some(times) = fallback.holds(now, since, inner.coalescing.holds_packets()) {
            self.set_timer(inner, now, times);
            fallback.looks_for_held();
        }
    }

    /// Puts the upcall thread's look off, if that is due.
    #[inline(always)]
    fn look_after_timers(&self, inner: Entered<'_, Inner<L>>) {
        let (now, fallback) = (inner.ni.now(), &self.attendance.fallback);
        if fallback.is_visit_due(now)
            && let Some(times) = fallback.visited(now)
        {
            self.set_timer(inner, now, times);
        }
    }

    /// Has the upcall thread sleep for one of these times from now on, the shorter the better: the
    /// program is here, and sees to its packets and timers itself. No arrival wakes that thread
    /// until then. It costs a system call or two.
    #[cold]
    fn set_timer(
        &self,
        mut inner: Entered<'_, Inner<L>>,
        now: Nanoseconds,
        times: RangeInclusive<Nanoseconds>,
    ) {
        inner.link.disarm(Waiter::Upcall);
        let fallback = &self.attendance.fallback;
        fallback.timer_is_set(now, &times);
        let (shortest, longest) = (*times.start(), *times.end());
        let within = Duration::from_nanos(shortest)..=Duration::from_nanos(longest);
        match ring_upcall_within(&mut inner.link, within) {
            Some(time) => fallback.timer_set(now, &times, time.as_nanos() as u64),
            None => {
                drop(inner);
                self.attendance.bells.ring(Waiter::Upcall);
            }
        }
    }

    /// Time until the protocol has to be told the time.
    pub(crate) fn until_timer(&self) -> Duration {
        if L::NETWORK.is_none() {
            return Duration::MAX;
        }
        let deadline = self.inner.enter().ni.next_deadline();
        deadline.map_or(Duration::MAX, |(deadline, _)| self.until(deadline))
    }

    /// Serves the protocol in place of the program: receives, and runs out timers. No upcall is
    /// made.
    pub(crate) fn serve(&self) {
        // A host that is inside does the same.
        let Some(mut inner) = self.inner.try_enter() else { return };
        self.serve_inside(&mut inner);
        let any = !inner.pending.is_empty();
        drop(inner);
        if any {
            // The arrival that would have woken it is no longer in the link.
            self.attendance.nudge();
        }
    }

    /// Receives first, so that no timer runs out for an acknowledgement that has come.
    pub(crate) fn serve_inside(&self, inner: &mut Entered<'_, Inner<L>>) {
        inner.ni.tell_time(self.clock.now());
        // Threads that wait get the failure.
        let _ = inner.drain();
        self.tell_time(inner);
        inner.coalescing.has_left();
        inner.link.flush();
    }
}

/// Has the link's timer ring the upcall thread, if it has one ([`Network`]).
pub(crate) fn ring_upcall_within<L: Link>(
    link: &mut L,
    times: RangeInclusive<Duration>,
) -> Option<Duration> {
    L::NETWORK?.ring_upcall_within(link, times)
}
