//! Backoff of a thread that waits: spin, then yield, then sleep.
//!
//! ```text
//!             1 us, then with pauses        yields, while they come back at once
//!   Spin ──────────────────────────▶ Yield ─────────────────────────────────▶ Sleep
//!    ▲   50 us without progress; at    ▲     0.2 ms, 5 ms while alone;
//!    │   once on a shared core         │     0.5 ms on a shared core
//!    └──── progress ───────────────────┴── a busy or rationed core: 20 us, then Sleep
//! ```
//! A poll costs some ten nanoseconds, a yield to another rank about a microsecond, a wake-up from
//! sleep 20 to 50 (`docs/internals/performance.md`). So a rank that has a core to itself spins
//! first; one that shares its core yields at once, because the rank that it waits for may need that
//! core; and one that has waited for longer than a few wake-ups sleeps. As long as its yields come
//! back at once nobody else wants its core, and it goes on for longer: who computes for some
//! milliseconds and then answers is answered without a wake-up. One that shares its core
//! and finds something at every look does not wait at all, and yields once in a [`QUANTUM`]:
//! whoever is to be answered next may be a rank that does not run meanwhile.

use super::cell::Relaxed;
use super::constants::{
    LONGEST_ALONE, LOOKS_PER_CLOCK, LOST_SHARE, MOMENT, PATIENCE, QUANTUM, SPIN_AT_ONCE_FOR,
    SPIN_FOR, SPIN_ON_NETWORK_FOR, YIELD_ALONE_FOR, YIELD_FOR, YIELD_ON_SHARED_CORE_FOR,
};
use super::contention::Core;
use std::time::{Duration, Instant};

/// Outcome of one look at the thing waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// It is there.
    Done,
    /// Not yet, but packets were processed: keep polling.
    Progress,
    /// Nothing happened.
    Idle,
}

impl Step {
    /// The outcome of a look that may have found something to do, but not what is waited for.
    #[inline]
    pub fn of(any: bool) -> Self {
        if any { Step::Progress } else { Step::Idle }
    }
}

/// Times of a wait, each counted from the last progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WaitTimes {
    /// Time to spin before the first yield.
    pub spin: Duration,
    /// Time to yield before the first sleep.
    pub yields: Duration,
    /// Time to do so while nobody else wants the core.
    pub yields_alone: Duration,
}

impl WaitTimes {
    /// Those of a rank among others on a machine.
    pub const USUAL: WaitTimes =
        WaitTimes { spin: SPIN_FOR, yields: YIELD_FOR, yields_alone: YIELD_ALONE_FOR };
    /// None: it sleeps at once.
    pub const NONE: WaitTimes =
        WaitTimes { spin: Duration::ZERO, yields: Duration::ZERO, yields_alone: Duration::ZERO };
}

/// Next action of a waiting thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// Look again, after pauses or at once.
    Spin {
        /// True if pauses come first. The other thread of this core needs them, once a wait is
        /// long.
        pauses: bool,
    },
    /// Give the core away, and look again.
    Yield,
    /// Sleep.
    Sleep,
}

/// Time for which a rank has spun, in all of its waits, since it last yielded.
///
/// The kernel carries its packets on a network, partly in a thread of its own (`ksoftirqd`). A rank
/// whose waits are all short would leave that thread without this core for a time slice, some
/// milliseconds, in which the queues that it serves overflow; TCP's packets are in them too.
#[derive(Default)]
struct SpinTime(Relaxed<u64>);

impl SpinTime {
    /// Adds a spin; true if a yield is due. Threads that add at once may miss some.
    fn is_over(&self, spun: Duration) -> bool {
        let total = self.0.get() + spun.as_nanos() as u64;
        let is_over = total >= SPIN_ON_NETWORK_FOR.as_nanos() as u64;
        self.0.set(if is_over { 0 } else { total });
        is_over
    }
}

/// Time that a rank has had its core, which it shares, without a yield or a sleep in any of its
/// waits. Threads that count at once may miss some.
struct CoreTime {
    /// Begin of the quantum, in nanoseconds from the start; [`u64::MAX`] if it has not begun.
    began: Relaxed<u64>,
}

impl CoreTime {
    fn new() -> Self {
        CoreTime { began: Relaxed::new(u64::MAX) }
    }

    /// True if the quantum is over, and a new one begins; `now` is the time from the start.
    fn is_over(&self, now: Duration) -> bool {
        let (now, began) = (now.as_nanos() as u64, self.began.get());
        let is_over = now.saturating_sub(began) >= QUANTUM.as_nanos() as u64;
        if is_over || began == u64::MAX {
            self.began.set(now);
        }
        is_over
    }

    /// The core was given away.
    fn end(&self) {
        self.began.set(u64::MAX);
    }
}

/// Times of a rank's waits, and what all of them have used of these.
pub struct Budget {
    times: WaitTimes,
    /// On a network.
    spin_time: Option<SpinTime>,
    core_time: CoreTime,
}

