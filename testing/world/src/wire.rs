//! Wires: one for each ordered pair of ranks, lossless and first in, first out.

use std::collections::VecDeque;
use weft_protocol::Body;
use weft_wire::{Header, Rank, TreeId};

/// What a packet says: who sent it, on which tree, and which of the packets there it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Contents {
    /// The tree, whose root is the origin.
    pub tree: TreeId,
    /// Counts from 0 what the origin sends on the tree; for unicasts, what it sends there to the
    /// same rank.
    pub sequence: u64,
    /// User bytes.
    pub size: u16,
}

/// A packet on a wire.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Packet {
    /// Its header.
    pub header: Header,
    /// What follows the header.
    pub body: Body<Contents>,
}

/// All wires of a world.
#[derive(Debug)]
pub(crate) struct Wires {
    ranks: usize,
    queues: Vec<VecDeque<Packet>>,
}

impl Wires {
    pub fn new(ranks: usize) -> Self {
        Wires { ranks, queues: vec![VecDeque::new(); ranks * ranks] }
    }

    pub fn between(&self, from: Rank, to: Rank) -> &VecDeque<Packet> {
        &self.queues[from.index() * self.ranks + to.index()]
    }

    pub fn between_mut(&mut self, from: Rank, to: Rank) -> &mut VecDeque<Packet> {
        &mut self.queues[from.index() * self.ranks + to.index()]
    }
}
