//! Rest of a program that reads a queue, after a look that found something.
//!
//! Programs read a queue until it is empty. So each message is followed by a look in vain, before
//! the program does anything with what the message brought. On a network such a look is a system
//! call or two, 0.3 to 0.6 us on the way of each answer. So a read at once after the one that ends
//! a wait says that the queue is empty, without a look. One that comes later looks: its program
//! reads seldom. While reads bring something again and again none rests: more may be there already.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::time::Duration;

/// Longest time after the end of a wait in which a read comes at once.
const AT_ONCE: Duration = Duration::from_micros(2);

/// Nothing was found by the last look.
const WAITS: u8 = 0;
/// The last look ended a wait.
const ENDED: u8 = 1;
/// All looks since the end of a wait have found something.
const BUSY: u8 = 2;

/// Rests of a job's reads. Threads that read at once may miss some.
pub(crate) struct Rest {
    /// True if a look may be a system call.
    looks_are_calls: bool,
    state: AtomicU8,
    /// Time of the last end of a wait, in nanoseconds.
    ended: AtomicU64,
}

impl Rest {
    /// Rests where `looks_are_calls` says that a look may be a system call, and none elsewhere.
    pub fn new(looks_are_calls: bool) -> Self {
        Rest { looks_are_calls, state: AtomicU8::new(BUSY), ended: AtomicU64::new(0) }
    }

    /// A look has found something.
    #[inline(always)]
    pub fn found(&self, now: impl FnOnce() -> Duration) {
        if self.state.load(Ordering::Relaxed) == WAITS {
            self.ended.store(now().as_nanos() as u64, Ordering::Relaxed);
            self.state.store(ENDED, Ordering::Relaxed);
        }
    }

    /// A look has found nothing.
    #[inline(always)]
    pub fn found_nothing(&self) {
        if self.looks_are_calls {
            self.state.store(WAITS, Ordering::Relaxed);
        }
    }

    /// True if the look that is next can be left out. The one after it cannot.
    #[inline(always)]
    pub fn is_due(&self, now: impl FnOnce() -> Duration) -> bool {
        self.state.load(Ordering::Relaxed) == ENDED && self.begins(now())
    }

    #[inline(never)]
    fn begins(&self, now: Duration) -> bool {
        self.state.store(BUSY, Ordering::Relaxed);
        let ended = Duration::from_nanos(self.ended.load(Ordering::Relaxed));
        now.saturating_sub(ended) < AT_ONCE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Duration = Duration::from_secs(1);

    fn on_a_network() -> Rest {
        let rest = Rest::new(true);
        rest.found_nothing();
        rest
    }

    #[test]
    fn one_look_is_left_out_after_each_wait() {
        let rest = on_a_network();
        for _ in 0..2 {
            assert!(!rest.is_due(|| NOW), "it waits");
            rest.found(|| NOW);
            assert!(rest.is_due(|| NOW));
            assert!(!rest.is_due(|| NOW), "only once");
            rest.found_nothing();
        }
    }

    #[test]
    fn while_reads_bring_something_none_is_left_out() {
        let rest = on_a_network();
        rest.found(|| NOW);
        assert!(rest.is_due(|| NOW));
        for _ in 0..3 {
            rest.found(|| NOW);
            assert!(!rest.is_due(|| NOW), "more may be there");
        }
    }

    #[test]
    fn a_program_that_reads_seldom_always_looks() {
        let rest = on_a_network();
        rest.found(|| NOW);
        assert!(!rest.is_due(|| NOW + AT_ONCE));
    }

    #[test]
    fn looks_that_are_no_calls_are_never_left_out() {
        let rest = Rest::new(false);
        rest.found_nothing();
        rest.found(|| NOW);
        assert!(!rest.is_due(|| NOW));
    }
}
