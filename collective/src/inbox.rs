//! Packets of an operation that come before its member is that far: stored, within a bound.

use std::collections::{BTreeMap, VecDeque};

/// A packet that has arrived, while whoever took it from the network looks at it.
pub trait ArrivedPacket {
    /// The packet, kept.
    type Kept: AsRef<[u8]>;

    /// Bytes from which on an early packet is kept instead of copied.
    const KEPT_FROM: usize = 4096;

    /// All of it.
    fn bytes(&self) -> &[u8];

    /// Keeps it where it is: its sender has its credit back when the kept one is dropped.
    fn keep(self) -> Self::Kept;
}

/// A packet of a network that keeps packets as vectors.
impl ArrivedPacket for &[u8] {
    type Kept = Vec<u8>;

    fn bytes(&self) -> &[u8] {
        self
    }

    fn keep(self) -> Vec<u8> {
        self.to_vec()
    }
}

/// A packet that is its receiver's own.
impl ArrivedPacket for Vec<u8> {
    type Kept = Vec<u8>;

    const KEPT_FROM: usize = 0;

    fn bytes(&self) -> &[u8] {
        self
    }

    fn keep(self) -> Vec<u8> {
        self
    }
}

/// Early packets of one operation, by sender and step, in order.
#[derive(Debug)]
pub struct Inbox<K> {
    transfers: BTreeMap<(usize, u8), Early<K>>,
    /// Members that are ready for a step.
    ready: Vec<(usize, u8)>,
}

/// Early packets of one member for one step.
#[derive(Debug)]
struct Early<K> {
    pieces: VecDeque<EarlyPart<K>>,
    /// Bytes of the pieces.
    length: usize,
    /// Packets that were kept.
    kept: usize,
}

/// A part of a transfer that has come early, and what its sender's signature says of the length.
#[derive(Debug)]
pub struct EarlyPart<K> {
    /// Its bytes: a copy, or the packet itself.
    bytes: Bytes<K>,
    /// Length in the signature.
    pub announced: u64,
}

#[derive(Debug)]
enum Bytes<K> {
    Copied(Vec<u8>),
    /// In the packet, after the header.
    Kept(K),
}

impl<K> Default for Inbox<K> {
    fn default() -> Self {
        Inbox { transfers: BTreeMap::new(), ready: Vec::new() }
    }
}

impl<K: AsRef<[u8]>> EarlyPart<K> {
    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        match &self.bytes {
            Bytes::Copied(bytes) => bytes,
            Bytes::Kept(packet) => packet.as_ref().get(crate::format::SIZE..).unwrap_or_default(),
        }
    }
}

impl<K: AsRef<[u8]>> Inbox<K> {
    /// Stores a packet. It is kept in place if it is long, and fewer than `keeps` packets of its
    /// member and step were kept before.
    ///
    /// # Errors
    /// More than `limit` bytes of a member and step.
    pub fn store<P: ArrivedPacket<Kept = K>>(
        &mut self,
        (member, step): (usize, u8),
        packet: P,
        announced: u64,
        limit: usize,
        keeps: usize,
    ) -> Result<(), &'static str> {
        let data = packet.bytes().get(crate::format::SIZE..).unwrap_or_default();
        let length = data.len();
        let new = || Early { pieces: VecDeque::new(), length: 0, kept: 0 };
        let early = self.transfers.entry((member, step)).or_insert_with(new);
        let is_more = !early.pieces.is_empty() && length == 0;
        if is_more || early.length + length > limit {
            return Err("more of a collective operation than it may send unasked");
        }
        early.length += length;
        let bytes = if length >= P::KEPT_FROM && early.kept < keeps {
            early.kept += 1;
            Bytes::Kept(packet.keep())
        } else {
            Bytes::Copied(data.to_vec())
        };
        early.pieces.push_back(EarlyPart { bytes, announced });
        Ok(())
    }

    /// Notes that a member is ready for a step.
    ///
    /// # Errors
    /// It was before.
    pub fn store_ready(&mut self, member: usize, step: u8) -> Result<(), &'static str> {
        if self.ready.contains(&(member, step)) {
            return Err("twice that it is ready");
        }
        self.ready.push((member, step));
        Ok(())
    }

    /// The next piece of a member for a step.
    pub fn take(&mut self, member: usize, step: u8) -> Option<EarlyPart<K>> {
        if self.transfers.is_empty() {
            return None;
        }
        let early = self.transfers.get_mut(&(member, step))?;
        let piece = early.pieces.pop_front()?;
        early.length -= piece.bytes().len();
        if early.pieces.is_empty() {
            self.transfers.remove(&(member, step));
        }
        Some(piece)
    }

    /// Members that are ready for a step, except those that were found before.
    pub fn drain_ready(&mut self) -> impl Iterator<Item = (usize, u8)> + '_ {
        self.ready.drain(..)
    }

    /// Replaces the numbers that packets were stored under by the places of their members.
    ///
    /// # Errors
    /// What `place` says.
    pub fn by_place<E>(self, place: impl Fn(usize) -> Result<usize, E>) -> Result<Self, E> {
        let transfers = self.transfers.into_iter();
        let transfers = transfers.map(|((from, step), it)| Ok(((place(from)?, step), it)));
        let ready = self.ready.into_iter().map(|(from, step)| Ok((place(from)?, step)));
        Ok(Inbox {
            transfers: transfers.collect::<Result<_, E>>()?,
            ready: ready.collect::<Result<_, E>>()?,
        })
    }

    /// Adds what came later.
    pub fn append(&mut self, later: Inbox<K>) {
        for (from, mut early) in later.transfers {
            let new = || Early { pieces: VecDeque::new(), length: 0, kept: 0 };
            let all = self.transfers.entry(from).or_insert_with(new);
            all.pieces.append(&mut early.pieces);
            all.length += early.length;
        }
        self.ready.extend(later.ready);
    }

    /// A member of whom something is stored.
    pub fn anybody(&self) -> Option<usize> {
        self.transfers.keys().next().map(|&(member, _)| member)
    }

    /// True if there are pieces of a step below [`DECLARATION`](crate::format::DECLARATION).
    pub fn has_pieces(&self) -> bool {
        self.transfers.keys().any(|&(_, step)| step != crate::format::DECLARATION)
    }

    /// Bytes that are stored.
    pub fn stored(&self) -> usize {
        self.transfers.values().map(|early| early.length).sum()
    }

    /// Empty.
    pub fn is_empty(&self) -> bool {
        self.transfers.is_empty() && self.ready.is_empty()
    }
}
