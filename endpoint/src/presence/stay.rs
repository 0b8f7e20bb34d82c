//! The end of a rank on a network, which stays until its packets are acknowledged, and then for
//! peers that have missed an acknowledgement.

use super::constants::{LONGEST_STAY, LONGEST_STAY_IN_ALL, STAY_WITH_PACKETS};
use weft_link::clock::Nanoseconds;
use weft_protocol::Settings;

/// Stay of a rank that has ended.
pub struct Stay {
    /// Longest time without any arrival while packets are under way, and once none are.
    patience: Nanoseconds,
    quiet: Nanoseconds,
    /// Time of the last arrival.
    last: Nanoseconds,
    /// Time since which all packets of the rank are acknowledged.
    flushed_at: Option<Nanoseconds>,
}

impl Stay {
    /// One that begins `now`.
    pub fn new(now: Nanoseconds, settings: &Settings) -> Self {
        let silence = settings.silence.map_or(0, |silence| silence.lost_after);
        Stay {
            patience: silence.max(STAY_WITH_PACKETS),
            quiet: settings.retransmit_after.saturating_mul(4).min(LONGEST_STAY),
            last: now,
            flushed_at: None,
        }
    }

    /// Time until which the rank stays, given whether something has arrived now, and whether all of
    /// its packets are acknowledged.
    pub fn until(&mut self, now: Nanoseconds, any: bool, is_flushed: bool) -> Nanoseconds {
        if any {
            self.last = now;
        }
        match is_flushed {
            false => self.last + self.patience,
            true => {
                let flushed_at = *self.flushed_at.get_or_insert(now);
                (self.last + self.quiet).min(flushed_at + LONGEST_STAY_IN_ALL)
            }
        }
    }
}

#[cfg(test)]
mod tests;
