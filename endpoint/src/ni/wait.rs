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
use crate::ni::contention::system::{LimitFiles, fared};
use crate::ni::contention::{Contention, Core, Fared};
use crate::ni::pause::Pauses;
use crate::ni::place::{Place, Returns};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use weft_link::clock::Nanoseconds;
use weft_link::status::Awaited;

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
    /// Time to spin before the first yield, counted from the last progress.
    pub spin_for: Duration,
    /// Pauses between two looks of a rank that spins.
    pub pauses: Pauses,
    /// Time to yield before the first sleep, counted from the last progress.
    pub yield_for: Duration,
    /// Time to do so while nobody else wants the core.
    pub yield_alone_for: Duration,
    /// Knowledge of the core without looking.
    pub core: Core,
    /// True if that is all there is to know: nothing is sampled.
    pub core_is_certain: bool,
    /// Core to go to when it waits, where several ranks share each.
    pub place: Option<Place>,
}

impl WaitPolicy {
    /// Sleeps at once: for ranks whose sleep costs nothing, such as simulated ones.
    pub const SLEEP: WaitPolicy = WaitPolicy {
        spin_for: Duration::ZERO,
        pauses: Pauses::ONE,
        yield_for: Duration::ZERO,
        yield_alone_for: Duration::ZERO,
        core: Core::Own,
        core_is_certain: false,
        place: None,
    };

