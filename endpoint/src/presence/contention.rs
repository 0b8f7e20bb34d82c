//! Contention for cores, as the system and a rank's own waits show it
//! (`docs/internals/waiting.md`).
//!
//! ```text
//!       delays, or yields            long delays
//!       that let others run          for 20 ms
//!   Own ───────────────────▶ Shared ───────────▶ Busy       Rationed
//!    ◀─────────────────────────┴──────────────────┘     a quota, or stolen time, from any
//!         nothing was seen for as long as the verdict is held
//! ```
//! Nothing in here knows a clock or a file: samples go in, a verdict comes out. A verdict that
//! gives the core away makes its own evidence disappear, because who sleeps or yields delays
//! nobody, and so it is held; each time that the evidence comes back at once it is held for twice
//! as long.

use super::cell::{Bits, Relaxed};
use super::constants::{
    DELAY_SHARE, FEWEST_YIELDS, LIMITS_EVERY, LONGEST_ALONE, LONGEST_HOLD, OBSERVE_AT_ONCE,
    OBSERVE_EVERY, SHORTEST_HOLD, SLICE, STOLEN_SHARE, TIME_PER_YIELD, WAKE_UP, WINDOW,
    YIELDS_SHARE,
};
use std::time::Duration;
use weft_link::clock::Nanoseconds;

/// Share of a core that a rank has to itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Core {
    /// Nobody else wants its core.
    Own,
    /// Others want it, and give it back soon: most likely they wait, too.
    Shared,
    /// Others want it, and keep it for a time slice once they have it: they compute.
    Busy,
    /// Time on it is limited from outside: by a quota, or by the machine below a virtual one.
    Rationed,
}

impl Bits for Core {
    #[inline]
    fn to_bits(self) -> u64 {
        self as u64
    }

    #[inline]
    fn of_bits(bits: u64) -> Self {
        match bits {
            0 => Core::Own,
            1 => Core::Shared,
            2 => Core::Busy,
            _ => Core::Rationed,
        }
    }
}

/// Time of the next sample of the system's counters, and what the rank did since the last. Threads
/// that count at once may miss some.
#[derive(Default)]
pub(crate) struct Sampling {
    at: Relaxed<Nanoseconds>,
    yields: Relaxed<u64>,
    sleeps: Relaxed<u64>,
}

impl Sampling {
    /// True if a sample is due: two looks in vain had this time between them.
    pub fn is_due(&self, now: Nanoseconds, gap: Duration) -> bool {
        let early = if gap >= LONGEST_ALONE { OBSERVE_EVERY - OBSERVE_AT_ONCE } else { 0 };
        now + early >= self.at.get()
    }

    /// A sample is taken. Returns the yields and sleeps since the last.
    pub fn begin(&self, now: Nanoseconds) -> (u64, u64) {
        self.at.set(now + OBSERVE_EVERY);
        (self.yields.replace(0), self.sleeps.replace(0))
    }

    /// The core is given away.
    pub fn yielded(&self) {
        self.yields.set(self.yields.get() + 1);
    }

    /// A thread sleeps.
    pub fn slept(&self) {
        self.sleeps.set(self.sleeps.get() + 1);
    }
}

/// Time of a thread, and what became of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Fared {
    pub time: Nanoseconds,
    /// Time of that for which it was ready to run and did not.
    pub run_delay: Nanoseconds,
    /// Number of times that it was given a core, ...
    pub slices: u64,
    /// ... that it yielded one, and that it slept.
    pub yields: u64,
    pub sleeps: u64,
}

impl Fared {
    /// This and what followed.
    fn and(self, next: Fared) -> Fared {
        Fared {
            time: self.time + next.time,
            run_delay: self.run_delay + next.run_delay,
            slices: self.slices + next.slices,
            yields: self.yields + next.yields,
            sleeps: self.sleeps + next.sleeps,
        }
    }
}

/// Counters of the system about limits from outside, which only grow.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Limits {
    /// Number of times that a quota of its control groups was used up.
    pub throttled: u64,
    /// Time of a core that the machine below gave to others, the mean of all cores.
    pub stolen: Nanoseconds,
}

/// Evidence that comes and goes, and a state that is held after it.
#[derive(Debug, Clone, Copy, Default)]
struct Held {
    until: Nanoseconds,
    hold: Nanoseconds,
}

