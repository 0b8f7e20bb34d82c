//! Control words of a rank.

use crate::memory::{MappedWord, View};
use std::sync::Arc;
use weft_link::sync::{AtomicU32, AtomicU64};

/// Ranks of a group: those that one word has a bit for each of; fewer in models.
pub(crate) const GROUP: usize = if cfg!(loom) { 8 } else { 64 };

/// Number of groups of a host with `ranks`.
pub(crate) const fn groups_of(ranks: usize) -> usize {
    ranks.div_ceil(GROUP)
}

/// Bit of a rank in the word of its group.
#[inline(always)]
pub(crate) fn bit_of(rank: usize) -> u64 {
    1 << (rank % GROUP)
}

/// Control words, by which ranks notify one another outside the rings.
///
/// A poll that finds nothing must not cost more with more ranks, so it looks at one word,
/// `attention`. Where that has a bit for each rank it has the announcements. With more ranks these
/// are in a word a group, and `attention` has a bit for each group that has some.
#[derive(Clone)]
pub(crate) struct Control {
    /// Bells: futexes that count how often each was rung.
    pub bells: View<AtomicU32>,
    /// Bells that are armed, a bit each, and a bit for the want of a frame.
    pub armed: MappedWord<AtomicU32>,
    /// Senders whose rings are not polled, a bit each, a word a group. They announce what they
    /// write.
    pub cold: Arc<[MappedWord<AtomicU64>]>,
    /// Announcements of such senders, a bit each, or groups that have some.
    pub attention: MappedWord<AtomicU64>,
    /// Announcements, a word a group; none where `attention` has them.
    pub announcements: Arc<[MappedWord<AtomicU64>]>,
    /// Loss that the owner has not taken ([`weft_link::bell::Loss::to_bits`]), or 0.
    pub loss: MappedWord<AtomicU64>,
    /// All losses that it has not taken, anywhere; 0 where there is none.
    pub losses: View<AtomicU64>,
    /// Time until which somebody wants to see counts, in nanoseconds; 0 if nobody ever did.
    pub wanted: MappedWord<AtomicU64>,
}
