//! Shared regions of memory: the C Region Library of thesis 7.3 on the packet layer.
//!
//! A region is a contiguous piece of memory of a size that its creator chose. The node that created
//! it is its *home*. Nodes bracket their accesses by `start_read`, `end_read`, `start_write` and
//! `end_write`; here these are guards ([`Mapped::read`], [`Mapped::write`]), so that an access
//! without brackets does not compile. A node that has no valid copy gets one from the home, or from
//! the node that wrote last. Any number of nodes read, or one writes. Programs see a sequentially
//! consistent memory.
//!
//! | module | what |
//! |---|---|
//! | [`coherence`] | one region at one node: calls and messages in, messages and grants out; its rules in one table |
//! | [`format`] | messages as bytes |
//! | [`invariants`] | what always holds, one function each |
//! | `regions` | [`Regions`]: all of it on packets, with the bytes |
//!
//! | CRL | here |
//! |---|---|
//! | `rgn_create`, `rgn_delete` | [`Regions::create`], [`Mapped::delete`] |
//! | `rgn_map`, `rgn_unmap` | [`Regions::map`], dropping a [`Mapped`] |
//! | `rgn_start_read`, `rgn_end_read` | [`Mapped::read`], dropping a [`Read`] |
//! | `rgn_start_write`, `rgn_end_write` | [`Mapped::write`], dropping a [`Write`] |
//! | `rgn_flush` | [`Mapped::flush`] |
//! | `rgn_barrier` | [`Regions::barrier`] |
//! | `rgn_bcast_send`, `rgn_bcast_recv` | [`Regions::broadcast`] |
//! | `rgn_reduce_*` | [`Regions::reduce`] |
//!
//! In a job that goes on after losses a region is lost with its home, and with the node that had
//! the only copy ([`Error::Lost`]); all others go on.
//!
//! May use the packet layer, of which the protocol takes the numbers of ranks and nothing else, and
//! the engine of collective operations.
//! Keeps R1 to R6 (`ARCHITECTURE.md`), and that no lock is held while the packet layer is called
//! for anything that waits or makes upcalls.

#![forbid(unsafe_code)]

pub mod coherence;
pub mod format;
#[cfg(test)]
mod golden;
pub mod invariants;
mod regions;

pub use regions::{DataWay, Error, Mapped, Read, Regions, Result, Settings, Write};

use std::fmt;
use weft_endpoint::Rank;

/// A region's name in the job.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct RegionId {
    /// The node that created it.
    pub home: Rank,
    /// Index among that node's regions, counted from 0; numbers are not used again.
    pub index: u32,
}

impl RegionId {
    /// Name in notices that are about no region.
    const NONE: RegionId = RegionId { home: Rank(0), index: 0 };
}

impl fmt::Display for RegionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "region {} of rank {}", self.index, self.home)
    }
}
