//! What the world knows of every buffer and every pair, from what it saw.

use crate::wire::Contents;
use std::collections::BTreeMap;
use weft_protocol::invariants::Ownership;
use weft_wire::Rank;

/// A buffer that is the NI's.
#[derive(Debug)]
pub(crate) struct Buffer {
    /// Whose NI has it.
    pub at: Rank,
    /// The rank that transmitted it last; `None` if the host of `at` filled it, and `at` if it was
    /// received and its credit has gone back.
    pub from: Option<Rank>,
    pub contents: Contents,
    /// The ranks that it must still be transmitted to.
    pub due: Vec<Rank>,
    /// What the local host has to do with it.
    pub host: HostPart,
}

/// Where a buffer is on its way through the local host.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum HostPart {
    /// It must be delivered.
    Awaited,
    /// It was delivered and not released.
    Reading,
    /// It has been released, or was never for this host.
    Done,
}

/// An ordered pair (sender, receiver).
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Pair {
    /// Data packets that the sender's NI has to transmit to the receiver and has not.
    pub due: usize,
    /// Receive buffers that the sender's packets fill.
    pub buffered: u16,
    /// Receive buffers that are free again while the sender has not been told.
    pub freed: u16,
}

/// All buffers and pairs.
#[derive(Debug)]
pub(crate) struct Ledger {
    ranks: usize,
    pairs: Vec<Pair>,
    buffers: BTreeMap<u64, Buffer>,
    ownership: Ownership,
    next: u64,
    /// Packets that an NI accepted and did not deliver.
    pub dropped: u64,
}

impl Ledger {
    pub fn new(ranks: usize) -> Self {
        Ledger {
            ranks,
            pairs: vec![Pair::default(); ranks * ranks],
            buffers: BTreeMap::new(),
            ownership: Ownership::default(),
            next: 0,
            dropped: 0,
        }
    }

    pub fn pair(&self, sender: Rank, receiver: Rank) -> &Pair {
        &self.pairs[sender.index() * self.ranks + receiver.index()]
    }

    pub fn pair_mut(&mut self, sender: Rank, receiver: Rank) -> &mut Pair {
        &mut self.pairs[sender.index() * self.ranks + receiver.index()]
    }

    /// `buffer` becomes the NI's, under a number that was never used before.
    pub fn lend(&mut self, buffer: Buffer) -> u64 {
        let number = self.next;
        self.next += 1;
        self.ownership.lend(number);
        if let Some(from) = buffer.from {
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
        if let Some(from) = buffer.from.filter(|&from| from != at) {
            let pair = self.pair_mut(from, at);
            pair.buffered -= 1;
            pair.freed += 1;
        }
        buffer
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
