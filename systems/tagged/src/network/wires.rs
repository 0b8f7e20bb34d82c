//! For tests: packets in queues between ranks that are in one vector, and bytes that tell what they
//! belong to.

use super::{Broadcast, Parted, SendSource, Sink, TaggedNetwork, gather};
use crate::Result;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Range;
use weft_endpoint::{PostedHead, Rank};

/// Bytes of the program's: of a message or an access, which has a number, or of a region.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Memory {
    pub number: usize,
    pub bytes: Vec<u8>,
}

impl SendSource for Memory {
    fn length(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn pieces(&self, offset: u64, length: usize, take: &mut dyn FnMut(&[u8])) {
        // In two pieces, as from an I/O vector.
        let bytes = &self.bytes[offset as usize..offset as usize + length];
        let (one, two) = bytes.split_at(length / 2);
        take(one);
        take(two);
    }

    fn lies_at(&self) -> Option<u64> {
        (self.number != IN_PIECES).then(|| address(self.number))
    }
}

/// The number of memory that is in several pieces.
pub(crate) const IN_PIECES: usize = 1 << 20;

/// The number of a message that does not travel without a copy.
pub(crate) const BY_PARTS: usize = IN_PIECES + 1;

/// Address of the bytes of the message, the access or the region with this number.
pub(crate) fn address(number: usize) -> u64 {
    (number as u64 + 1) << 32
}

/// The number of the message, the access or the region with this address.
fn number(address: u64) -> usize {
    (address >> 32) as usize - 1
}

impl Sink for Memory {
    fn capacity(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn place(&mut self, offset: u64, bytes: &[u8]) {
        let offset = offset as usize;
        self.bytes[offset..offset + bytes.len()].copy_from_slice(bytes);
    }

    fn room(&mut self, offset: u64, length: usize) -> Option<&mut [u8]> {
        if self.number == IN_PIECES {
            return None;
        }
        self.bytes.get_mut(offset as usize..)?.get_mut(..length)
    }
}

/// Memory that ranks may fetch from one another.
#[derive(Default)]
pub(crate) struct Fetchable {
    /// By address.
    pub bytes: BTreeMap<u64, Vec<u8>>,
    /// Number of fetches, and the range of those that fail.
    pub fetched: usize,
    pub fails: Range<usize>,
    /// Ranks that have fetched, each with the rank that they fetched from.
    reached: BTreeSet<(Rank, Rank)>,
}

impl Fetchable {
    fn fetch(&mut self, by: Rank, from: Rank, address: u64, into: &mut [u8]) -> bool {
        let time = self.fetched;
        if !into.is_empty() {
            self.fetched += 1;
        }
        if self.fails.contains(&time) {
            into.fill(0xee);
            return false;
        }
        self.reached.insert((by, from));
        let (start, whole) = match self.bytes.range(..=address).next_back() {
            Some((start, whole)) => (*start, &whole[..]),
            None => (0, &[][..]),
        };
        let from = (address - start) as usize;
        let found = whole.get(from..).and_then(|rest| rest.get(..into.len()));
        if !into.is_empty() {
            into.copy_from_slice(found.expect("what is fetched lies there"));
        }
        true
    }
}

/// A network for tests: the packets on their way, and the memory that may be fetched.
pub(crate) struct Net {
    /// By sender and receiver.
    wires: Vec<Vec<VecDeque<Vec<u8>>>>,
    pub fetchable: Fetchable,
    /// Number of packets of a rank to another that may be on their way.
    pub room: usize,
    /// True if parts of long messages leave from where their bytes lie: a sender has these back
    /// when nothing of its own is on its way.
    pub lends: bool,
    /// Numbers of the messages of which some do.
    pub lent: BTreeSet<usize>,
    /// True if messages may be posted, and the number of bytes that are there of those that are: by
    /// receiver, sender, and what their parts begin with.
    pub posts: bool,
    pub posted: Postings,
    /// True if long messages travel without a copy, and those that do.
    pub carries: bool,
    pub carried: Vec<Carried>,
    payload: usize,
}

/// A message that travels without a copy: its sender, its receiver, what its memory is posted
/// under, and its bytes.
pub(crate) type Carried = (Rank, Rank, PostedHead, Vec<u8>);

/// Bytes that are there of posted messages.
pub(crate) type Postings = BTreeMap<(Rank, Rank, PostedHead), u64>;

impl Net {
    pub fn new(ranks: usize, payload: usize, room: usize) -> Self {
        let wires = vec![vec![VecDeque::new(); ranks]; ranks];
        Net {
            wires,
            fetchable: Fetchable::default(),
            room,
            lends: false,
            lent: BTreeSet::new(),
            posts: false,
            posted: Postings::new(),
            carries: false,
            carried: Vec::new(),
            payload,
        }
    }

    /// The part of a rank.
    pub fn of(&mut self, rank: usize) -> Wires<'_> {
        Wires {
            own: Rank(rank as u16),
            fetchable: &mut self.fetchable,
            to: &mut self.wires[rank],
            room: self.room,
            lent: self.lends.then_some(&mut self.lent),
            posts: self.posts,
            posted: &mut self.posted,
            carries: self.carries,
            carried: &mut self.carried,
            payload: self.payload,
        }
    }

