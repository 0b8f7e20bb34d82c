//! Violations of the protocol.

use weft_wire::{Channel, Rank, Tag, TreeId};

/// An act of a peer that no correct peer does. Nothing of the packet was acted upon.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Violation {
    /// The source field names no other rank of the job.
    #[error("a packet claims to come from {0:?}, which is not a peer")]
    Source(Rank),
    /// More credits came back than packets were sent.
    #[error("{0:?} returned credits it was never sent packets for")]
    Credits(Rank),
    /// A data packet without a credit.
    #[error("{0:?} sent a packet without a credit")]
    Window(Rank),
    /// Credits that nobody asked for, or more of them, or that it has spent.
    #[error("{0:?} handed back {1} credits that it was not asked for, or does not have")]
    Return(Rank, u16),
    /// A tree of no group, or one on which the packet should not have come this way.
    #[error(
        "{0:?} sent a packet on the {1:?}, on which it is not the parent here, or whose group is another one at that rank"
    )]
    Tree(Rank, TreeId),
    /// A kind of packet whose body is of another kind.
    #[error("{0:?} sent a {1:?} packet with the wrong body")]
    Body(Rank, Tag),
    /// An atomic operation that does not exist, by the first word of its request.
    #[error("{0:?} asked for an atomic operation that does not exist, by {1:#x}")]
    Operation(Rank, u64),
    /// An answer to nothing, or to what somebody else was asked.
    #[error("{0:?} answered an atomic operation that it was not asked for")]
    Unasked(Rank),
    /// A second atomic operation, while the answer to the first is still here.
    #[error("{0:?} asked for an atomic operation before it had the answer to the one before")]
    Impatient(Rank),
    /// An acknowledgement of what was never sent.
    #[error("{0:?} expects packet {1}, which nobody has sent it")]
    Acknowledgement(Rank, u32),
    /// A number beyond the window.
    #[error("{0:?} sent packet {1}, which is beyond its window")]
    Sequence(Rank, u32),
    /// A recovery channel that the packet cannot be on.
    #[error("{0:?} sent a packet on recovery {1:?}, which is not open to it here")]
    Channel(Rank, Channel),
    /// A packet of a protocol that this preset does not run.
    #[error("{0:?} sent a {1:?} packet, which this preset does not use")]
    Unsupported(Rank, Tag),
}
