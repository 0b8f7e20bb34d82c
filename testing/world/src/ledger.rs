//! Ledger of every buffer and every pair, from what the world saw.

use crate::wire::Contents;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, VecDeque};
use std::hash::{Hash, Hasher};
use weft_protocol::invariants::Ownership;
use weft_wire::{Channel, Header, Rank, TreeId};

/// A buffer that is the NI's.
#[derive(Clone, Hash, Debug)]
pub(crate) struct Buffer {
    /// Rank whose NI has it.
    pub at: Rank,
    /// The rank that transmitted it last; `None` if the host of `at` filled it, and `at` if it was
    /// received and its credit has gone back.
    pub from: Option<Rank>,
    pub contents: Contents,
    /// The ranks that it must still be transmitted to.
    pub due: Vec<Rank>,
    /// Stage of the local host's part.
    pub host: HostPart,
}

impl Buffer {
    /// A buffer's number follows from where it is and what it says, so that the same buffers have
    /// the same numbers in whatever order things happened.
    pub fn number(&self) -> u64 {
        let Contents { name, launch } = self.contents;
        u64::from(self.at.0) << 48 | u64::from(name.origin.0) << 32 | u64::from(launch)
    }
}

/// Stage of a buffer on its way through the local host.
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
    /// Receive buffers that are free again while the sender has not been told; fewer than none
    /// where the receiver has given the sender more of them than it had to begin with.
    pub freed: i32,
    /// Credits that the sender has handed back and the receiver has got.
    pub returned: u16,
}

/// All buffers and pairs.
#[derive(Clone, Debug)]
pub(crate) struct Ledger {
    ranks: usize,
    pairs: Vec<Pair>,
    buffers: BTreeMap<u64, Buffer>,
    /// The recovery channels on which packets of each tree came to each rank, in that order, and
    /// that still have a buffer there.
    channels: BTreeMap<(Rank, TreeId), VecDeque<Channel>>,
    ownership: Ownership,
    /// Packets that an NI accepted and did not deliver.
    pub dropped: u64,
}

/// Hash without the lent buffers, which are said twice.
impl Hash for Ledger {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let Ledger { ranks: _, pairs, buffers, channels, ownership: _, dropped } = self;
        (pairs, buffers, channels, dropped).hash(state);
    }
}

impl Ledger {
    pub fn new(ranks: usize) -> Self {
        Ledger {
            ranks,
            pairs: vec![Pair::default(); ranks * ranks],
            buffers: BTreeMap::new(),
            channels: BTreeMap::new(),
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
        self.buffers.insert(number, buffer);
        number
    }

    /// A data packet fills a buffer of `at`: one of the window of its sender, or that of the
    /// recovery channel that it came on (thesis 4.3.2).
    pub fn fill(&mut self, at: Rank, header: &Header) {
        if header.channel == Channel::NONE {
            self.pair_mut(header.source, at).buffered += 1;
        } else {
            self.channels.entry((at, header.tree)).or_default().push_back(header.channel);
        }
    }

    /// A packet of `tree` that `from` sent leaves its buffer at `at`. While channels are in use
    /// here for the tree, that clears the first of them, whichever packet came on it: the packets
    /// of a tree come from one rank and need equal buffers, so they change places (thesis fig.
    /// 4.15).
    pub fn vacate(&mut self, at: Rank, from: Rank, tree: TreeId) {
        if let Entry::Occupied(mut channels) = self.channels.entry((at, tree)) {
            channels.get_mut().pop_front();
            if channels.get().is_empty() {
                channels.remove();
            }
            return;
        }
        let pair = self.pair_mut(from, at);
        pair.buffered -= 1;
        pair.freed += 1;
    }

    /// A buffer that the NI of `at` makes use of, which must be its own (I4).
    pub fn used(&mut self, number: u64, at: Rank) -> &mut Buffer {
        let buffer = self.buffers.get_mut(&number).filter(|buffer| buffer.at == at);
        buffer.unwrap_or_else(|| panic!("I4 one owner: {at:?} uses buffer {number} of another"))
    }

    /// The credit of a buffer goes back while the buffer is still needed (ACK-receive): it is the
    /// host's from here on, and the sender may fill another.
    pub fn give_credit_back(&mut self, number: u64, at: Rank) {
        let buffer = self.used(number, at);
        let from = buffer.from.replace(at).expect("it was received");
        let tree = buffer.contents.tree();
        self.vacate(at, from, tree);
    }

    /// The NI gives a buffer up: once, and when nobody needs it any more (I4).
    pub fn give_back(&mut self, number: u64) -> Buffer {
        self.ownership.give_back(number);
        let buffer = self.buffers.remove(&number).expect("a buffer that was lent has an entry");
        let Buffer { at, ref due, host, .. } = buffer;
        assert!(due.is_empty(), "I4 one owner: {at:?} released a buffer still due at {due:?}");
        assert_eq!(host, HostPart::Done, "I4 one owner: {at:?} released a buffer its host needs");
        if let Some(from) = buffer.from.filter(|&from| from != at) {
            self.vacate(at, from, buffer.contents.tree());
        }
        buffer
    }

    /// The recovery channels that have a buffer at `at`, and the trees that they serve.
    pub fn channels(&self, at: Rank) -> impl Iterator<Item = (Channel, TreeId)> {
        let here = self.channels.iter().filter(move |((rank, _), _)| *rank == at);
        here.flat_map(|(&(_, tree), channels)| channels.iter().map(move |channel| (*channel, tree)))
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

    /// Checks the buffers that the NIs hold: none is held for nobody (I4).
    pub fn check(&self) {
        assert_eq!(self.ownership.len(), self.buffers.len());
        for (number, Buffer { at, due, host, .. }) in &self.buffers {
            let needed = !due.is_empty() || *host != HostPart::Done;
            assert!(needed, "I4 one owner: {at:?} holds buffer {number} for nobody");
        }
    }

    /// All buffers are back.
    pub fn is_empty(&self) -> bool {
        self.ownership.is_empty() && self.buffers.is_empty() && self.channels.is_empty()
    }
}