impl Budget {
    /// Of waits over links of a network, or others.
    pub fn new(times: WaitTimes, is_network: bool) -> Self {
        let spin_time = is_network.then(SpinTime::default);
        Budget { times, spin_time, core_time: CoreTime::new() }
    }

    /// A look has found something, `now` from the start. True if the core, which the rank shares,
    /// is to be given away all the same.
    pub fn is_quantum_over(&self, core: Core, now: impl FnOnce() -> Duration) -> bool {
        core != Core::Own && self.core_time.is_over(now())
    }
}

/// Time of a wait before its first sleep.
pub(super) fn patience(core: Core) -> Duration {
    match core {
        Core::Own => YIELD_ALONE_FOR,
        Core::Shared => YIELD_ON_SHARED_CORE_FOR,
        Core::Busy | Core::Rationed => PATIENCE,
    }
}

/// A wait of one thread.
pub struct Backoff<'a> {
    budget: &'a Budget,
    spins: Spins,
    /// Yields of this wait, since the last progress.
    yields: Option<Yields>,
    /// Time of the last look after all spins, and from the one before to that, until it is taken.
    gap: Option<(Instant, Duration)>,
}

/// Empty polls in a row, of a rank with a core to itself.
#[derive(Default)]
struct Spins {
    looks: u32,
    /// Times of the first look at the clock among them, and of the last.
    clock: Option<(Instant, Instant)>,
    /// True once pauses are between the looks.
    pauses: bool,
}

/// Yields in a row.
struct Yields {
    since: Instant,
    last: Instant,
    /// Time of those that did not come back at once.
    lost: Duration,
}

impl Yields {
    /// True if nobody else wants the core, as far as yields show. An interrupt, or a thread of the
    /// kernel, takes a moment now and then; whoever computes takes time slices.
    fn are_alone(&self) -> bool {
        self.lost <= MOMENT.max((self.last - self.since) / LOST_SHARE)
    }
}

impl<'a> Backoff<'a> {
    /// A wait that begins.
    pub fn new(budget: &'a Budget) -> Self {
        Backoff { budget, spins: Spins::default(), yields: None, gap: None }
    }

    /// Something was found, though not what is waited for.
    pub fn progress(&mut self) {
        self.spins = Spins::default();
        self.yields = None;
    }

    /// The pace after a look that found nothing, on such a core. `now` is asked seldom.
    pub fn idle(&mut self, core: Core, now: impl Fn() -> Instant) -> Pace {
        let Budget { times, spin_time, core_time } = self.budget;
        let spins = core == Core::Own && !times.spin.is_zero() && self.yields.is_none();
        if spins && let Some(pace) = self.spins.idle(times, spin_time.as_ref(), &now) {
            return pace;
        }
        core_time.end();
        if times.yields.is_zero() {
            return Pace::Sleep;
        }
        self.pace_at(core, now())
    }

    /// Time of the last look after all spins, and how long it and a yield before it took: evidence
    /// of who else wants the core.
    pub fn take_gap(&mut self) -> Option<(Instant, Duration)> {
        self.gap.take()
    }

    /// The pace of a look, after all spins, that found nothing.
    fn pace_at(&mut self, core: Core, now: Instant) -> Pace {
        let times = &self.budget.times;
        let yields =
            self.yields.get_or_insert(Yields { since: now, last: now, lost: Duration::ZERO });
        let gap = now - yields.last;
        yields.last = now;
        if gap > LONGEST_ALONE {
            yields.lost += gap;
        }
        self.gap = Some((now, gap));
        let limit = match core {
            Core::Own if yields.are_alone() => times.yields_alone,
            Core::Own => times.yields,
            core => patience(core),
        };
        match now - yields.since < limit {
            true if core == Core::Busy => Pace::Spin { pauses: true },
            true => Pace::Yield,
            false => Pace::Sleep,
        }
    }
}

impl Spins {
    /// The pace after a look that found nothing; `None` once there were enough of them. Each look
    /// at a network takes as long as one at the clock, at least, and so all of them are timed.
    #[inline]
    fn idle(
        &mut self,
        times: &WaitTimes,
        spin_time: Option<&SpinTime>,
        now: impl Fn() -> Instant,
    ) -> Option<Pace> {
        self.looks = self.looks.wrapping_add(1);
        if spin_time.is_none() && !self.looks.is_multiple_of(LOOKS_PER_CLOCK) {
            return Some(Pace::Spin { pauses: self.pauses });
        }
        let now = now();
        let (since, last) = *self.clock.get_or_insert((now, now));
        self.clock = Some((since, now));
        let spun = now - since;
        if spun >= times.spin {
            return None;
        }
        if spin_time.is_some_and(|spin_time| spin_time.is_over(now - last)) {
            return Some(Pace::Yield);
        }
        self.pauses = spun >= SPIN_AT_ONCE_FOR;
        Some(Pace::Spin { pauses: self.pauses })
    }
}

#[cfg(test)]
mod tests;
