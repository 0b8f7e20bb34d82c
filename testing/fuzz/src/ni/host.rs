//! The host of the NI under test: it keeps its contract, and judges whether the NI does.

use super::ledger::Ledger;
use std::collections::{BTreeSet, VecDeque};
use weft_protocol::invariants::Ownership;
use weft_protocol::{Actions, Deferred, Delivery, PacketBody, Settings};
use weft_wire::{Header, Rank, Tag, TreeId};

/// Send buffers that the host has.
pub const SEND_BUFFERS: usize = 8;
/// Buffers of the host's own, for copies of packets.
pub const COPIES: usize = 4;
/// Packets that may wait for the host before it looks at them; the link has no more buffers then.
pub const DEFERRED: usize = 8;

/// Purpose of a buffer. Its number says so.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BufferKind {
    Send,
    Receive,
    Copy,
}

const KINDS: u64 = 3;

/// A host, and what it saw.
pub struct Host {
    pub local: Rank,
    /// Delivered, not processed.
    pub delivered: VecDeque<Delivery<u64>>,
    /// Processed, not released.
    pub kept: Vec<Delivery<u64>>,
    /// Left to the host by the NI.
    pub deferred: VecDeque<Deferred<u64>>,
    /// The home of the variable that was asked for.
    pub fetching: Option<Rank>,
    /// Actions of the NI.
    pub actions: usize,
    owned: Ownership,
    in_use: [usize; KINDS as usize],
    /// Buffers whose bytes the host may look at.
    reading: BTreeSet<u64>,
    next_buffer: u64,
    /// Record of what the NI and its peers have told each other.
    pub ledger: Ledger,
    numbered: bool,
}

impl Host {
    pub fn new(local: Rank, settings: &Settings) -> Self {
        Host {
            local,
            delivered: VecDeque::new(),
            kept: Vec::new(),
            deferred: VecDeque::new(),
            fetching: None,
            actions: 0,
            owned: Ownership::default(),
            in_use: [0; KINDS as usize],
            reading: BTreeSet::new(),
            next_buffer: 0,
            ledger: Ledger::new(local, settings),
            numbered: settings.preset.retransmits(),
        }
    }

    /// A new buffer that the NI may use.
    pub fn lend(&mut self, kind: BufferKind) -> u64 {
        let buffer = self.next_buffer * KINDS + kind as u64;
        self.next_buffer += 1;
        self.in_use[kind as usize] += 1;
        self.owned.lend(buffer);
        buffer
    }

    /// A buffer to send from, unless all are in use.
    pub fn send_buffer(&mut self) -> Option<u64> {
        (self.in_use(BufferKind::Send) < SEND_BUFFERS).then(|| self.lend(BufferKind::Send))
    }

    /// A buffer to copy into, unless all are in use.
    pub fn copy_buffer(&mut self) -> Option<u64> {
        (self.in_use(BufferKind::Copy) < COPIES).then(|| self.lend(BufferKind::Copy))
    }

    /// Buffers of that kind which the NI has not given up.
    pub fn in_use(&self, kind: BufferKind) -> usize {
        self.in_use[kind as usize]
    }

    /// The NI refused a packet: its buffer is still the caller's.
    pub fn take_back(&mut self, body: &PacketBody<u64>) {
        if let PacketBody::Buffer(buffer) = *body {
            self.give_back(buffer);
        }
    }

    /// True if `buffer` is one that the host has copied a packet into.
    pub fn is_copy(buffer: u64) -> bool {
        buffer % KINDS == BufferKind::Copy as u64
    }

    /// From here on the NI may free `buffer`.
    pub fn stops_reading(&mut self, buffer: u64) {
        assert!(self.reading.remove(&buffer), "the host never had buffer {buffer}");
    }

    pub fn starts_reading(&mut self, buffer: u64) {
        assert!(self.owned.is_lent(buffer), "I4 one owner: buffer {buffer} was freed");
        assert!(self.reading.insert(buffer), "I4 one owner: buffer {buffer} was delivered twice");
    }

    pub fn gave_everything_back(&self) -> bool {
        self.owned.is_empty() && self.reading.is_empty()
    }

    fn give_back(&mut self, buffer: u64) {
        assert!(!self.reading.contains(&buffer), "I4 one owner: buffer {buffer} is being read");
        self.owned.give_back(buffer);
        self.in_use[(buffer % KINDS) as usize] -= 1;
    }
}

impl Actions<u64> for Host {
    fn transmit(&mut self, to: Rank, header: &Header, body: &PacketBody<u64>) {
        self.actions += 1;
        assert_eq!(header.source, self.local, "the source is who transmitted a packet last");
        assert!(
            to != self.local && self.ledger.peers().any(|peer| peer == to),
            "{to:?} is no peer"
        );
        match (header.tag, *body) {
            (Tag::Ucast | Tag::Mcast, PacketBody::Buffer(buffer)) => {
                assert!(self.owned.is_lent(buffer), "I4 one owner: buffer {buffer} was freed");
            }
            (Tag::FaRequest, PacketBody::Atomic { operation, .. }) => {
                assert_eq!(header.size, operation.size());
            }
            (Tag::Ucast | Tag::Mcast | Tag::FaRequest, body) => {
                panic!("a {:?} packet with {body:?}", header.tag)
            }
            (Tag::FaReply, body) => assert!(matches!(body, PacketBody::Fetched(_))),
            (_, body) => assert_eq!(body, PacketBody::Empty),
        }
        if header.tag != Tag::Mcast {
            assert_eq!(header.tree.group(), None, "{header:?}");
        }
        if header.tag == Tag::Ucast {
            assert_eq!(header.tree, TreeId::unicast(self.local));
        }
        match self.numbered {
            true => self.ledger.transmitted_numbered(to, header),
            false => self.ledger.transmitted_carefully(to, header),
        }
    }

    fn deliver(&mut self, delivery: Delivery<u64>) {
        self.actions += 1;
        self.starts_reading(delivery.buffer);
        self.delivered.push_back(delivery);
    }

    fn defer(&mut self, deferred: Deferred<u64>) {
        self.actions += 1;
        if let PacketBody::Buffer(buffer) = deferred.body {
            assert!(self.owned.is_lent(buffer), "I4 one owner: buffer {buffer} was freed");
        }
        self.deferred.push_back(deferred);
    }

    fn free(&mut self, buffer: u64) {
        self.actions += 1;
        self.give_back(buffer);
    }

    fn fetched(&mut self, _: u64) {
        self.actions += 1;
        assert!(self.fetching.take().is_some(), "nothing was asked for");
    }
}
