//! Counters of a rank, which other processes of its host may read while it runs.

use serde::{Deserialize, Serialize};

/// Words of [`Counts`].
pub const WORDS: usize = 9;

/// Counts of a rank since it joined.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Counts {
    /// Data packets transmitted.
    pub packets_sent: u64,
    /// Data packets received.
    pub packets_received: u64,
    /// User bytes in packets transmitted.
    pub bytes_sent: u64,
    /// User bytes in packets received.
    pub bytes_received: u64,
    /// Transmissions that had to wait for a credit.
    pub blocked_sends: u64,
    /// Data packets transmitted again.
    pub retransmissions: u64,
    /// Interrupts raised because the program did not poll.
    pub interrupts: u64,
    /// Times that a thread slept in a wait.
    pub sleeps: u64,
    /// Time that the slowest peer takes now to acknowledge a packet, smoothed, in nanoseconds; 0
    /// where none is measured, such as in shared memory.
    pub acknowledged_ns: u64,
}

impl Counts {
    /// The counts as words.
    pub fn to_words(self) -> [u64; WORDS] {
        let Counts { packets_sent, packets_received, bytes_sent, bytes_received, .. } = self;
        let Counts { blocked_sends, retransmissions, interrupts, sleeps, .. } = self;
        let Counts { acknowledged_ns, .. } = self;
        [
            packets_sent,
            packets_received,
            bytes_sent,
            bytes_received,
            blocked_sends,
            retransmissions,
            interrupts,
            sleeps,
            acknowledged_ns,
        ]
    }

    /// The counts that these words are.
    pub fn of_words(words: [u64; WORDS]) -> Self {
        let [packets_sent, packets_received, bytes_sent, bytes_received, rest @ ..] = words;
        let [blocked_sends, retransmissions, interrupts, sleeps, acknowledged_ns] = rest;
        Counts {
            packets_sent,
            packets_received,
            bytes_sent,
            bytes_received,
            blocked_sends,
            retransmissions,
            interrupts,
            sleeps,
            acknowledged_ns,
        }
    }
}

/// Place where a rank publishes its counters. Nothing is published, and nothing is paid,
/// while nobody does.
pub trait Gauge: Send + Sync {
    /// True if somebody has asked a moment ago.
    fn is_wanted(&self) -> bool;
    /// Shows them.
    fn show(&self, counts: &Counts);
}
