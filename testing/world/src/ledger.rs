//! What the world knows of every buffer and every pair, from what it saw.

use crate::wire::Contents;
use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use weft_protocol::invariants::Ownership;
use weft_wire::{Channel, Rank};

/// A buffer that is the NI's.
#[derive(Clone, Hash, Debug)]
pub(crate) struct Buffer {
    /// Whose NI has it.
    pub at: Rank,
    /// The rank that transmitted it last; `None` if the host of `at` filled it, and `at` if it was
    /// received and its credit has gone back.
    pub from: Option<Rank>,
    /// The recovery channel that it belongs to, instead of the window of `from` (thesis 4.3.2).
    pub channel: Channel,
    pub contents: Contents,
    /// The ranks that it must still be transmitted to.
    pub due: Vec<Rank>,
    /// What the local host has to do with it.
    pub host: HostPart,
}

impl Buffer {
    /// A buffer's number follows from where it is and what it says, so that the same buffers have
    /// the same numbers in whatever order things happened.
    pub fn number(&self) -> u64 {
        let Contents { name, launch } = self.contents;
        u64::from(self.at.0) << 48 | u64::from(name.origin.0) << 32 | u64::from(launch)
    }

    /// The sender whose window this buffer is part of, if it is part of one.
    fn window_of(&self) -> Option<Rank> {
        self.from.filter(|_| self.channel == Channel::NONE)
    }
}

/// Where a buffer is on its way through the local host.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum HostPart {
    /// It must be delivered.
    Awaited,
    /// It was delivered and not released.
    Reading,
    /// It has been released, or was never for this host.
    Done,
}

/// An ordered pair (sender, receiver).
#[derive(Debug, Default, Clone, Copy, Hash)]
pub(crate) struct Pair {
    /// Data packets that the sender's NI has to transmit to the receiver and has not.
    pub due: usize,
    /// Receive buffers that the sender's packets fill.
    pub buffered: u16,
    /// Receive buffers that are free again while the sender has not been told.
    pub freed: u16,
}

/// All buffers and pairs.
#[derive(Clone, Debug)]
pub(crate) struct Ledger {
    ranks: usize,
    pairs: Vec<Pair>,
    buffers: BTreeMap<u64, Buffer>,
    ownership: Ownership,
    /// Packets that an NI accepted and did not deliver.
    pub dropped: u64,
}

/// Which buffers are lent is said twice.
impl Hash for Ledger {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let Ledger { ranks: _, pairs, buffers, ownership: _, dropped } = self;
        (pairs, buffers, dropped).hash(state);
    }
}

impl Ledger {
    pub fn new(ranks: usize) -> Self {
        Ledger {
            ranks,
            pairs: vec![Pair::default(); ranks * ranks],
            buffers: BTreeMap::new(),
            ownership: Ownership::default(),
            dropped: 0,
        }
    }

    pub fn pair(&self, sender: Rank, receiver: Rank) -> &Pair {
        &self.pairs[sender.index() * self.ranks + receiver.index()]
    }

    pub fn pair_mut(&mut self, sender: Rank, receiver: Rank) -> &mut Pair {
        &mut self.pairs[sender.index() * self.ranks + receiver.index()]
    }

    /// `buffer` becomes the NI's.
    pub fn lend(&mut self, buffer: Buffer) -> u64 {
        let number = buffer.number();
        self.ownership.lend(number);
        if let Some(from) = buffer.window_of() {
            self.pair_mut(from, buffer.at).buffered += 1;
        }
        self.buffers.insert(number, buffer);
        number
    }

    /// A buffer that the NI of `at` makes use of, which must be its own (I4).
    pub fn used(&mut self, number: u64, at: Rank) -> &mut Buffer {
        let buffer = self.buffers.get_mut(&number).filter(|buffer| buffer.at == at);
        buffer.unwrap_or_else(|| panic!("I4 one owner: {at:?} uses buffer {number} of another"))
    }

    /// The credit of a buffer goes back while the buffer is still needed (ACK-receive): it is the
    /// host's from here on, and the sender may fill another.
    pub fn give_credit_back(&mut self, number: u64, at: Rank) {
        let from = self.used(number, at).from.replace(at);
        let pair = self.pair_mut(from.expect("it was received"), at);
        pair.buffered -= 1;
        pair.freed += 1;
    }

    /// The NI gives a buffer up: once, and when nobody needs it any more (I4).
    pub fn give_back(&mut self, number: u64) -> Buffer {
        self.ownership.give_back(number);
        let buffer = self.buffers.remove(&number).expect("a buffer that was lent has an entry");
        let Buffer { at, ref due, host, .. } = buffer;
        assert!(due.is_empty(), "I4 one owner: {at:?} released a buffer still due at {due:?}");
        assert_eq!(host, HostPart::Done, "I4 one owner: {at:?} released a buffer its host needs");
        if let Some(from) = buffer.window_of().filter(|&from| from != at) {
            let pair = self.pair_mut(from, at);
            pair.buffered -= 1;
            pair.freed += 1;
        }
        buffer
    }

    /// The buffers in which the NI of `at` has packets that came from others.
    pub fn received(&self, at: Rank) -> impl Iterator<Item = &Buffer> {
        self.buffers.values().filter(move |buffer| buffer.at == at && buffer.from.is_some())
    }

    /// 1 if the packet in an accepted buffer was not delivered, and 0 if it was.
    pub fn was_dropped(&self, number: u64) -> u64 {
        let buffer = self.buffers.get(&number);
        u64::from(buffer.is_some_and(|buffer| buffer.host == HostPart::Awaited))
    }

    /// What is wrong with the buffers that the NIs hold: none is held for nobody (I4).
    pub fn check(&self) {
        assert_eq!(self.ownership.len(), self.buffers.len());
        for (number, Buffer { at, due, host, .. }) in &self.buffers {
            let needed = !due.is_empty() || *host != HostPart::Done;
            assert!(needed, "I4 one owner: {at:?} holds buffer {number} for nobody");
        }
    }

    /// All buffers are back.
    pub fn is_empty(&self) -> bool {
        self.ownership.is_empty() && self.buffers.is_empty()
    }
}
