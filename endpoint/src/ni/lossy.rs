//! Links that may lose frames: timers that have to be served, packets held back to be coalesced,
//! and an end of the program that waits until all has arrived. On other links none of this runs,
//! and the compiler leaves it out.
//!
//! A thread that enters the node tells the protocol the time, and flushes the link when it unlocks
//! the node. A thread that sleeps does so until the next timer at most. While the program computes,
//! the upcall thread serves the timers, and receives acknowledgements. What leaves when, and when
//! that thread looks, [`presence`](crate::presence) says.

use crate::biased::Entered;
use crate::ni::inner::{Inner, Side};
use crate::ni::node::Node;
use crate::presence::coalescing::{Hint, Leaves};
use crate::presence::stay::Stay;
use crate::{AnyNode, Result};
use std::io::{self, Write};
use std::ops::RangeInclusive;
use std::sync::atomic::Ordering;
use std::time::Duration;
use weft_link::bell::{Loss, Waiter};
use weft_link::clock::{Clock, Nanoseconds};
use weft_link::{Link, Network, PathMtu, has_buffered, has_unflushed};
use weft_protocol::Body;
use weft_wire::Rank;

/// Period in which a link looks after its paths; half that of heartbeats, if that is less.
const TEND_EVERY: Nanoseconds = 100_000_000;
/// Copies of the news of a loss, which nobody acknowledges, in a datagram each.
const TOLD_TIMES: usize = 3;

impl<L: Link> Inner<L> {
    /// Runs the host's protocol, which runs in the same calls here, on the packets that the NI has
    /// deferred.
    pub fn receive_all_deferred(&mut self) -> Result<()> {
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

    /// Has the link's timer ring the upcall thread, if it has one ([`Network`]).
    pub fn ring_upcall_within(&mut self, times: RangeInclusive<Duration>) -> Option<Duration> {
        L::NETWORK?.ring_upcall_within(&mut self.link, times)
    }

    /// Has the link look after its paths, and says what it found out.
    #[cold]
    pub fn tend_link(&mut self, now: Nanoseconds) {
        let silence = self.ni.settings().silence;
        self.tend_at =
            now + silence.map_or(TEND_EVERY, |silence| silence.heartbeat_after / 2).min(TEND_EVERY);
        let news = self.link.paths().and_then(|paths| paths.tend(now));
        let Some(PathMtu { to, mtu, job }) = news else { return };
        let from = self.ni.local();
        // Who cannot be told does not stop the job.
        let _ = if mtu < job {
            writeln!(
                io::stderr(),
                "weft: packets of {job} bytes do not get from rank {from} to rank {to} any more: the way there takes \
                 {mtu} now; longer ones go in pieces, which is slower, until it is widened"
            )
        } else {
            writeln!(
                io::stderr(),
                "weft: packets of {job} bytes get from rank {from} to rank {to} again"
            )
        };
    }
}

impl<L: Link> Node<L> {
    /// Unlocks the node, and flushes transmitted packets.
    #[inline(always)]
    pub(crate) fn exit_and_flush(&self, mut inner: Entered<'_, Inner<L>>) {
        if L::NETWORK.is_some() {
            self.attendance.hint.set(Hint::Nothing);
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
        match inner.ring_upcall_within(within) {
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

    /// Tells the ranks of other hosts of a loss that this host has seen: their process manager may
    /// be late, or never tell them. What the network itself makes known each of them finds out.
    #[cold]
    pub(crate) fn tell_loss(&self, loss: Loss) {
        if L::NETWORK.is_none()
            || !loss.cause.is_seen_by_its_host()
            || self.has_told.swap(true, Ordering::Relaxed)
        {
            return;
        }
        for _ in 0..TOLD_TIMES {
            let mut inner = self.inner.enter();
            if inner.ni.was_told_of_loss() {
                return;
            }
            self.tell_time(&mut inner);
            let (ni, mut out) = inner.split(Side::Host);
            ni.tell_loss(loss.rank, loss.cause.to_bits(), &mut out);
            self.exit_and_flush(inner);
        }
    }

    /// Period in which this node has to be looked at, whatever its program and its upcalls do;
    /// `None` if it need not.
    pub(crate) fn heartbeat(&self) -> Option<Duration> {
        let silence = self.inner.enter().ni.settings().silence.filter(|_| L::NETWORK.is_some());
        silence.map(|silence| Duration::from_nanos(silence.heartbeat_after / 2))
    }

    /// Looks at this node, and leaves arrivals to the upcall thread.
    pub(crate) fn beat(&self) {
        if L::NETWORK.is_some() {
            self.serve();
        }
        if self.try_has_arrivals().unwrap_or(false) {
            self.attendance.bells.ring(Waiter::Upcall);
        }
    }

    /// Stays until all packets of this rank are acknowledged, and then for others, for a while.
    ///
    /// The first ends because every peer acknowledges, ends, or is lost, which the protocol says
    /// (`silence`). A peer that lives and holds packets may take as long as its program does.
    pub(crate) fn linger_until_quiet(&self) {
        self.disconnect();
        let mut stay = Stay::new(self.clock.now(), self.inner.enter().ni.settings());
        while let Ok(any) = self.receive_and_forget() {
            let now = self.clock.now();
            let until = stay.until(now, any, self.is_flushed());
            if now >= until {
                return;
            }
            if !any {
                self.doze(Duration::from_nanos(until - now));
            }
        }
    }

    fn disconnect(&self) {
        let mut inner = self.inner.enter();
        self.tell_time(&mut inner);
        let (ni, mut out) = inner.split(Side::Host);
        ni.disconnect(&mut out);
        self.exit_and_flush(inner);
    }

    /// Receives, and releases at once the packets for a program that has ended: peers may wait for
    /// packets behind them.
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
        self.attendance.bells.wait(Waiter::Host, ticket, limit.min(self.until_timer()));
        self.inner.enter().link.disarm(Waiter::Host);
    }
}
