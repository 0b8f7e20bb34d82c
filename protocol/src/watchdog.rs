//! INTR: the polling watchdog (thesis 4.4, fig. 4.16).
//!
//! An arrival arms a delay instead of raising an interrupt, in the hope that the host polls by
//! itself. When the delay has passed, an interrupt is raised only if the host has neither disabled
//! interrupts nor made progress since the last look, and has not processed everything anyway.

use crate::timer::Nanoseconds;

/// A host gets at least so long to react before the next look, however short the delay is: what has
/// a delay of 0 interrupts at once, and not again and again while no time passes.
const LEAST_BETWEEN_LOOKS: Nanoseconds = 1_000;

/// The watchdog of one NI.
#[derive(Debug, Clone)]
pub struct Watchdog {
    delay: Nanoseconds,
    deadline: Option<Nanoseconds>,
    last_processed: u64,
}

/// State that the host keeps in memory, where the NI reads it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostStatus {
    /// Packets that the host has processed so far.
    pub packets_processed: u64,
    /// True if it has interrupts disabled.
    pub interrupts_disabled: bool,
}

/// Decision when the delay has passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WatchdogDecision {
    /// The host has processed everything: the timer is off until the next arrival.
    Cancel,
    /// The host will get there, or does not want to be interrupted: look again later.
    Restart,
    /// Raise an interrupt, and look again later.
    Interrupt,
}

impl Watchdog {
    /// A watchdog that waits `delay` before it suspects the host of not polling: with 0, every
    /// arrival that finds interrupts enabled raises one.
    pub fn new(delay: Nanoseconds) -> Self {
        Watchdog { delay, deadline: None, last_processed: 0 }
    }

    /// A packet was delivered to the host: starts the timer unless it is running.
    pub fn arrived(&mut self, now: Nanoseconds) {
        self.deadline.get_or_insert(now + self.delay);
    }

    /// The time at which [`Self::timeout`] is to be called, if it is.
    pub fn deadline(&self) -> Option<Nanoseconds> {
        self.deadline
    }

    /// The deadline has passed. `delivered` counts the packets delivered to the host so far.
    pub fn timeout(
        &mut self,
        now: Nanoseconds,
        delivered: u64,
        host: HostStatus,
    ) -> WatchdogDecision {
        let progressed = host.packets_processed > self.last_processed;
        self.last_processed = host.packets_processed;
        if host.packets_processed == delivered {
            self.deadline = None;
            return WatchdogDecision::Cancel;
        }
        self.deadline = Some(now + self.delay.max(LEAST_BETWEEN_LOOKS));
        if host.interrupts_disabled || progressed {
            WatchdogDecision::Restart
        } else {
            WatchdogDecision::Interrupt
        }
    }
}

#[cfg(test)]
mod tests;
