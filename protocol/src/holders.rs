//! Buffers with several destinations or owners: a packet buffer with several destinations, or with
//! destinations and a local reader, is shared by that many *holders*; it is released when the last
//! of them is done (invariant I4).

use weft_wire::{Rank, TreeId};

/// The holders of a shared buffer.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Holders<B> {
    pub buffer: B,
    pub left: u16,
    pub size: u16,
    /// The rank that gets a credit back in the end: the parent in the tree; oneself if nobody does.
    pub parent: Rank,
    pub tree: TreeId,
    /// The packet whose acknowledgement waits for the forwards to leave: its sender and number.
    pub acknowledges: Option<(Rank, u32)>,
}