    /// The policy for a job with `ranks` ranks on a host with `cores` cores.
    pub fn for_ranks(ranks: usize, cores: usize) -> Self {
        // Those who wait for a rank may be asleep, so that a core that it shares seems its own.
        let core = if ranks <= cores { Core::Own } else { Core::Shared };
        WaitPolicy {
            spin_for: SPIN_FOR,
            pauses: Pauses::measured(),
            yield_for: YIELD_FOR,
            yield_alone_for: YIELD_ALONE_FOR,
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

/// Next action of a waiting thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pace {
    /// Look again, after pauses or at once. The other thread of this core needs them, once a wait
    /// is long.
    Spin {
        pauses: bool,
    },
    Yield,
    Sleep,
}

/// Time for which a rank with a core to itself looks again and again before it yields: about what
/// a wake-up costs, so that an answer that comes in this time costs neither.
const SPIN_FOR: Duration = Duration::from_micros(50);
/// Part of that time in which it does not even pause.
const SPIN_AT_ONCE_FOR: Duration = Duration::from_micros(1);
/// Looks at memory between two of the clock while a rank spins. Such a look takes a few
/// nanoseconds, and one at the clock 20 to 30.
const LOOKS_PER_CLOCK: u32 = 16;
/// Time for which a rank on a network may spin, in all of its waits together, before it yields
/// once.
const SPIN_ON_NETWORK_FOR: Duration = Duration::from_micros(100);
/// Time for which a rank with a core to itself yields before it sleeps, if some of its yields did
/// not come back at once, and for which one that shares its core does.
const YIELD_FOR: Duration = Duration::from_micros(200);
const YIELD_ON_SHARED_CORE_FOR: Duration = Duration::from_micros(500);
/// Time for which a rank yields while all of its yields come back at once.
const YIELD_ALONE_FOR: Duration = Duration::from_millis(5);
/// Time before the sleep of a rank whose sleep is better than a yield, because others keep its core
/// for long, or because it may not use it for long: about what a sleep costs.
const PATIENCE: Duration = Duration::from_micros(20);
/// Nanoseconds between two looks at what the system says about the core.
const OBSERVE_EVERY: Nanoseconds = 5_000_000;
/// Nanoseconds between them after a look that took long.
const OBSERVE_AT_ONCE: Nanoseconds = 500_000;
/// Time between two yields of a program that polls, while nobody else wants its core.
const PROBE_EVERY: Duration = Duration::from_micros(100);
/// Longest time between two polls of a program that does nothing else.
const LONGEST_POLL: Duration = Duration::from_micros(8);
/// Polls between two pauses of a program that polls, while nobody else wants its core.
const POLLS_PER_PAUSE: u32 = 256;
/// Polls between them while others want it that give it back soon. A message that comes in this
/// time, some microseconds, costs no yield there and back, and meanwhile more come for the others.
const POLLS_PER_PAUSE_ON_SHARED_CORE: u32 = 4;
/// Time after which a program that polls seldom pauses again, so that others see that it goes on.
const PAUSE_WITHIN: Duration = Duration::from_millis(50);
/// Longest sleep of a program that polls, and may wait for something besides packets.
const LONGEST_NAP: Duration = Duration::from_millis(1);
/// Longest time between two yields, a look at the network included, that nobody else had the core.
const LONGEST_ALONE: Duration = Duration::from_micros(50);
/// Time that may be lost to others all the same, and part of the wait.
const MOMENT: Duration = Duration::from_micros(150);
const LOST_SHARE: u32 = 20;

/// Time for which a rank has spun, in all of its waits, since it last yielded.
///
/// The kernel carries its packets on a network, partly in a thread of its own (`ksoftirqd`). A rank
/// whose waits are all short would leave that thread without this core for a time slice, some
/// milliseconds, in which the queues that it serves overflow; TCP's packets are in them too.
#[derive(Default)]
pub(crate) struct SpinTime(AtomicU64);

impl SpinTime {
    /// Adds a spin; true if a yield is due. Threads that add at once may miss some.
    fn is_over(&self, spun: Duration) -> bool {
        let total = self.0.load(Ordering::Relaxed) + spun.as_nanos() as u64;
        let is_over = total >= SPIN_ON_NETWORK_FOR.as_nanos() as u64;
        self.0.store(if is_over { 0 } else { total }, Ordering::Relaxed);
        is_over
    }
}

/// Time for which a rank that shares its core goes on, when all that it waits for is there. A
/// yield costs it a microsecond or two; the scheduler would take the core from it after some
/// milliseconds, in which it serves the ranks of other cores and none of its own.
const QUANTUM: Duration = Duration::from_micros(100);

/// Time that a rank has had its core, which it shares, without a yield or a sleep in any of its
/// waits. Threads that count at once may miss some.
pub(crate) struct CoreTime {
    /// Begin of the quantum, in nanoseconds from the start; [`u64::MAX`] if it has not begun.
    began: AtomicU64,
}

impl CoreTime {
    fn new() -> Self {
        CoreTime { began: AtomicU64::new(u64::MAX) }
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
    start: Instant,
    /// The last verdict about its core.
    core: AtomicU8,
    monitor: Mutex<Monitor>,
    /// Time of the next look at what the system says, in nanoseconds from the start, and yields and
    /// sleeps since the last one.
    observe_at: AtomicU64,
    yields: AtomicU32,
    sleeps: AtomicU32,
    /// On a network.
    spin_time: Option<SpinTime>,
    core_time: CoreTime,
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
            core: AtomicU8::new(policy.core as u8),
            monitor: Mutex::new(Monitor {
                contention: Contention::new(policy.core),
                limits: None,
                returns: Returns::default(),
            }),
            observe_at: AtomicU64::new(0),
            yields: AtomicU32::new(0),
            sleeps: AtomicU32::new(0),
            spin_time: is_network.then(SpinTime::default),
            core_time: CoreTime::new(),
            polls: Polls::default(),
        }
    }

    /// The last verdict about the core of this rank.
    #[inline]
    pub fn core(&self) -> Core {
        Core::from_bits(self.core.load(Ordering::Relaxed))
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
                match pacer.idle(Instant::now) {
                    Pace::Spin { pauses: false } => {}
                    Pace::Spin { pauses: true } => self.policy.pauses.pass(),
                    Pace::Yield => self.yield_now(),
                    Pace::Sleep => {
                        self.count_sleep();
                        found = sleep(step)?;
                    }
                }
            } else if self.core() != Core::Own && self.core_time.is_over(self.start.elapsed()) {
                self.yield_now();
            }
            match found {
                Step::Done => return Ok(()),
                Step::Progress => pacer.progress(),
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
                self.count_sleep();
                sleep(LONGEST_NAP)?;
                self.start.elapsed()
            }
        };
        let gap = if pace == Pace::Yield { after - now } else { Duration::ZERO };
        self.observe(after, gap);
        let polls = self.polls.until_next(now, begins, polls_per_pause(self.core()));
        self.polls.paused(after, polls);
        Ok(polls)
    }

    /// Looks at what the system says about the core, if that is due: two looks in vain had this
    /// time between them.
    fn observe(&self, now: Duration, gap: Duration) {
        if self.policy.core_is_certain {
            return;
        }
        let early = if gap >= LONGEST_ALONE { OBSERVE_EVERY - OBSERVE_AT_ONCE } else { 0 };
        if now.as_nanos() as u64 + early >= self.observe_at.load(Ordering::Relaxed) {
            self.observe_now(now.as_nanos() as u64);
        }
    }

    #[cold]
    fn observe_now(&self, now: Nanoseconds) {
        // Another thread that waits does the same.
        let Ok(mut monitor) = self.monitor.try_lock() else { return };
        self.observe_at.store(now + OBSERVE_EVERY, Ordering::Relaxed);
        let Monitor { contention, limits, returns } = &mut *monitor;
        let yields = self.yields.swap(0, Ordering::Relaxed).into();
        let sleeps = self.sleeps.swap(0, Ordering::Relaxed).into();
        if let Some(fared) = fared(now) {
            contention.fared(now, Fared { yields, sleeps, ..fared });
        }
        if contention.wants_limits(now) {
            let limits = limits.get_or_insert_with(LimitFiles::open);
            contention.limited(now, limits.sample());
        }
        let core = contention.verdict(now);
        self.core.store(core as u8, Ordering::Relaxed);
        if let Some(place) = self.policy.place.filter(|_| core == Core::Shared) {
            returns.go(now, place);
        }
    }

    /// Gives the core away. Threads that count at once may miss some.
    fn yield_now(&self) {
        self.yields.store(self.yields.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        std::thread::yield_now();
    }

    fn count_sleep(&self) {
        self.sleeps.store(self.sleeps.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }
}

/// Polls in vain of a program that polls again and again; times are nanoseconds from the start.
#[derive(Default)]
struct Polls {
    /// Begin of the wait.
    since: AtomicU64,
    /// End of the last yield, and of the last pause.
    yielded: AtomicU64,
    paused: AtomicU64,
    /// Polls from that on until the next pause.
    count: AtomicU32,
}

impl Polls {
    /// The next action, after as many polls in vain as the last pause said.
    fn pace(&self, now: Duration, begins: bool, core: Core) -> Pace {
        let polls = self.count.load(Ordering::Relaxed);
        let ago = |time: &AtomicU64| {
            now.saturating_sub(Duration::from_nanos(time.load(Ordering::Relaxed)))
        };
        // Who does other things between its polls is left alone.
        if begins || ago(&self.paused) > LONGEST_POLL * polls {
            self.since.store(now.as_nanos() as u64, Ordering::Relaxed);
        }
        match core {
            _ if ago(&self.since) >= patience_of_polls(core) => Pace::Sleep,
            Core::Own if ago(&self.yielded) < PROBE_EVERY => Pace::Spin { pauses: false },
            Core::Busy => Pace::Spin { pauses: false },
            _ => Pace::Yield,
        }
    }

    /// Polls until the next pause: so many, or fewer where those since the last one took long.
    fn until_next(&self, now: Duration, begins: bool, most: u32) -> u32 {
        let paused = Duration::from_nanos(self.paused.load(Ordering::Relaxed));
        let took = now.saturating_sub(paused);
        if begins {
            return most;
        }
        let polls = self.count.load(Ordering::Relaxed);
        let polls = f64::from(polls) * PAUSE_WITHIN.div_duration_f64(took);
        // Those that take no time are as many as may be.
        (polls as u32).clamp(1, most)
    }

    fn yielded(&self, now: Duration) {
        self.yielded.store(now.as_nanos() as u64, Ordering::Relaxed);
    }

    fn paused(&self, now: Duration, count: u32) {
        self.paused.store(now.as_nanos() as u64, Ordering::Relaxed);
        self.count.store(count, Ordering::Relaxed);
    }
}

fn polls_per_pause(core: Core) -> u32 {
    match core {
        Core::Own => POLLS_PER_PAUSE,
        Core::Shared => POLLS_PER_PAUSE_ON_SHARED_CORE,
        Core::Busy | Core::Rationed => 1,
    }
}

/// Time of polls in vain before the first sleep. Sleeps are short there, so that there are more of
/// them, and others that yield as well give the core back at once.
fn patience_of_polls(core: Core) -> Duration {
    match core {
        Core::Own | Core::Shared => YIELD_ALONE_FOR,
        core => patience(core),
    }
}

/// Time of a wait before its first sleep.
fn patience(core: Core) -> Duration {
    match core {
        Core::Own => YIELD_ALONE_FOR,
        Core::Shared => YIELD_ON_SHARED_CORE_FOR,
        Core::Busy | Core::Rationed => PATIENCE,
    }
}

struct Pacer<'a> {
    waits: &'a Waits,
    core: Core,
    spins: Spins,
    /// Yields of this wait, since the last progress.
    yields: Option<Yields>,
}

