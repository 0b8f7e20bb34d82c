//! Slack of sleeps that may end late.
//!
//! A core's hardware has one timer. A sleep that ends between two of the kernel's ticks is an
//! interrupt of its own, which on a virtual machine costs the program 40 us or more of its core;
//! one that may end with the next tick costs nothing, because that comes anyway.

use crate::presence::constants::PUNCTUAL;
use rustix::thread::set_current_timer_slack;
use rustix::time::{ClockId, clock_getres};
use std::num::NonZeroU64;
use std::time::Duration;

/// Timer slack of one tick of the kernel.
pub struct Slack {
    tick: Option<NonZeroU64>,
}

impl Slack {
    pub fn new() -> Self {
        let tick = clock_getres(ClockId::MonotonicCoarse);
        let tick = tick.tv_sec as u64 * 1_000_000_000 + tick.tv_nsec as u64;
        Slack { tick: NonZeroU64::new(tick) }
    }

    /// Sleeps, for `time` as `sleep` has it, and up to a tick longer if it may. What this thread
    /// does afterwards, upcalls of the program included, is as punctual as ever.
    pub fn sleep(&self, time: Duration, may_be_late: bool, sleep: impl FnOnce()) {
        if !may_be_late || time < PUNCTUAL {
            return sleep();
        }
        // Where it is refused, sleeps are punctual.
        let _ = set_current_timer_slack(self.tick);
        sleep();
        let _ = set_current_timer_slack(None);
    }
}

#[cfg(test)]
mod tests;
