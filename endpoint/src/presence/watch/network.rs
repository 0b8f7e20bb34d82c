//! The upcall thread on a network: it looks after timers, too, and each of its wake-ups is on the
//! way of messages, because the kernel wakes it from inside the sender's `sendto`.
//!
//! While the program computes, the thread sleeps until something arrives or a timer of the protocol
//! is due. An arrival while the program computes is given the watchdog's delay, as everywhere: if
//! the program enters meanwhile, that puts the look off, and no interrupt comes of it.

use super::super::constants::MOST_DELAYS;
use super::{Act, Found, Host, WatchEvent, Woken};
use std::time::Duration;

/// Its state.
#[derive(Clone, Hash, Debug)]
pub struct NetworkWatch {
    delay: Duration,
    /// Packets that the host had processed when it was left time to poll, ...
    left_time: Option<u64>,
    /// ... and that time.
    pause: Duration,
}

impl NetworkWatch {
    /// One that interrupts after this delay.
    pub fn new(delay: Duration) -> Self {
        NetworkWatch { delay, left_time: None, pause: delay }
    }

    /// The act after `event`.
    pub fn next(&mut self, event: WatchEvent, host: &Host) -> Act {
        match event {
            WatchEvent::Paused | WatchEvent::Interrupted | WatchEvent::Woken(Woken::Time) => {
                Act::Look
            }
            WatchEvent::Woken(Woken::Ring) if host.is_eager => Act::Look,
            WatchEvent::Woken(Woken::Ring) => self.leave_time(host.delay(self.delay), host),
            WatchEvent::Looked(found) => {
                let left_time = self.left_time.take();
                match found {
                    Found::Waits => self.waits(left_time, host),
                    Found::Nothing => Act::Sleep,
                    Found::Inside(tick) => Act::Pause(tick),
                }
            }
        }
    }

    /// Something is there for the program, which had been left time to poll, or not.
    fn waits(&mut self, left_time: Option<u64>, host: &Host) -> Act {
        let (status, delay) = (host.status, host.delay(self.delay));
        match left_time {
            None if !host.is_eager => self.leave_time(delay, host),
            Some(seen) if status.interrupts_disabled || seen != status.packets_processed => {
                self.leave_time((self.pause * 2).min(delay * MOST_DELAYS), host)
            }
            _ => Act::Interrupt,
        }
    }

    /// Leaves the program time to poll, and all that it needs if it does.
    fn leave_time(&mut self, pause: Duration, host: &Host) -> Act {
        self.pause = pause;
        self.left_time = Some(host.status.packets_processed);
        Act::Pause(pause)
    }
}
