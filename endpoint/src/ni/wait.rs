//! Waiting of a thread: spin, then yield, then sleep.
//!
//! A poll costs some ten nanoseconds, a yield to another rank about a microsecond, a wake-up from
//! sleep 20 to 50 (`docs/internals/performance.md`). So a rank that has a core to itself spins
//! first; one that shares its core yields at once, because the rank that it waits for may need that
//! core; and one that has waited for longer than a few wake-ups sleeps. As long as its yields come
//! back at once nobody else wants its core, and it goes on for longer: who computes for some
//! milliseconds and then answers is answered without a wake-up. One that shares its core
//! and finds something at every look does not wait at all, and yields once in a [`QUANTUM`]:
//! whoever is to be answered next may be a rank that does not run meanwhile.

use crate::Result;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
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

/// Time to spin, and to yield, before sleeping.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WaitPolicy {
    /// Idle looks before the first yield.
    pub spins: u32,
    /// Time to yield before the first sleep, counted from the last progress.
    pub yield_for: Duration,
    /// Time to do so while nobody else wants the core.
    pub yield_alone_for: Duration,
}

impl WaitPolicy {
    /// Sleeps at once: for ranks whose sleep costs nothing, such as simulated ones.
    pub const SLEEP: WaitPolicy =
        WaitPolicy { spins: 0, yield_for: Duration::ZERO, yield_alone_for: Duration::ZERO };

    /// The policy for a job with `ranks` ranks on a host with `cores` cores.
    pub fn for_ranks(ranks: usize, cores: usize) -> Self {
        if ranks <= cores {
            let yield_for = Duration::from_micros(200);
            WaitPolicy { spins: 300, yield_for, yield_alone_for: YIELD_ALONE_FOR }
        } else {
            // Those who wait for this one may be asleep, so that its core seems to be its own.
            let yield_for = Duration::from_micros(500);
            WaitPolicy { spins: 0, yield_for, yield_alone_for: yield_for }
        }
    }
}

/// Next action of a waiting thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pace {
    /// Pause this often. The other thread of this core needs it, once a wait is long.
    Spin(u32),
    Yield,
    Sleep,
}

/// Time for which a rank with a core to itself yields before it sleeps.
const YIELD_ALONE_FOR: Duration = Duration::from_millis(5);
/// Longest time between two yields, a look at the network included, that nobody else had the core.
const LONGEST_ALONE: Duration = Duration::from_micros(50);

/// Spins without a pause: an arrival within a microsecond is seen at once.
const SPINS_AT_ONCE: u32 = 50;

/// Spins after which a rank on a network yields once, if none of its waits was long enough for
/// that: about 0.1 ms.
const SPINS_PER_YIELD: u32 = 1000;

/// Spins of all waits of a rank since it last yielded.
///
/// The kernel carries its packets on a network, partly in a thread of its own (`ksoftirqd`). A rank
/// whose waits are all short would leave that thread without this core for a time slice, some
/// milliseconds, in which the queues that it serves overflow; TCP's packets are in them too.
#[derive(Default)]
pub(crate) struct SpinCount(AtomicU32);

impl SpinCount {
    /// Counts a spin; true if a yield is due. Threads that count at once may miss some.
    fn count_spin(&self) -> bool {
        let spins = self.0.load(Ordering::Relaxed) + 1;
        let yields = spins >= SPINS_PER_YIELD;
        self.0.store(if yields { 0 } else { spins }, Ordering::Relaxed);
        yields
    }
}

/// Time for which a rank that shares its core goes on, when all that it waits for is there. A
/// yield costs it a microsecond or two; the scheduler would take the core from it after some
/// milliseconds, in which it serves the ranks of other cores and none of its own.
const QUANTUM: Duration = Duration::from_micros(100);

/// Time that a rank has had its core, which it shares, without a yield or a sleep in any of its
/// waits. Threads that count at once may miss some.
pub(crate) struct CoreTime {
    start: Instant,
    /// Begin of the quantum, in nanoseconds from the start; [`u64::MAX`] if it has not begun.
    began: AtomicU64,
}

impl CoreTime {
    fn new() -> Self {
        CoreTime { start: Instant::now(), began: AtomicU64::new(u64::MAX) }
    }

