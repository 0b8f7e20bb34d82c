//! Links that may lose frames: timers that have to be served, packets held back to be coalesced,
//! and an end of the program that waits until all has arrived. On other links none of this runs,
//! and the compiler leaves it out.
//!
//! A thread that enters the node tells the protocol the time, and flushes the link when it unlocks
//! the node. A thread that sleeps does so until the next timer at most. While the program computes,
//! the upcall thread serves the timers, and receives acknowledgements. It does not wake while the
//! program is at its packets: who enters the node puts its next look off, by setting the timer that
//! it sleeps beside (`watch/network.rs`).

use crate::biased::Entered;
use crate::ni::coalescing::{Hint, Leaves};
use crate::ni::inner::{Inner, Side};
use crate::ni::node::Node;
use crate::{AnyNode, Result};
use std::io::{self, Write};
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::time::Duration;
use weft_link::bell::{Loss, Waiter};
use weft_link::clock::{Clock, Nanoseconds};
use weft_link::{Link, Network, PathMtu, has_buffered, has_unflushed};
use weft_protocol::{Body, Settings};
use weft_wire::Rank;

/// Longest time for which a packet is held back if the program does not come back, and the upcall
/// thread sends it.
const LONGEST_WAIT: Nanoseconds = 100_000;
/// Longest time by which a program that talks puts the upcall thread's look off, or a tick if that
/// is longer.
const LONGEST_PUT_OFF: Nanoseconds = 5_000_000;
/// Time by which it does where a timer is dear to set that comes before the kernel's tick
/// ([`Timer`]), ...
///
/// [`Timer`]: weft_link::timer::Timer
const LATE: Nanoseconds = 6_000_000;
/// ... and time after which it does so again. The timer stays as it is: the thread wakes early,
/// finds that the program was here, and sleeps on.
const RENEWED_AFTER: Nanoseconds = 500_000;
/// Time for which looks are punctual after the upcall thread has made upcalls: for a program whose
/// peers count on them, a later look is a later answer.
const PUNCTUAL_FOR: Nanoseconds = 1_000_000_000;
/// Time without a program that takes its packets by polls after which the upcall thread sees to the
/// node. A look takes 10 to 30 us of the core that the program computes on, and one leads to more:
/// what it acknowledges wakes the thread at the other end.
const PATIENT_TICK: Nanoseconds = 2_000_000;
/// Period in which a link looks after its paths; half that of heartbeats, if that is less.
const TEND_EVERY: Nanoseconds = 100_000_000;
/// Copies of the news of a loss, which nobody acknowledges, in a datagram each.
const TOLD_TIMES: usize = 3;
/// Time without any arrival after which a rank that ends gives up, if peers may not keep silent for
/// longer.
const PATIENCE: Nanoseconds = 1_000_000_000;
/// Longest time without any arrival for which a rank that has ended stays for others, ...
const LONGEST_STAY: Nanoseconds = 100_000_000;
/// ... and longest time for which it does while others go on sending: they know that it has ended.
const LONGEST_STAY_IN_ALL: Nanoseconds = 1_000_000_000;

/// The upcall thread's next look, and the hint that packets are to be held back.
pub(crate) struct TimerFallback {
    /// True if there is an upcall thread.
    watched: AtomicBool,
    /// Time of the upcall thread's next look; 0 while it is awake, or there is none.
    pub looks_at: AtomicU64,
    /// Time from which on whoever enters puts that look off; [`u64::MAX`] while the thread is
    /// awake, or there is none.
    pub put_off_from: AtomicU64,
    /// True if the link has a timer that rings the upcall thread.
    pub has_timer: AtomicBool,
    /// Time without the program after which the upcall thread sees to the node, unless it is
    /// patient.
    usual_tick: Nanoseconds,
    /// True for a program that takes its packets by polls.
    is_patient: AtomicBool,
    /// True if that look is to send what is held back.
    looks_for_held: AtomicBool,
    /// True if that look was put off without the link's timer, which rings too early, ...
    pub rings_early: AtomicBool,
    /// ... and the time at which that rings.
    pub rings_at: AtomicU64,
    /// Time since which the program has talked: that of the first look that it put off.
    talks_since: AtomicU64,
    /// True if the link's timer is dear to set, and the look is later than it might be for that.
    is_late: AtomicBool,
    /// Time until which looks are punctual.
    punctual_until: AtomicU64,
    hint: AtomicU8,
}