/// Looks in vain in a row, of a rank with a core to itself.
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

impl<'a> Pacer<'a> {
    fn new(waits: &'a Waits) -> Self {
        Pacer { waits, core: Core::Own, spins: Spins::default(), yields: None }
    }

    fn progress(&mut self) {
        self.spins = Spins::default();
        self.yields = None;
    }

    /// The pace after a look that found nothing. `now` is asked seldom.
    fn idle(&mut self, now: impl Fn() -> Instant) -> Pace {
        let Waits { policy, spin_time, core_time, .. } = self.waits;
        self.core = self.waits.core();
        let spins = self.core == Core::Own && !policy.spin_for.is_zero() && self.yields.is_none();
        if spins && let Some(pace) = self.spins.idle(policy, spin_time.as_ref(), &now) {
            return pace;
        }
        core_time.end();
        if policy.yield_for.is_zero() {
            return Pace::Sleep;
        }
        self.pace_at(now())
    }

    /// The pace of a look, after all spins, that found nothing.
    fn pace_at(&mut self, now: Instant) -> Pace {
        let policy = &self.waits.policy;
        let yields =
            self.yields.get_or_insert(Yields { since: now, last: now, lost: Duration::ZERO });
        let gap = now - yields.last;
        yields.last = now;
        if gap > LONGEST_ALONE {
            yields.lost += gap;
        }
        self.waits.observe(now - self.waits.start, gap);
        let limit = match self.core {
            Core::Own if yields.are_alone() => policy.yield_alone_for,
            Core::Own => policy.yield_for,
            core => patience(core),
        };
        match now - yields.since < limit {
            true if self.core == Core::Busy => Pace::Spin { pauses: true },
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
        policy: &WaitPolicy,
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
        if spun >= policy.spin_for {
            return None;
        }
        if spin_time.is_some_and(|spin_time| spin_time.is_over(now - last)) {
            return Some(Pace::Yield);
        }
        self.pauses = spun >= SPIN_AT_ONCE_FOR;
        Some(Pace::Spin { pauses: self.pauses })
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
