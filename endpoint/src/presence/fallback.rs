//! The upcall thread's next look at a network, while the program may or may not be at its packets.
//!
//! ```text
//!              a visit that is due: the timer is set
//!            ┌───────────────────────────────────────┐   a visit that is due, where
//!            │                                       ▼   a timer is dear: it stays,
//!   Awake ─▶ Announced ─ time, ring ─▶ Awake ◀─ Put off ──┐ and rings early
//!   looks    sleeps until `looks_at`        time     ▲────┘
//!
//!   packets are held back: `looks_at` comes nearer; they have left: it moves away again
//! ```
//! Who enters a node is a *visit* of the program's. While the thread sleeps, a visit puts its look
//! off: nothing wakes it while the program talks. The thread, when its timer or a ring wakes it,
//! asks for the [next part](TimerFallback::part) of its sleep, and sleeps on if the look has moved.
//!
//! Changed inside the node's lock by visits, and outside of it by the upcall thread: of a visit and
//! an end of a sleep at once either is as good.

use super::cell::Relaxed;
use super::constants::{
    IDLE_LOOK, LATE, LONGEST_PUT_OFF, LONGEST_WAIT, PATIENT_TICK, PUNCTUAL_FOR, RENEWED_AFTER,
};
use super::planted::{Bug, Planted};
use std::ops::RangeInclusive;
use std::time::Duration;
use weft_link::clock::Nanoseconds;

/// The upcall thread's next look.
#[derive(Clone, Hash, Debug)]
pub struct TimerFallback {
    /// True if there is an upcall thread.
    is_watched: Relaxed<bool>,
    /// Time of the upcall thread's next look; 0 while it is awake, or there is none.
    looks_at: Relaxed<Nanoseconds>,
    /// Time from which on visits put that look off; 0 if none has yet, [`u64::MAX`] while the
    /// thread is awake, or there is none.
    put_off_from: Relaxed<Nanoseconds>,
    /// True if the link has a timer that rings the upcall thread.
    has_timer: Relaxed<bool>,
    /// Time without the program after which the upcall thread sees to the node, unless it is
    /// patient.
    usual_tick: Nanoseconds,
    /// True for a program that takes its packets by polls.
    is_patient: Relaxed<bool>,
    /// True if that look is to send what is held back.
    looks_for_held: Relaxed<bool>,
    /// Time at which the link's timer rings. If that is not the time of the look, the thread sees
    /// to that itself: visits have put the look off and left the timer, which rings too early.
    rings_at: Relaxed<Nanoseconds>,
    /// Time since which the program has talked: that of the first look that it put off.
    talks_since: Relaxed<Nanoseconds>,
    /// True if the link's timer is dear to set, and the look is later than it might be for that.
    is_late: Relaxed<bool>,
    /// Time until which looks are punctual.
    punctual_until: Relaxed<Nanoseconds>,
    planted: Planted,
}

/// Cause of the end of a sleep.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Woken {
    /// Its time was over.
    Time,
    /// An arrival, other work, or the end.
    Ring,
}

/// A sleep of the upcall thread until the announced look, which visits may put off meanwhile.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Sleep {
    /// Rings and work end it.
    Armed,
    /// Nothing but time does.
    Unarmed,
}

/// A part of a sleep: until the bell rings, or a time has passed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Part {
    /// Longest time of it.
    pub limit: Duration,
    /// True if it may be longer by a tick of the kernel.
    pub may_be_late: bool,
}

impl TimerFallback {
    /// One for a protocol whose acknowledgements may wait for so long. There is no thread yet.
    pub fn new(acknowledge_after: Nanoseconds) -> Self {
        TimerFallback {
            is_watched: Relaxed::default(),
            looks_at: Relaxed::default(),
            put_off_from: Relaxed::new(u64::MAX),
            has_timer: Relaxed::default(),
            usual_tick: 2 * acknowledge_after,
            is_patient: Relaxed::default(),
            looks_for_held: Relaxed::default(),
            rings_at: Relaxed::default(),
            talks_since: Relaxed::default(),
            is_late: Relaxed::default(),
            punctual_until: Relaxed::default(),
            planted: Planted::default(),
        }
    }

    /// Time without the program after which the upcall thread sees to the node.
    pub fn tick(&self) -> Nanoseconds {
        match self.is_patient.get() {
            true => self.usual_tick.max(PATIENT_TICK),
            false => self.usual_tick,
        }
    }