impl TimerFallback {
    pub fn new(settings: &Settings) -> Self {
        TimerFallback {
            watched: AtomicBool::new(false),
            looks_at: AtomicU64::new(0),
            put_off_from: AtomicU64::new(u64::MAX),
            has_timer: AtomicBool::new(false),
            usual_tick: 2 * settings.acknowledge_after,
            is_patient: AtomicBool::new(false),
            looks_for_held: AtomicBool::new(false),
            rings_early: AtomicBool::new(false),
            rings_at: AtomicU64::new(0),
            talks_since: AtomicU64::new(0),
            is_late: AtomicBool::new(false),
            punctual_until: AtomicU64::new(0),
            hint: AtomicU8::new(Hint::Nothing as u8),
        }
    }

    /// Time without the program after which the upcall thread sees to the node.
    pub fn tick(&self) -> Nanoseconds {
        match self.is_patient.load(Ordering::Relaxed) {
            true => self.usual_tick.max(PATIENT_TICK),
            false => self.usual_tick,
        }
    }

    /// The program takes its packets by polls, if it `is_patient`: while it computes, nobody waits
    /// for them.
    pub fn set_patient(&self, is_patient: bool) {
        self.is_patient.store(is_patient, Ordering::Relaxed);
    }

    /// Records that there is an upcall thread.
    pub fn watched(&self) {
        self.watched.store(true, Ordering::Relaxed);
    }

    /// Records that the upcall thread is awake, and that there is no look to put off.
    pub fn awake(&self) {
        self.put_off_from.store(u64::MAX, Ordering::Relaxed);
        self.looks_at.store(0, Ordering::Relaxed);
    }

    /// Time by which a program that is at its packets `now` puts the look off. To set a timer costs
    /// microseconds on a virtual machine, and so it is set the less often the longer a program
    /// talks: for an eighth of that time, from a [tick](Self::tick) to [`LONGEST_PUT_OFF`].
    fn put_off_by(&self, now: Nanoseconds) -> Nanoseconds {
        if self.put_off_from.load(Ordering::Relaxed) == 0 {
            self.talks_since.store(now, Ordering::Relaxed);
        }
        let talks_for = now.saturating_sub(self.talks_since.load(Ordering::Relaxed));
        let tick = self.tick();
        (talks_for / 8).clamp(tick, LONGEST_PUT_OFF.max(tick))
    }

    /// Records that the upcall thread makes upcalls.
    pub fn makes_upcalls(&self, now: Nanoseconds) {
        self.punctual_until.store(now + PUNCTUAL_FOR, Ordering::Relaxed);
    }

    /// Times by which a program that is at its packets `now` may put the look off.
    fn put_off_within(&self, now: Nanoseconds) -> RangeInclusive<Nanoseconds> {
        let time = self.put_off_by(now);
        match self.is_punctual(now) {
            true => time..=time,
            false => time..=LATE.max(time),
        }
    }

    /// Puts the look off again, and leaves the link's timer, if that is dear to set: it rings too
    /// early. False if the timer has to be set.
    #[cold]
    fn puts_off_untimed(&self, now: Nanoseconds) -> bool {
        let is_set = self.put_off_from.load(Ordering::Relaxed) > 0;
        let is_left = is_set && self.is_late.load(Ordering::Relaxed);
        if is_left {
            self.rings_early.store(true, Ordering::Relaxed);
            let time = if self.is_punctual(now) { self.put_off_by(now) } else { LATE };
            self.look_later(now, time);
        }
        is_left
    }

    /// True if a late look would be a late answer: upcalls were made lately, for a program whose
    /// packets are waited for while it computes.
    fn is_punctual(&self, now: Nanoseconds) -> bool {
        let made_lately = now < self.punctual_until.load(Ordering::Relaxed);
        made_lately && !self.is_patient.load(Ordering::Relaxed)
    }

    /// True if a look may come with the kernel's next tick only: nobody waits for the program while
    /// it computes, or each timer is dear, and no answers are counted on.
    pub fn may_look_late(&self, now: Nanoseconds) -> bool {
        let is_late = self.is_late.load(Ordering::Relaxed);
        (is_late || self.is_patient.load(Ordering::Relaxed)) && !self.is_punctual(now)
    }