impl Held {
    /// Evidence was seen. It counts as having come back if it had been gone for less than it was
    /// held last.
    fn seen(&mut self, now: Nanoseconds) {
        if now >= self.until {
            let is_back = self.hold > 0 && now - self.until < self.hold;
            let hold = if is_back { self.hold * 2 } else { SHORTEST_HOLD };
            self.hold = hold.min(LONGEST_HOLD);
        }
        self.until = now + self.hold;
    }

    fn holds(&self, now: Nanoseconds) -> bool {
        now < self.until
    }
}

/// Estimator of one rank.
#[derive(Debug)]
pub(crate) struct Contention {
    /// Knowledge without looking: ranks that share cores, or a quota.
    floor: Core,
    shared: Held,
    busy: Held,
    rationed: Held,
    /// Time from which on delays are summed up, and their sum.
    delay: (Nanoseconds, Nanoseconds),
    /// Sum of the reports since its core is shared, or since that was judged last.
    window: Fared,
    /// Time of the last look at the limits, and what it found.
    limits: Option<(Nanoseconds, Limits)>,
}

impl Contention {
    /// An estimator whose verdict is never below `floor`.
    pub fn new(floor: Core) -> Self {
        let (shared, busy, rationed) = (Held::default(), Held::default(), Held::default());
        let window = Fared::default();
        Contention { floor, shared, busy, rationed, delay: (0, 0), window, limits: None }
    }

    /// Takes a report of the thread that waits.
    pub fn fared(&mut self, now: Nanoseconds, fared: Fared) {
        let is_delayed = self.delayed(now, fared);
        if is_delayed || is_joined(fared) {
            self.shared.seen(now);
        }
        self.window =
            if self.shared.holds(now) { self.window.and(fared) } else { Fared::default() };
        if self.window.time >= WINDOW {
            let Fared { time, run_delay, slices, .. } = std::mem::take(&mut self.window);
            // Ranks of one job that share cores compute side by side, and then all of them wait.
            let may_judge = self.floor == Core::Own;
            if may_judge && run_delay >= time / 2 && run_delay / slices.max(1) >= SLICE {
                self.busy.seen(now);
            }
        }
    }

    /// True if others have delayed the thread for long, with this report. One moment proves
    /// nothing: the kernel has threads of its own.
    fn delayed(&mut self, now: Nanoseconds, fared: Fared) -> bool {
        let Fared { time, run_delay, slices, .. } = fared;
        let delay = run_delay.saturating_sub(slices * WAKE_UP);
        let (since, sum) = self.delay;
        self.delay = match now.saturating_sub(since) <= WINDOW {
            true => (since, sum + delay),
            false => (now.saturating_sub(time), delay),
        };
        self.delay.1 >= time.max(WINDOW) / DELAY_SHARE
    }

    /// True if a sample of the limits is worth its cost.
    pub fn wants_limits(&self, now: Nanoseconds) -> bool {
        self.limits.is_none_or(|(last, _)| now.saturating_sub(last) >= LIMITS_EVERY)
    }

    /// Limits from outside, as the system counts them.
    pub fn limited(&mut self, now: Nanoseconds, limits: Limits) {
        let Some((then, before)) = self.limits.replace((now, limits)) else { return };
        let stolen = limits.stolen.saturating_sub(before.stolen);
        let is_stolen = stolen >= now.saturating_sub(then).max(1) / STOLEN_SHARE;
        if limits.throttled > before.throttled || is_stolen {
            self.rationed.seen(now);
        }
    }

    /// The verdict at a time.
    pub fn verdict(&self, now: Nanoseconds) -> Core {
        let seen = match () {
            () if self.rationed.holds(now) => Core::Rationed,
            () if self.busy.holds(now) => Core::Busy,
            () if self.shared.holds(now) => Core::Shared,
            () => Core::Own,
        };
        seen.max(self.floor)
    }
}

/// True if others ran whenever the thread yielded. A thread that yields or sleeps beside it delays
/// it by little, and still has to wait for it.
fn is_joined(Fared { time, slices, yields, sleeps, .. }: Fared) -> bool {
    let others = slices.saturating_sub(sleeps);
    yields >= FEWEST_YIELDS.max(time / TIME_PER_YIELD) && others >= yields / YIELDS_SHARE
}

#[cfg(test)]
mod tests;
