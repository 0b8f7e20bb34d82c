//! Wires: one for each ordered pair of ranks, lossless and first in, first out.

use std::collections::VecDeque;
use weft_model::packets::{Name, Stream};
use weft_protocol::PacketBody;
use weft_wire::{Channel, Header, Rank, TreeId};

/// Contents of a packet: its identity.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Contents {
    /// The name by which the reference model knows it.
    pub name: Name,
    /// Counts from 0 what its origin sends, wherever to.
    pub launch: u32,
}

impl Contents {
    /// The tree that it travels on.
    pub(crate) fn tree(&self) -> TreeId {
        match self.name.stream {
            Stream::To(_) => TreeId::unicast(self.name.origin),
            Stream::Group(group) => TreeId::multicast(group, self.name.origin),
        }
    }
}

/// A packet on a wire.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Packet {
    /// Its header.
    pub header: Header,
    /// Body behind the header.
    pub body: PacketBody<Contents>,
}

impl Packet {
    /// True if a credit was spent on it: control packets need none (I5), and what travels on a
    /// recovery channel has a buffer there (thesis 4.3.2).
    pub(crate) fn spends_credit(&self) -> bool {
        self.header.tag.is_data() && self.header.channel == Channel::NONE
    }
}

/// All wires of a world.
#[derive(Clone, Hash, Debug)]
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

    /// All packets on the way to `to`.
    pub fn to_rank(&self, to: Rank) -> impl Iterator<Item = &Packet> {
        (0..self.ranks).flat_map(move |from| &self.queues[from * self.ranks + to.index()])
    }

    pub fn between_mut(&mut self, from: Rank, to: Rank) -> &mut VecDeque<Packet> {
        &mut self.queues[from.index() * self.ranks + to.index()]
    }
}