    /// Longest time until a look that is to send what is held back, with packets of the program
    /// or without any. An acknowledgement may be as late as one that is not due yet.
    fn longest_wait(&self, now: Nanoseconds, has_packets: bool) -> Nanoseconds {
        let may_be_late = self.is_late.load(Ordering::Relaxed) && !self.is_punctual(now);
        match may_be_late && !has_packets {
            true => LATE,
            false => 2 * LONGEST_WAIT,
        }
    }

    /// Puts the look off for so long, when the link's timer rings.
    fn put_off(&self, now: Nanoseconds, time: Nanoseconds) {
        self.rings_at.store(now + time, Ordering::Relaxed);
        self.rings_early.store(false, Ordering::Relaxed);
        self.looks_for_held.store(false, Ordering::Relaxed);
        self.look_later(now, time);
    }

    fn look_later(&self, now: Nanoseconds, time: Nanoseconds) {
        self.looks_at.store(now + time, Ordering::Relaxed);
        let renewed = if time == LATE { RENEWED_AFTER } else { time / 2 };
        self.put_off_from.store(now + renewed, Ordering::Relaxed);
    }

    /// Puts the look off that was to send what was held back: that is sent. The link's timer stays,
    /// because setting it costs more than one that rings too early.
    fn put_off_early(&self, now: Nanoseconds) {
        if self.looks_for_held.swap(false, Ordering::Relaxed) && !self.puts_off_untimed(now) {
            self.rings_early.store(true, Ordering::Relaxed);
            self.look_later(now, self.put_off_by(now));
        }
    }

    /// Something is held back again: has the look be made when the link's timer rings, if that is
    /// still to come, and soon. The thread may be awake at that time, and about to sleep on, so one
    /// that rings at once is not counted on.
    fn looks_when_it_rings(&self, now: Nanoseconds) -> bool {
        let rings_at = self.rings_at.load(Ordering::Relaxed);
        let soon = now + LONGEST_WAIT / 4..=now + 2 * LONGEST_WAIT;
        let looks = soon.contains(&rings_at) && self.rings_early.swap(false, Ordering::Relaxed);
        if looks {
            self.looks_at.store(rings_at, Ordering::Relaxed);
        }
        looks
    }

    /// Takes a hint about the next packets, and returns the one before.
    #[inline]
    pub fn set_hint(&self, hint: Hint) -> Hint {
        let before = self.hint();
        self.hint.store(hint as u8, Ordering::Relaxed);
        before
    }

    fn hint(&self) -> Hint {
        Hint::of(self.hint.load(Ordering::Relaxed))
    }
}

/// Stay of a rank that has ended.
struct Stay {
    /// Longest time without any arrival while packets are under way, and once none are.
    patience: Nanoseconds,
    quiet: Nanoseconds,
    /// Time of the last arrival.
    last: Nanoseconds,
    /// Time since which all packets of the rank are acknowledged.
    flushed_at: Option<Nanoseconds>,
}

impl Stay {
    fn new(now: Nanoseconds, settings: &Settings) -> Self {
        let silence = settings.silence.map_or(0, |silence| silence.lost_after);
        Stay {
            patience: silence.max(PATIENCE),
            quiet: settings.retransmit_after.saturating_mul(4).min(LONGEST_STAY),
            last: now,
            flushed_at: None,
        }
    }