    /// The program takes its packets by polls, if it `is_patient`: while it computes, nobody waits
    /// for them.
    pub fn set_patient(&self, is_patient: bool) {
        self.is_patient.set(is_patient);
    }

    /// Records that there is an upcall thread.
    pub fn watched(&self) {
        self.is_watched.set(true);
    }

    /// True if there is an upcall thread: what is held back leaves, whatever the program does.
    pub fn is_watched(&self) -> bool {
        self.is_watched.get()
    }

    /// Makes the mistake, at the first opportunity.
    #[cfg(feature = "planted")]
    pub fn plant(&mut self, bug: Bug) {
        self.planted.plant(bug);
    }
}

/// Visits of the program, inside the lock. Where they return times, the link's timer is to ring the
/// upcall thread after one of them, the shorter the better ([`TimerFallback::timer_set`]).
impl TimerFallback {
    /// True if a visit `now` may have to put the look off.
    #[inline(always)]
    pub fn is_visit_due(&self, now: Nanoseconds) -> bool {
        now >= self.put_off_from.get()
    }

    /// A visit that is due: puts the look off.
    #[cold]
    pub fn visited(&self, now: Nanoseconds) -> Option<RangeInclusive<Nanoseconds>> {
        (!self.puts_off_untimed(now)).then(|| self.put_off_within(now))
    }

    /// Packets have been held back since then, some of the program's or none: brings the look
    /// nearer, that they may leave in time.
    pub fn holds(
        &self,
        now: Nanoseconds,
        since: Nanoseconds,
        has_packets: bool,
    ) -> Option<RangeInclusive<Nanoseconds>> {
        let wait = self.longest_wait(now, has_packets);
        if self.looks_at.get() <= since + wait || self.planted.strikes(Bug::LeaveHeld) {
            return None;
        }
        let looks = self.looks_when_it_rings(now);
        if looks {
            self.looks_for_held.set(true);
        }
        (!looks).then_some(wait..=wait)
    }

    /// Records that all that was held back has left.
    pub fn left(&self, now: Nanoseconds) {
        // The link's timer stays, because setting it costs more than one that rings too early.
        if self.looks_for_held.replace(false) && !self.puts_off_untimed(now) {
            self.look_later(now, self.put_off_by(now));
        }
    }

    /// Before the timer is set: who wakes before that has to see that the program is here.
    pub fn timer_is_set(&self, now: Nanoseconds, times: &RangeInclusive<Nanoseconds>) {
        self.put_off(now, *times.start());
    }

    /// The timer rings so long after `now`.
    pub fn timer_set(
        &self,
        now: Nanoseconds,
        times: &RangeInclusive<Nanoseconds>,
        time: Nanoseconds,
    ) {
        self.put_off(now, time);
        if times.start() < times.end() {
            self.is_late.set(time > *times.start());
        }
    }

    /// The look that was put off is to send what is held back.
    pub fn looks_for_held(&self) {
        self.looks_for_held.set(true);
    }

