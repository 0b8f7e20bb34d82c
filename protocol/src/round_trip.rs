//! The time that an acknowledgement may take (RFC 6298, in nanoseconds): measured on one packet at
//! a time, and never on one that was sent again, since nobody can tell which of the two was
//! acknowledged; nor on one that was waited for in vain, since what it waited for is not the
//! network.

use crate::settings::Settings;
use crate::timer::Nanoseconds;

/// The wait is at most this many times the one before anything is known.
const LONGEST: u64 = 16;

/// The way to a peer and back.
#[derive(Debug, Clone, Default, Hash)]
pub(crate) struct RoundTrip {
    /// The packet that is being timed, and when it left.
    timed: Option<(u32, Nanoseconds)>,
    measured: Option<Measured>,
}

/// Smoothed, as the RFC has it.
#[derive(Debug, Clone, Copy, Hash)]
struct Measured {
    time: Nanoseconds,
    variation: Nanoseconds,
}

impl RoundTrip {
    /// Packet `number` leaves for the first time.
    pub fn left(&mut self, number: u32, now: Nanoseconds) {
        self.timed.get_or_insert((number, now));
    }

    /// Packets are sent again, perhaps the one that is timed, or were waited for in vain.
    pub fn void(&mut self) {
        self.timed = None;
    }

    /// All packets before `next` are acknowledged.
    pub fn acknowledged(&mut self, next: u32, now: Nanoseconds) {
        let Some((number, left)) = self.timed else { return };
        if (next.wrapping_sub(number) as i32) <= 0 {
            return;
        }
        self.timed = None;
        let took = now.saturating_sub(left);
        self.measured = Some(match self.measured {
            None => Measured { time: took, variation: took / 2 },
            Some(Measured { time, variation }) => Measured {
                variation: (3 * variation + time.abs_diff(took)) / 4,
                time: (7 * time + took) / 8,
            },
        });
    }

    /// Time that an acknowledgement takes, smoothed; `None` if none was measured.
    pub fn time(&self) -> Option<Nanoseconds> {
        self.measured.map(|measured| measured.time)
    }

    /// The time for which a packet may stay unacknowledged; `asks` if its receiver acknowledges at
    /// once.
    pub fn timeout(&self, settings: &Settings, asks: bool) -> Nanoseconds {
        let (Some(least), Some(measured)) = (settings.retransmit_at_least, self.measured) else {
            return settings.retransmit_after;
        };
        let Measured { time, variation } = measured;
        let receiver = if asks { 0 } else { settings.acknowledge_after };
        let most = LONGEST * settings.retransmit_after.max(least);
        (time + 4 * variation).clamp(least, most) + receiver
    }
}

#[cfg(test)]
mod tests;
