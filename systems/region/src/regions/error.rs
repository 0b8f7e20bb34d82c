//! Errors of regions.

use crate::RegionId;
use crate::coherence::{Breach, Misuse};
use weft_endpoint::{Broken, Rank};

/// Reason why a region cannot be used.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    /// A call that the program must not make now.
    #[error("{region}: {what}")]
    Misuse {
        /// Of which region.
        region: RegionId,
        /// Misuse.
        what: Misuse,
    },
    /// A name that its home never gave.
    #[error("there is no {0}: map regions after their creator told you their names")]
    Unknown(RegionId),
    /// A region that somebody ended.
    #[error("{0} was deleted")]
    Deleted(RegionId),
    /// A region that is lost, in a job that goes on after losses: with its home, or with a rank
    /// that had the only copy.
    #[error("{region} was lost with rank {rank}")]
    Lost {
        /// Region.
        region: RegionId,
        /// Rank that is lost.
        rank: Rank,
    },
    /// A region whose bytes are no whole number of elements.
    #[error("{region} has {bytes} bytes, which are no slice of elements of {element} bytes")]
    Shape {
        /// Region.
        region: RegionId,
        /// Its size.
        bytes: u64,
        /// Bytes of an element.
        element: usize,
    },
    /// More bytes than this machine gives.
    #[error("there is no memory for a region of {0} bytes")]
    Memory(u64),
    /// A peer sent what is no packet of this system.
    #[error("rank {0} sent something that is no message about a region")]
    Packet(Rank),
    /// A peer did what no correct node does.
    #[error("rank {from} broke the protocol of {region}: {what}")]
    Breach {
        /// Peer that broke the protocol.
        from: Rank,
        /// Of which region.
        region: RegionId,
        /// Violation.
        what: Breach,
    },
    /// An invariant does not hold at this node.
    #[error("{region}: {broken}")]
    Invariant {
        /// Of which region.
        region: RegionId,
        /// The invariant.
        broken: Box<Broken>,
    },
    /// Two ranks are in different operations of all ranks; neither can go on.
    #[error(
        "ranks {one} and {other} disagree about operation {number} of all ranks: all call the same ones in the \
         same order, of as many bytes"
    )]
    Disagreement {
        /// One of them.
        one: Rank,
        /// The other.
        other: Rank,
        /// Number of operations before.
        number: u32,
    },
    /// The packet layer failed.
    #[error(transparent)]
    Packets(#[from] weft_endpoint::Error),
}

impl Error {
    /// The rank that is lost, if that is why a call failed.
    pub fn lost_rank(&self) -> Option<Rank> {
        match self {
            Error::Lost { rank, .. } => Some(*rank),
            Error::Packets(weft_endpoint::Error::RankLost(loss)) => Some(loss.rank),
            _ => None,
        }
    }
}

/// A result with the [`enum@Error`] of this layer.
pub type Result<T> = std::result::Result<T, Error>;
