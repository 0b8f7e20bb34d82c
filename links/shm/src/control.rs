//! Control words of a rank.

use crate::memory::{View, Word};
use weft_link::sync::{AtomicU32, AtomicU64};

/// Control words, by which ranks notify one another outside the rings.
#[derive(Clone)]
pub(crate) struct Control {
    /// Bells: futexes that count how often each was rung.
    pub bells: View<AtomicU32>,
    /// Bells that are armed, a bit each, and a bit for the want of a frame.
    pub armed: Word<AtomicU32>,
    /// Senders whose rings are not polled, a bit each. They announce what they write.
    pub cold: Word<AtomicU64>,
    /// Announcements of such senders, a bit each.
    pub attention: Word<AtomicU64>,
    /// Rank that the job lost: its number + 1, and the cause above bit 32.
    pub loss: Word<AtomicU64>,
    /// Time until which somebody wants to see counts, in nanoseconds; 0 if nobody ever did.
    pub wanted: Word<AtomicU64>,
}