    /// Time until which the rank stays, given whether something has arrived now, and whether all of
    /// its packets are acknowledged.
    fn until(&mut self, now: Nanoseconds, any: bool, is_flushed: bool) -> Nanoseconds {
        if any {
            self.last = now;
        }
        match is_flushed {
            false => self.last + self.patience,
            true => {
                let flushed_at = *self.flushed_at.get_or_insert(now);
                (self.last + self.quiet).min(flushed_at + LONGEST_STAY_IN_ALL)
            }
        }
    }
}

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
            self.timer_fallback.hint.store(Hint::Nothing as u8, Ordering::Relaxed);
            let held = inner.coalescing.has_left();
            inner.link.flush();
            if held {
                self.timer_fallback.put_off_early(inner.ni.now());
            }
            self.look_after_timers(inner);
        }
    }

    /// Unlocks the node after a look that found something. Transmitted packets are flushed, unless
    /// more have arrived already, which may have to be answered too, or some are held back.
    #[inline(always)]
    pub(crate) fn exit_after_look(&self, mut inner: Entered<'_, Inner<L>>) {
        if L::NETWORK.is_none() {
            return;
        }
        inner.coalescing.has_found();
        if inner.coalescing.holds() || has_buffered(&inner.link) {
            return self.exit_and_coalesce(inner);
        }
        self.exit_and_flush(inner);
    }

    /// Unlocks the node after a look that found nothing.
    #[inline(always)]
    pub(crate) fn exit_after_look_in_vain(&self, mut inner: Entered<'_, Inner<L>>) {
        if L::NETWORK.is_none() {
            return;
        }
        if !inner.coalescing.is_waiting() && inner.coalescing.holds() {
            return self.exit_and_coalesce(inner);
        }
        self.exit_and_flush(inner);
    }

    /// Unlocks the node after a packet to `to`, or to several ranks.
    #[inline(always)]
    pub(crate) fn exit_after_launch(&self, mut inner: Entered<'_, Inner<L>>, to: Option<Rank>) {
        if L::NETWORK.is_none() {
            return;
        }
        let now = inner.ni.now();
        match inner.coalescing.launched(self.timer_fallback.hint(), to, now) {
            Leaves::AtOnce => self.exit_and_flush(inner),
            Leaves::Soon => self.exit_and_coalesce(inner),
            Leaves::WithNext => self.look_after_timers(inner),
        }
    }

    /// Unlocks the node after the program has given a packet back.
    #[inline(always)]
    pub(crate) fn exit_after_release(&self, inner: Entered<'_, Inner<L>>) {
        match self.timer_fallback.hint() {
            Hint::More if L::NETWORK.is_some() => self.look_after_timers(inner),
            _ => self.exit_after_look(inner),
        }
    }

    /// Unlocks the node; transmitted packets may be held back for others.
    #[inline]
    fn exit_and_coalesce(&self, mut inner: Entered<'_, Inner<L>>) {
        if !has_unflushed(&inner.link) {
            return self.exit_and_flush(inner);
        }
        let now = inner.ni.now();
        let is_watched = self.timer_fallback.watched.load(Ordering::Relaxed);
        let since = inner.coalescing.hold(now).filter(|_| is_watched);
        let Some(since) = since else { return self.exit_and_flush(inner) };
        let has_packets = inner.coalescing.holds_packets();
        let fallback = &self.timer_fallback;
        let wait = fallback.longest_wait(now, has_packets);
        if fallback.looks_at.load(Ordering::Relaxed) > since + wait {
            if !fallback.looks_when_it_rings(now) {
                self.put_off_look(inner, now, wait..=wait);
            }
            fallback.looks_for_held.store(true, Ordering::Relaxed);
        }
    }

    /// Puts the upcall thread's look off, if that is due.
    #[inline(always)]
    fn look_after_timers(&self, inner: Entered<'_, Inner<L>>) {
        let now = inner.ni.now();
        if now >= self.timer_fallback.put_off_from.load(Ordering::Relaxed)
            && !self.timer_fallback.puts_off_untimed(now)
        {
            self.put_off_look(inner, now, self.timer_fallback.put_off_within(now));
        }
    }

    /// Has the upcall thread sleep for one of these times from now on, the shorter the better: the
    /// program is here, and sees to its packets and timers itself. No arrival wakes that thread
    /// until then. It costs a system call or two, once in half of that time.
    #[cold]
    fn put_off_look(
        &self,
        mut inner: Entered<'_, Inner<L>>,
        now: Nanoseconds,
        times: RangeInclusive<Nanoseconds>,
    ) {
        inner.link.disarm(Waiter::Upcall);
        let (shortest, longest) = times.into_inner();
        // Who wakes before the timer is set has to see that the program is here.
        self.timer_fallback.put_off(now, shortest);
        let times = Duration::from_nanos(shortest)..=Duration::from_nanos(longest);
        match inner.ring_upcall_within(times) {
            Some(time) => {
                let time = time.as_nanos() as u64;
                self.timer_fallback.put_off(now, time);
                if shortest < longest {
                    self.timer_fallback.is_late.store(time > shortest, Ordering::Relaxed);
                }
            }
            None => {
                drop(inner);
                self.attributes.bells.ring(Waiter::Upcall);
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
            self.nudge();
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
            self.attributes.bells.ring(Waiter::Upcall);
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
        self.attributes.bells.wait(Waiter::Host, ticket, limit.min(self.until_timer()));
        self.inner.enter().link.disarm(Waiter::Host);
    }
}

#[cfg(test)]
mod tests;
