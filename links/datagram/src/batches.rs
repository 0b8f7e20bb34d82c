//! Flushes and timers of links that send datagrams.

use crate::DatagramBells;
use std::ops::RangeInclusive;
use std::time::Duration;
use weft_link::Network;

/// Link whose datagrams wait for a flush, and come several at a time.
pub trait Batching {
    /// True if datagrams wait for a flush.
    fn has_unflushed(&self) -> bool;

    /// True if packets wait that came together with others.
    fn has_buffered(&self) -> bool;

    /// Bells of the rank.
    fn own_bells(&self) -> &DatagramBells;
}

/// Flushes and timers of such a link.
#[derive(Clone, Copy, Debug)]
pub struct Batches;

impl<L: Batching> Network<L> for Batches {
    #[inline]
    fn has_unflushed(self, link: &L) -> bool {
        link.has_unflushed()
    }

    #[inline]
    fn has_buffered(self, link: &L) -> bool {
        link.has_buffered()
    }

    fn ring_upcall_within(self, link: &mut L, after: RangeInclusive<Duration>) -> Option<Duration> {
        Some(link.own_bells().ring_upcall_within(after))
    }
}
