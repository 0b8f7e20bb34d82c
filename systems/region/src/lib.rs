//! Shared regions of memory: the C Region Library of thesis 7.3, its coherence protocol without I/O.
//!
//! A region is a contiguous piece of memory of a size that its creator chose. The node that created it is its
//! *home*. Nodes bracket their accesses by `start_read`, `end_read`, `start_write` and `end_write`; a node
//! that has no valid copy gets one from the home, or from the node that wrote last. Any number of nodes
//! read, or one writes. Programs that bracket all accesses see a sequentially consistent memory.
//!
//! | module | what |
//! |---|---|
//! | [`coherence`] | one region at one node: calls and messages in, messages and grants out; its rules in one table |
//! | [`format`] | messages as bytes |
//! | [`invariants`] | what always holds, one function each |
//!
//! May use the packet layer, of which the protocol takes the numbers of ranks and nothing else: how data moves
//! is for whoever carries out [`coherence::Actions`]. Keeps R1 to R5 (`ARCHITECTURE.md`).

#![forbid(unsafe_code)]

pub mod coherence;
pub mod format;
pub mod invariants;

use std::fmt;
use weft_packet::Rank;

/// A region's name in the job.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct RegionId {
    /// The node that created it.
    pub home: Rank,
    /// Which of that node's regions, counted from 0; numbers are not used again.
    pub index: u32,
}

impl fmt::Display for RegionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "region {} of rank {}", self.index, self.home)
    }
}
