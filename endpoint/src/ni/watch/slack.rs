//! Slack of sleeps that may end late.
//!
//! A core's hardware has one timer. What ends between two of the kernel's ticks is an interrupt of
//! its own, which on a virtual machine costs the program 40 us or more of its core; what may end
//! with the next tick costs nothing, because that comes anyway.

use rustix::thread::set_current_timer_slack;
use rustix::time::{ClockId, clock_getres};
use std::cell::Cell;
use std::num::NonZeroU64;
use std::time::Duration;

/// Sleeps shorter than this end when they should.
const PUNCTUAL: Duration = Duration::from_millis(1);

/// Timer slack of one thread, which alone uses this.
pub struct Slack {
    /// Period of the kernel's ticks.
    tick: Option<NonZeroU64>,
    is_late: Cell<bool>,
}

impl Slack {
    pub fn new() -> Self {
        let tick = clock_getres(ClockId::MonotonicCoarse);
        let tick = tick.tv_sec as u64 * 1_000_000_000 + tick.tv_nsec as u64;
        Slack { tick: NonZeroU64::new(tick), is_late: Cell::new(false) }
    }

    /// Has this thread's sleeps from here on end up to a tick late, if one of `time` may.
    pub fn set(&self, time: Duration, may_be_late: bool) {
        let is_late = may_be_late && time >= PUNCTUAL;
        if self.is_late.replace(is_late) != is_late {
            // Where it is refused, sleeps are punctual.
            let _ = set_current_timer_slack(self.tick.filter(|_| is_late));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::thread::current_timer_slack;

    #[test]
    fn only_long_sleeps_that_may_end_late_do() {
        let usual = current_timer_slack().unwrap();
        let slack = Slack::new();
        let tick = slack.tick.unwrap().get();
        assert!((1_000_000..=10_000_000).contains(&tick), "a tick of {tick} ns");
        let long = Duration::from_millis(6);
        for (time, may_be_late, is_late) in [
            (long, true, true),
            (long, false, false),
            (long, true, true),
            (Duration::from_micros(70), true, false),
        ] {
            slack.set(time, may_be_late);
            let expected = if is_late { tick } else { usual };
            assert_eq!(current_timer_slack().unwrap(), expected, "{time:?}, {may_be_late}");
        }
    }
}