    /// True if nothing that this rank has sent is on its way.
    pub fn is_empty(&self, from: usize) -> bool {
        self.wires[from].iter().all(VecDeque::is_empty)
    }

    /// The packets that are on their way from one to another, in order.
    pub fn on_their_way(&mut self, from: usize, at: usize) -> &mut VecDeque<Vec<u8>> {
        &mut self.wires[from][at]
    }

    /// The next packet from one to another, which is no longer on its way.
    pub fn take(&mut self, from: usize, at: usize) -> Option<Vec<u8>> {
        self.wires[from][at].pop_front()
    }
}

/// The packets of one rank to each other one, and what it fetches.
pub(crate) struct Wires<'a> {
    own: Rank,
    fetchable: &'a mut Fetchable,
    to: &'a mut [VecDeque<Vec<u8>>],
    room: usize,
    lent: Option<&'a mut BTreeSet<usize>>,
    posts: bool,
    posted: &'a mut Postings,
    carries: bool,
    carried: &'a mut Vec<Carried>,
    payload: usize,
}

impl Broadcast for Wires<'_> {
    fn broadcast_payload(&self) -> usize {
        self.payload
    }

    /// All of `to` get it: its sender's own wire is nobody's.
    fn broadcast<S: SendSource>(
        &mut self,
        head: &[u8],
        body: Option<(&S, u64, usize)>,
    ) -> Result<bool> {
        if self.to.iter().any(|wire| wire.len() >= self.room) {
            return Ok(false);
        }
        for to in 0..self.to.len() {
            assert!(self.send(Rank(to as u16), head, body)?, "there is room");
        }
        Ok(true)
    }
}

impl TaggedNetwork for Wires<'_> {
    fn payload(&self) -> usize {
        self.payload
    }

    fn send<S: SendSource>(
        &mut self,
        to: Rank,
        head: &[u8],
        body: Option<(&S, u64, usize)>,
    ) -> Result<bool> {
        let wire = &mut self.to[to.index()];
        if wire.len() >= self.room {
            return Ok(false);
        }
        let packet = gather(head, body);
        assert!(packet.len() <= self.payload, "a packet is as long as there is room for");
        wire.push_back(packet);
        Ok(true)
    }

    fn send_part<S: SendSource>(
        &mut self,
        to: Rank,
        head: &[u8],
        body: (&S, u64, usize),
        _: bool,
    ) -> Result<Parted> {
        if !self.send(to, head, Some(body))? {
            return Ok(Parted::NoRoom);
        }
        match (&mut self.lent, body.0.lies_at()) {
            (Some(lent), Some(address)) => {
                lent.insert(number(address));
                Ok(Parted::Lent)
            }
            _ => Ok(Parted::Copied),
        }
    }

    fn post<D: Sink>(
        &mut self,
        from: Rank,
        head: &PostedHead,
        into: &mut D,
        range: Range<usize>,
    ) -> bool {
        assert!(range.end as u64 <= into.capacity(), "there is memory for what comes");
        if self.posts {
            let before = self.posted.insert((self.own, from, *head), range.start as u64);
            assert_eq!(before, None, "a message is posted once");
        }
        self.posts
    }

    fn posted(&mut self, from: Rank, head: &PostedHead) -> u64 {
        self.posted[&(self.own, from, *head)]
    }

    fn unpost(&mut self, from: Rank, head: &PostedHead) -> u64 {
        self.posted.remove(&(self.own, from, *head)).expect("what was posted is given up once")
    }

    fn post_zero_copy<D: Sink>(
        &mut self,
        from: Rank,
        head: &PostedHead,
        into: &mut D,
        length: usize,
    ) -> bool {
        assert!(length as u64 <= into.capacity(), "there is memory for what comes");
        if self.carries {
            let before = self.posted.insert((self.own, from, *head), 0);
            assert_eq!(before, None, "a message is posted once");
        }
        self.carries
    }

    fn send_zero_copy<S: SendSource>(
        &mut self,
        to: Rank,
        head: &PostedHead,
        source: &S,
        length: usize,
    ) -> bool {
        if self.carries && source.lies_at() != Some(address(BY_PARTS)) {
            let bytes = gather(&[], Some((source, 0, length)));
            self.carried.push((self.own, to, *head, bytes));
            return true;
        }
        false
    }

    fn has_back<S: SendSource>(&mut self, _: &S) -> bool {
        let is_own = |carried: &Carried| carried.0 == self.own;
        self.to.iter().all(VecDeque::is_empty) && !self.carried.iter().any(is_own)
    }

    fn fetch(&mut self, from: Rank, address: u64, into: &mut [u8]) -> bool {
        self.fetchable.fetch(self.own, from, address, into)
    }

    fn is_fetched_by(&self, by: Rank) -> bool {
        self.fetchable.reached.contains(&(by, self.own))
    }
}
