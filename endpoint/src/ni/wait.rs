//! Waits of a rank's threads: the paces are those of [`backoff`](crate::presence::backoff) and
//! [`polls`](crate::presence::polls), the verdict about the core that of
//! [`contention`](crate::presence::contention); here are the clock, the yields, and the samples.

use crate::Result;
use crate::ni::pause::Pauses;
use crate::ni::place::{Place, Returns};
use crate::ni::samples::{LimitFiles, fared};
use crate::presence::backoff::{Backoff, Budget, Pace, Step, WaitTimes};
use crate::presence::cell::Relaxed;
use crate::presence::constants::LONGEST_NAP;
use crate::presence::contention::{Contention, Core, Fared, Sampling};
use crate::presence::polls::Polls;
use std::sync::Mutex;
use std::time::{Duration, Instant};
use weft_link::clock::Nanoseconds;
use weft_link::status::Awaited;

/// Time to spin, and to yield, before sleeping.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WaitPolicy {
    /// Times of each wait.
    pub times: WaitTimes,
    /// Pauses between two looks of a rank that spins.
    pub pauses: Pauses,
    /// Knowledge of the core without looking.
    pub core: Core,
    /// True if `core` is certain: nothing is sampled.
    pub core_is_certain: bool,
    /// Core to go to when it waits, where several ranks share each.
    pub place: Option<Place>,
}

impl WaitPolicy {
    /// Sleeps at once: for ranks whose sleep costs nothing, such as simulated ones.
    pub const SLEEP: WaitPolicy = WaitPolicy {
        times: WaitTimes::NONE,
        pauses: Pauses::ONE,
        core: Core::Own,
        core_is_certain: false,
        place: None,
    };

    /// The policy for a job with `ranks` ranks on a host with `cores` cores.
    pub fn for_ranks(ranks: usize, cores: usize) -> Self {
        // Those who wait for a rank may be asleep, so that a core that it shares seems its own.
        let core = if ranks <= cores { Core::Own } else { Core::Shared };
        WaitPolicy {
            times: WaitTimes::USUAL,
            pauses: Pauses::measured(),
            core,
            core_is_certain: false,
            place: None,
        }
    }

    /// Makes it one for a rank with this place.
    #[must_use]
    pub fn at(self, place: Option<Place>) -> Self {
        WaitPolicy { place, ..self }
    }

    /// Makes it one for ranks of which somebody else knows that each has a core to itself.
    #[must_use]
    pub fn with_own_cores(self) -> Self {
        WaitPolicy { core: Core::Own, core_is_certain: true, ..self }
    }

    /// Makes it one for ranks that may use so much of the time of these cores, in all.
    #[must_use]
    pub fn within_quota(self, quota: Option<f64>, ranks: usize, cores: usize) -> Self {
        let is_rationed = quota.is_some_and(|quota| quota < ranks.min(cores) as f64);
        WaitPolicy { core: if is_rationed { Core::Rationed } else { self.core }, ..self }
    }
}

/// Waits of one rank.
pub(crate) struct Waits {
    policy: WaitPolicy,
    start: Instant,
    /// The last verdict about its core.
    core: Relaxed<Core>,
    monitor: Mutex<Monitor>,
    sampling: Sampling,
    budget: Budget,
    polls: Polls,
}

/// State that decides about the core.
struct Monitor {
    contention: Contention,
    limits: Option<LimitFiles>,
    returns: Returns,
}

impl Waits {
    /// Waits by `policy` over links of a network, or others.
    pub fn new(policy: WaitPolicy, is_network: bool) -> Self {
        Waits {
            policy,
            start: Instant::now(),
            core: Relaxed::new(policy.core),
            monitor: Mutex::new(Monitor {
                contention: Contention::new(policy.core),
                limits: None,
                returns: Returns::default(),
            }),
            sampling: Sampling::default(),
            budget: Budget::new(policy.times, is_network),
            polls: Polls::default(),
        }
    }

    /// The last verdict about the core of this rank.
    #[inline]
    pub fn core(&self) -> Core {
        self.core.get()
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
        let mut backoff = Backoff::new(&self.budget);
        loop {
            let mut found = step()?;
            if found == Step::Idle {
                let pace = backoff.idle(self.core(), Instant::now);
                if let Some((now, gap)) = backoff.take_gap() {
                    self.observe(now - self.start, gap);
                }
                match pace {
                    Pace::Spin { pauses: false } => {}
                    Pace::Spin { pauses: true } => self.policy.pauses.pass(),
                    Pace::Yield => self.yield_now(),
                    Pace::Sleep => {
                        self.sampling.slept();
                        found = sleep(step)?;
                    }
                }
            } else if self.budget.is_quantum_over(self.core(), || self.start.elapsed()) {
                self.yield_now();
            }
            match found {
                Step::Done => return Ok(()),
                Step::Progress => backoff.progress(),
                Step::Idle => {}
            }
        }
    }

    /// Pause of a program that does not wait in here, but has polled in vain, as often as the last
    /// pause said; for the first time since it found something, if the wait `begins`. Gives the
    /// core away as a wait would; `sleep` is called to sleep for so long at most. Returns the
    /// number of polls until the next pause.
    ///
    /// # Errors
    /// Those of `sleep`.
    pub fn pause(
        &self,
        begins: bool,
        sleep: &mut dyn FnMut(Duration) -> Result<Step>,
    ) -> Result<u32> {
        let now = self.start.elapsed();
        let pace = self.polls.pace(now, begins, self.core());
        let after = match pace {
            Pace::Spin { .. } => now,
            Pace::Yield => {
                self.yield_now();
                let after = self.start.elapsed();
                self.polls.yielded(after);
                after
            }
            Pace::Sleep => {
                self.sampling.slept();
                sleep(LONGEST_NAP)?;
                self.start.elapsed()
            }
        };
        let gap = if pace == Pace::Yield { after - now } else { Duration::ZERO };
        self.observe(after, gap);
        Ok(self.polls.paused(now, after, begins, self.core()))
    }

    /// Looks at what the system says about the core, if that is due: two looks in vain had this
    /// time between them.
    fn observe(&self, now: Duration, gap: Duration) {
        let now = now.as_nanos() as u64;
        if !self.policy.core_is_certain && self.sampling.is_due(now, gap) {
            self.observe_now(now);
        }
    }

    #[cold]
    fn observe_now(&self, now: Nanoseconds) {
        // Another thread that waits does the same.
        let Ok(mut monitor) = self.monitor.try_lock() else { return };
        let (yields, sleeps) = self.sampling.begin(now);
        let Monitor { contention, limits, returns } = &mut *monitor;
        if let Some(fared) = fared(now) {
            contention.fared(now, Fared { yields, sleeps, ..fared });
        }
        if contention.wants_limits(now) {
            let limits = limits.get_or_insert_with(LimitFiles::open);
            contention.limited(now, limits.sample());
        }
        let core = contention.verdict(now);
        self.core.set(core);
        if let Some(place) = self.policy.place.filter(|_| core == Core::Shared) {
            returns.go(now, place);
        }
    }

    /// Gives the core away. Threads that count at once may miss some.
    fn yield_now(&self) {
        self.sampling.yielded();
        std::thread::yield_now();
    }
}

/// Object of a wait, made when somebody may want to know it.
pub(crate) type What<'a> = &'a (dyn Fn() -> Awaited + 'a);

/// Time from which on a wait does not sleep any more, by the node's clock, if there is one.
pub(crate) type Deadline = Option<Duration>;

/// A look at the thing waited for.
pub(crate) type Look<'a> = dyn FnMut() -> Result<Step> + 'a;

#[cfg(test)]
mod tests;