    /// Time by which a program that is at its packets `now` puts the look off. To set a timer costs
    /// microseconds on a virtual machine, and so it is set the less often the longer a program
    /// talks: for an eighth of that time, from a [tick](Self::tick) to [`LONGEST_PUT_OFF`].
    fn put_off_by(&self, now: Nanoseconds) -> Nanoseconds {
        if self.put_off_from.get() == 0 {
            self.talks_since.set(now);
        }
        let talks_for = now.saturating_sub(self.talks_since.get());
        let tick = self.tick();
        (talks_for / 8).clamp(tick, LONGEST_PUT_OFF.max(tick))
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
    fn puts_off_untimed(&self, now: Nanoseconds) -> bool {
        let is_set = self.put_off_from.get() > 0;
        let is_left = is_set && self.is_late.get();
        if is_left {
            let time = if self.is_punctual(now) { self.put_off_by(now) } else { LATE };
            self.look_later(now, time);
        }
        is_left
    }

    /// True if a late look would be a late answer: upcalls were made lately, for a program whose
    /// packets are waited for while it computes.
    fn is_punctual(&self, now: Nanoseconds) -> bool {
        now < self.punctual_until.get() && !self.is_patient.get()
    }

    /// Longest time until a look that is to send what is held back, with packets of the program
    /// or without any. An acknowledgement may be as late as one that is not due yet.
    fn longest_wait(&self, now: Nanoseconds, has_packets: bool) -> Nanoseconds {
        let may_be_late = self.is_late.get() && !self.is_punctual(now);
        match may_be_late && !has_packets {
            true => LATE,
            false => 2 * LONGEST_WAIT,
        }
    }

    /// Puts the look off for so long, when the link's timer rings.
    fn put_off(&self, now: Nanoseconds, time: Nanoseconds) {
        self.rings_at.set(now + time);
        self.looks_for_held.set(false);
        self.look_later(now, time);
    }

    fn look_later(&self, now: Nanoseconds, time: Nanoseconds) {
        self.looks_at.set(now + time);
        let renewed = if time == LATE { RENEWED_AFTER } else { time / 2 };
        self.put_off_from.set(now + renewed);
    }

    /// Something is held back again: has the look be made when the link's timer rings, if that is
    /// still to come, and soon. The thread may be awake at that time, and about to sleep on, so one
    /// that rings at once is not counted on.
    fn looks_when_it_rings(&self, now: Nanoseconds) -> bool {
        let rings_at = self.rings_at.get();
        let soon = now + LONGEST_WAIT / 4..=now + 2 * LONGEST_WAIT;
        let looks = soon.contains(&rings_at) && rings_at < self.looks_at.get();
        if looks {
            self.looks_at.set(rings_at);
        }
        looks
    }
}

/// Sleeps of the upcall thread.
impl TimerFallback {
    /// Records that the upcall thread makes upcalls.
    pub fn makes_upcalls(&self, now: Nanoseconds) {
        self.punctual_until.set(now + PUNCTUAL_FOR);
    }

    /// A sleep that begins `now`, for so long, unless visits put its end off. Inside the lock if
    /// the bell was armed for it; `is_timed` if the link's timer rings when it is over.
    pub fn armed(&self, now: Nanoseconds, limit: Duration, is_timed: bool) -> Sleep {
        let looks_at = now + limit.as_nanos() as Nanoseconds;
        self.has_timer.set(is_timed);
        self.rings_at.set(looks_at);
        self.announce(looks_at);
        Sleep::Armed
    }

    /// A sleep that begins `now`, for so long, and that no ring ends.
    pub fn unarmed(&self, now: Nanoseconds, time: Duration) -> Sleep {
        let time = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        self.announce(now.saturating_add(time));
        Sleep::Unarmed
    }

    /// The next part of a sleep, at its begin and after each; `None` once its time is over.
    pub fn part(&self, now: Nanoseconds) -> Option<Part> {
        // In this order: visits that put the look off set both, or the second only.
        let looks_at = self.looks_at.get();
        let rings_then =
            self.rings_at.get() == looks_at || self.planted.strikes(Bug::TrustEarlyTimer);
        let until_look = looks_at.checked_sub(now).filter(|time| *time > 0)?;
        let limit = match rings_then && self.has_timer.get() {
            true => IDLE_LOOK,
            false => Duration::from_nanos(until_look),
        };
        Some(Part { limit, may_be_late: self.may_look_late(now) })
    }

    /// A part of a sleep is over. True if a ring has ended all of it.
    pub fn rang(&self, sleep: Sleep, now: Nanoseconds) -> bool {
        let is_put_off = self.put_off_from.get() > 0;
        sleep == Sleep::Armed && !is_put_off && now < self.looks_at.get()
    }

    /// Records that the upcall thread is awake, and that there is no look to put off.
    pub fn awake(&self) {
        self.put_off_from.set(u64::MAX);
        self.looks_at.set(0);
    }

    /// True if a look may come with the kernel's next tick only: nobody waits for the program while
    /// it computes, or each timer is dear, and no answers are counted on.
    fn may_look_late(&self, now: Nanoseconds) -> bool {
        (self.is_late.get() || self.is_patient.get()) && !self.is_punctual(now)
    }

    /// Announces that the upcall thread sleeps, and when it looks again, unless visits put that
    /// off.
    fn announce(&self, time: Nanoseconds) {
        self.looks_at.set(time);
        self.put_off_from.set(0);
    }
}

#[cfg(test)]
mod tests;