    /// True if the quantum is over, and a new one begins; `now` is the time from the start.
    fn is_over(&self, now: Duration) -> bool {
        let (now, began) = (now.as_nanos() as u64, self.began.load(Ordering::Relaxed));
        let is_over = now.saturating_sub(began) >= QUANTUM.as_nanos() as u64;
        if is_over || began == u64::MAX {
            self.began.store(now, Ordering::Relaxed);
        }
        is_over
    }

    /// The core was given away.
    fn end(&self) {
        self.began.store(u64::MAX, Ordering::Relaxed);
    }
}

/// Waits of one rank.
pub(crate) struct Waits {
    policy: WaitPolicy,
    /// On a network.
    spin_count: Option<SpinCount>,
    /// On a core that it shares.
    core_time: Option<CoreTime>,
}

impl Waits {
    /// Waits by `policy` over links of a network, or others.
    pub fn new(policy: WaitPolicy, is_network: bool) -> Self {
        let shares_core = policy.spins == 0 && !policy.yield_for.is_zero();
        Waits {
            policy,
            spin_count: is_network.then(SpinCount::default),
            core_time: shares_core.then(CoreTime::new),
        }
    }

    /// Calls `step` until it is done. `sleep` is called to sleep; it must come back when something
    /// may have changed.
    ///
    /// # Errors
    /// The first error of `step` or `sleep`.
    pub fn wait(
        &self,
        step: &mut Look<'_>,
        sleep: &mut dyn FnMut(&mut Look<'_>) -> Result<Step>,
    ) -> Result<()> {
        let mut pacer = Pacer::new(self);
        loop {
            let mut found = step()?;
            if found == Step::Idle {
                match pacer.idle() {
                    Pace::Spin(pauses) => (0..pauses).for_each(|_| std::hint::spin_loop()),
                    Pace::Yield => std::thread::yield_now(),
                    Pace::Sleep => found = sleep(step)?,
                }
            } else if self.core_time.as_ref().is_some_and(|time| time.is_over(time.start.elapsed()))
            {
                std::thread::yield_now();
            }
            match found {
                Step::Done => return Ok(()),
                Step::Progress => pacer.progress(),
                Step::Idle => {}
            }
        }
    }
}

struct Pacer<'a> {
    waits: &'a Waits,
    idle: u32,
    /// Yields of this wait, since the last progress.
    yields: Option<Yields>,
}

/// Yields in a row.
struct Yields {
    since: Instant,
    last: Instant,
    /// True if all of them came back at once.
    are_alone: bool,
}

impl<'a> Pacer<'a> {
    fn new(waits: &'a Waits) -> Self {
        Pacer { waits, idle: 0, yields: None }
    }

    fn progress(&mut self) {
        self.idle = 0;
        self.yields = None;
    }

    fn idle(&mut self) -> Pace {
        let Waits { policy, spin_count, core_time } = self.waits;
        self.idle = self.idle.saturating_add(1);
        if self.idle <= policy.spins {
            if spin_count.as_ref().is_some_and(SpinCount::count_spin) {
                return Pace::Yield;
            }
            return Pace::Spin(if self.idle < SPINS_AT_ONCE { 0 } else { 16 });
        }
        if let Some(core_time) = core_time {
            core_time.end();
        }
        if policy.yield_for.is_zero() {
            return Pace::Sleep;
        }
        self.pace_at(Instant::now())
    }

    /// The pace of a look, after all spins, that found nothing.
    fn pace_at(&mut self, now: Instant) -> Pace {
        let policy = &self.waits.policy;
        let yields = self.yields.get_or_insert(Yields { since: now, last: now, are_alone: true });
        yields.are_alone &= now - yields.last <= LONGEST_ALONE;
        yields.last = now;
        let limit = if yields.are_alone { policy.yield_alone_for } else { policy.yield_for };
        if now - yields.since < limit { Pace::Yield } else { Pace::Sleep }
    }
}

/// A look at the thing waited for.
pub(crate) type Look<'a> = dyn FnMut() -> Result<Step> + 'a;

#[cfg(test)]
mod tests;
