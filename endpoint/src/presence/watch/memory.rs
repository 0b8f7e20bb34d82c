//! The upcall thread in shared memory.

use super::{Act, Found, Host, WatchEvent, longer};
use std::time::Duration;
use weft_link::clock::Nanoseconds;
use weft_protocol::watchdog::{Watchdog, WatchdogDecision};

/// Its state.
#[derive(Clone, Debug)]
pub struct MemoryWatch {
    watchdog: Watchdog,
    delay: Duration,
    pause: Duration,
    /// Time since which the host has polled, as far as it was seen.
    began: Nanoseconds,
    /// Packets that the host had processed at the last look, and its activity.
    processed: u64,
    activity: u64,
}

impl MemoryWatch {
    /// One that interrupts after this delay.
    pub fn new(delay: Duration) -> Self {
        MemoryWatch {
            watchdog: Watchdog::new(delay.as_nanos() as Nanoseconds),
            delay,
            pause: delay,
            began: 0,
            processed: 0,
            activity: 0,
        }
    }

    /// The act after `event`. `is_idle` says that there is nothing that the host should get
    /// to, and is asked only if nothing else tells.
    pub fn next(
        &mut self,
        event: WatchEvent,
        now: Nanoseconds,
        host: &Host,
        is_idle: impl FnOnce() -> bool,
    ) -> Act {
        match event {
            WatchEvent::Looked(Found::Nothing) => Act::Sleep,
            WatchEvent::Paused => self.judge(now, host, is_idle),
            WatchEvent::Interrupted => self.begin(now, host),
            WatchEvent::Looked(_) | WatchEvent::Woken(_) => {
                let pause = self.begin(now, host);
                // A program that waits without polling is given no time to poll.
                if host.is_eager { self.judge(now, host, is_idle) } else { pause }
            }
        }
    }

    fn begin(&mut self, now: Nanoseconds, host: &Host) -> Act {
        (self.pause, self.began) = (host.delay(self.delay), now);
        self.pause_again(now, host)
    }

    fn pause_again(&mut self, now: Nanoseconds, host: &Host) -> Act {
        (self.processed, self.activity) = (host.status.packets_processed, host.activity);
        self.watchdog.arrived(now);
        Act::Pause(self.pause)
    }

    fn judge(&mut self, now: Nanoseconds, host: &Host, is_idle: impl FnOnce() -> bool) -> Act {
        // A host at work gets to its packets by itself: it is not disturbed by a look inside.
        // One that is inside drains the node: that is as good as progress.
        let processed = host.status.packets_processed;
        let waiting = processed != self.processed || !is_idle();
        let is_active = host.activity != self.activity;
        match self.watchdog.timeout(now, processed + u64::from(waiting), host.status) {
            WatchdogDecision::Interrupt => return Act::Interrupt,
            WatchdogDecision::Cancel if !is_active => return Act::Look,
            WatchdogDecision::Cancel | WatchdogDecision::Restart if is_active => {
                let active = Duration::from_nanos(now.saturating_sub(self.began));
                self.pause = longer(self.pause, host.delay(self.delay), active);
            }
            WatchdogDecision::Cancel | WatchdogDecision::Restart => {}
        }
        self.pause_again(now, host)
    }
}
