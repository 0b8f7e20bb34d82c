//! One rank's accesses to memory of other ranks, and theirs to its: calls and packets in, packets
//! and events out.
//!
//! ```text
//!   origin                                target
//!   write (as many packets as it takes) ─▶ checked and placed, each by itself
//!                                ◀─────── ended
//!   offer (as many as it takes) ─▶ the same, but fetched out of the origin's memory
//!                                ◀─────── ended
//!   read ────────────────────────────────▶ checked
//!                                ◀─────── parts; or ended, if it is refused or empty
//!   read, with leave to say so ──────────▶ checked
//!                                ◀─────── address of the bytes, which the origin fetches
//!   fetched ─────────────────────────────▶ over; or, if they could not be, answered by parts
//!   atomic ──────────────────────────────▶ checked and done
//!                                ◀─────── part with what stood there, if that is wanted; or ended
//! ```
//! A region is memory that its owner has exposed under a key, with rights. Of an access that does
//! not fit its region no byte is placed, and its origin is told why. That is no violation: keys and
//! offsets are the program's.
//!
//! **Order.** Accesses of one rank to one other leave in the order of their calls: while a write
//! has packets left, nothing else begins. Packets of a pair of ranks arrive in order, writes are
//! placed and atomics done when they arrive. So writes follow writes, reads follow writes, and
//! atomics follow everything; but what a read returns may be younger than the read, because its
//! parts leave when there is room. Accesses have no order with messages.
//!
//! **Offers** take one copy in place of two. A long write goes as offers to a target that has
//! fetched from this process before, which who gets several packets of an ordinary write tries.
//! They are fetched as they arrive, so order stays as it is. Who reads much and can fetch from its
//! target does that, too, [`OFFERED`](format::OFFERED) bytes at most between two looks at what has
//! arrived; the target's program is told of it when all is fetched.
//!
//! **Bounds** (I9). One rank has [`MOST`] accesses to one other under way, so that what a target
//! owes is bounded, too: an answer is one packet, and a read is answered out of the region, or
//! fetched from there. An access that finds no room changes nothing.
//!
//! Accesses of a rank to itself need no packets, and have ended when their calls return, but for
//! events.

pub mod atomic;
pub mod format;

mod origin;
mod target;

use crate::network::{Network, Sink, Source};
use crate::{Address, Error, Result};
use atomic::Atomic;
use format::Packet;
use slotmap::{KeyData, SlotMap, new_key_type};
use std::collections::{BTreeMap, VecDeque};
use std::num::NonZero;
use target::Piece;
use weft_endpoint::Rank;

pub use format::is_access;

new_key_type! {
    struct OpKey;
}

/// Accesses of one rank to one other that may be under way.
pub const MOST: u32 = 256;

/// Bytes from which on a read is fetched: below that, one packet more costs what one copy less
/// saves.
const FETCHED_FROM: u64 = 128 * 1024;

/// Packets of reads, and of writes, that leave before the next look at what has arrived.
const PACKETS_AT_ONCE: usize = 8;

/// Result of an access.
pub type Outcome = std::result::Result<(), Refused>;

/// Reason why an access was not done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// Nothing is exposed under that key, or no longer.
    #[error("there is no region with this key")]
    NoRegion,
    /// The region is not exposed for this.
    #[error("the region may not be accessed in this way")]
    NoRight,
    /// The region is shorter.
    #[error("the region ends before the access does")]
    Beyond,
    /// Bytes to write were to be fetched out of this rank's memory, and could not be read there.
    #[error("what was to be written cannot be fetched from where it lies")]
    Unfetchable,
}

/// Accesses to a region that others may do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rights {
    /// Read it.
    pub read: bool,
    /// Write it.
    pub write: bool,
}

/// Target of an access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Access {
    /// Of whom.
    pub to: Address,
    /// From which endpoint of this rank.
    pub from: u8,
    /// Key of the region.
    pub key: u64,
    /// From where.
    pub offset: u64,
}

/// Result of asking for an access.
#[derive(Debug)]
#[must_use = "an access may have to be tried again"]
pub enum Asking<O> {
    /// It goes on, and ends by an [`Event`].
    Kept,
    /// Nothing happened: there is no room now.
    Again(O),
}

/// Something happened.
#[derive(Debug)]
pub enum Event<O> {
    /// An access of this rank ended.
    Ended {
        /// The access.
        op: O,
        /// Its result.
        outcome: Outcome,
    },
    /// A region of this rank was accessed.
    Accessed(Accessed),
}

/// An access to a region of this rank.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Accessed {
    /// The endpoint that was named.
    pub to: u8,
    /// Its origin.
    pub from: Address,
    /// Key of the region.
    pub key: u64,
    /// True if it was written.
    pub writes: bool,
    /// Number of bytes.
    pub length: u64,
    /// Data that came with it, beside the bytes. Then its origin is answered by [`Remote::answer`],
    /// when the program can be told.
    pub data: Option<(u64, Owed)>,
}

/// The answer to a write.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Owed {
    to: Rank,
    number: u64,
}

/// The accesses of one rank, of all of its endpoints, and its regions.
#[derive(Debug)]
pub struct Remote<O, R> {
    rank: Rank,
    regions: BTreeMap<u64, Region<R>>,
    /// Regions that there were.
    exposed: u64,
    peers: Vec<Peer>,
    ops: SlotMap<OpKey, Op<O>>,
    /// Writes that left in part.
    leaving: VecDeque<OpKey>,
    answers: VecDeque<Answer>,
    serving: VecDeque<Serving>,
    /// Reads of this rank that it fetches.
    fetching: VecDeque<OpKey>,
    /// True if offers of long writes carry the address of their bytes, and long reads ask for
    /// addresses.
    single_copy: bool,
    events: VecDeque<Event<O>>,
}

/// Memory of this rank that others may access.
#[derive(Debug)]
struct Region<R> {
    memory: R,
    /// Address by which others name its first byte.
    base: u64,
    rights: Rights,
    /// Tells it from others that had its key.
    serial: u64,
}

/// State about one rank, itself included.
#[derive(Debug)]
struct Peer {
    /// Accesses of this rank that have not ended.
    outstanding: u32,
    /// The write that goes to it in several packets.
    leaving: Option<OpKey>,
    /// Its accesses that were not answered.
    unanswered: u32,
    /// Of the write that comes from it in several packets: the bytes, and whether they were all
    /// placed.
    received: u64,
    outcome: Outcome,
    /// True if a fetch from it was tried.
    is_tried: bool,
    /// True if it could not fetch bytes that it was offered.
    is_unfetchable: bool,
    /// Its reads that it fetches, by their numbers.
    offered_reads: BTreeMap<u64, Offered>,
    /// True if a fetch from it has failed.
    is_unreadable: bool,
}

/// An access of this rank.
#[derive(Debug)]
struct Op<O> {
    op: O,
    /// The endpoint.
    from: u8,
    to: Rank,
    /// Address of its bytes, if it offers them.
    lies_at: Option<NonZero<u64>>,
    waits: Until,
}

#[derive(Clone, Copy, Debug)]
enum Until {
    /// All of a write has left.
    Left { span: format::Span, data: Option<u64>, sent: u64 },
    /// It is answered.
    Answered,
    /// So many bytes have come. If it may be said where they lie, nothing has yet.
    Received { received: u64, expected: u64, fetches: bool },
    /// They lie there, and so many were fetched.
    Fetched { lies_at: NonZero<u64>, received: u64, expected: u64 },
}

/// An answer that waits for room.
#[derive(Debug)]
enum Answer {
    Ended { to: Rank, number: u64, outcome: Outcome },
    Stood { to: Rank, number: u64, bytes: Vec<u8> },
    Address { to: Rank, number: u64, lies_at: NonZero<u64> },
    Fetched { to: Rank, number: u64, all: bool },
}

/// A read that is being answered.
#[derive(Clone, Copy, Debug)]
struct Serving {
    to: Rank,
    number: u64,
    span: format::Span,
    sent: u64,
    serial: u64,
}

/// A read whose origin fetches the bytes.
#[derive(Clone, Copy, Debug)]
struct Offered {
    serving: Serving,
    /// True if their address has left: before that nobody can have fetched them.
    is_told: bool,
}

/// Bytes that go at once.
#[derive(Clone, Copy, Debug)]
struct Bytes<'a>(&'a [u8]);

impl Source for Bytes<'_> {
    fn length(&self) -> u64 {
        self.0.len() as u64
    }

    fn pieces(&self, offset: u64, length: usize, take: &mut dyn FnMut(&[u8])) {
        let offset = offset as usize;
        take(&self.0[offset..offset + length]);
    }
}

impl<O: Source + Sink, R: Source + Sink> Remote<O, R> {
    /// The accesses of `rank` in a job of `ranks`.
    pub fn new(rank: Rank, ranks: usize) -> Self {
        let peer = || Peer {
            outstanding: 0,
            leaving: None,
            unanswered: 0,
            received: 0,
            outcome: Ok(()),
            is_tried: false,
            is_unfetchable: false,
            offered_reads: BTreeMap::new(),
            is_unreadable: false,
        };
        Remote {
            rank,
            regions: BTreeMap::new(),
            exposed: 0,
            peers: std::iter::repeat_with(peer).take(ranks).collect(),
            ops: SlotMap::with_key(),
            leaving: VecDeque::new(),
            answers: VecDeque::new(),
            serving: VecDeque::new(),
            fetching: VecDeque::new(),
            single_copy: false,
            events: VecDeque::new(),
        }
    }

    /// Chooses single copies: if `single_copy`, this rank's long writes carry the address of their
    /// bytes, for those that can fetch them, and its long reads fetch. As with
    /// [messages](crate::Exchange::set_single_copy).
    pub fn set_single_copy(&mut self, single_copy: bool) {
        self.single_copy = single_copy;
    }

    /// Lets others access `memory`, whose first byte they call `base`.
    ///
    /// # Errors
    /// `memory`, if there is a region with this key.
    pub fn expose(
        &mut self,
        key: u64,
        base: u64,
        rights: Rights,
        memory: R,
    ) -> std::result::Result<(), R> {
        if self.regions.contains_key(&key) {
            return Err(memory);
        }
        self.exposed += 1;
        self.regions.insert(key, Region { memory, base, rights, serial: self.exposed });
        Ok(())
    }

    /// The memory that is exposed under a key.
    pub fn region(&self, key: u64) -> Option<&R> {
        self.regions.get(&key).map(|region| &region.memory)
    }

    /// Does what [`Self::region`] does, to change the region's memory.
    pub fn region_mut(&mut self, key: u64) -> Option<&mut R> {
        self.regions.get_mut(&key).map(|region| &mut region.memory)
    }

    /// Ends what [`Self::expose`] began: nobody accesses the memory after that, except that a read
    /// that somebody fetches goes on: of that the program hears when it is over.
    pub fn conceal(&mut self, key: u64) -> Option<R> {
        self.regions.remove(&key).map(|region| region.memory)
    }

    /// True if something happened.
    #[inline]
    pub fn has_event(&self) -> bool {
        !self.events.is_empty()
    }

    /// The next thing that happened.
    #[inline]
    pub fn event(&mut self) -> Option<Event<O>> {
        self.events.pop_front()
    }

    /// True if accesses of an endpoint go on: they use the program's memory.
    pub fn is_busy(&self, endpoint: u8) -> bool {
        self.ops.values().any(|op| op.from == endpoint)
    }

    /// Ends all accesses to a rank that has left the job, because nobody answers them.
    pub fn give_up(&mut self, on: Rank) {
        let over = self.ops.iter().filter(|(_, op)| op.to == on);
        for key in over.map(|(key, _)| key).collect::<Vec<_>>() {
            self.end(key, Err(Refused::NoRegion));
        }
        self.peers[on.index()].leaving = None;
    }

    /// True if everything was sent that this rank owes others, and all of its own accesses have
    /// ended.
    pub fn is_idle(&self) -> bool {
        let single_copy = self.peers.iter().any(|peer| !peer.offered_reads.is_empty());
        self.ops.is_empty() && self.answers.is_empty() && self.serving.is_empty() && !single_copy
    }

    /// Answers that wait for room or to be fetched, for those who watch the bound.
    pub fn owed(&self) -> usize {
        let offered: usize = self.peers.iter().map(|peer| peer.offered_reads.len()).sum();
        self.answers.len() + self.serving.len() + offered
    }

    /// Takes one packet of `from`, and from `network` what it offers.
    ///
    /// # Errors
    /// [`Error::Violation`] if no peer sends that; nothing has changed then.
    pub fn arrive<N: Network>(&mut self, network: &mut N, from: Rank, packet: &[u8]) -> Result<()> {
        let outcome = match format::parse(packet) {
            Some(Packet::Write { span, number, data, bytes }) => {
                let piece = Piece { from, span, number, data, length: bytes.len() as u64 };
                self.handle_write(network, &piece, bytes)
            }
            Some(Packet::Offer { span, number, lies_at, data }) => {
                let piece = Piece { from, span, number, data, length: span.offered() };
                self.handle_offer(network, &piece, lies_at)
            }
            Some(Packet::Read { span, number, fetches }) => {
                self.handle_read(from, span, number, fetches)
            }
            Some(Packet::Atomic { span, number, atomic, fetches, operands }) => {
                let most = Self::atomic_bytes(network.payload_to(from), atomic);
                self.handle_atomic(from, span, number, (atomic, fetches), (operands, most))
            }
            Some(Packet::Part { number, bytes }) => self.handle_part(from, number, bytes),
            Some(Packet::Ended { number, outcome }) => self.handle_ended(from, number, outcome),
            Some(Packet::Address { number, lies_at }) => self.handle_address(from, number, lies_at),
            Some(Packet::Fetched { number, all }) => self.handle_fetched(from, number, all),
            None => Err("a remote access that is none"),
        };
        outcome.map_err(|what| Error::Violation { from, what })
    }

    /// True if something waits for room, or to be fetched.
    #[inline]
    pub fn has_to_transmit(&self) -> bool {
        // As for messages.
        (self.answers.len() | self.serving.len() | self.leaving.len() | self.fetching.len()) > 0
    }

    /// Sends what waits for room, as far as there is some, and fetches some of what is to be
    /// fetched. True if there was any.
    ///
    /// # Errors
    /// Those of the network.
    pub fn transmit<N: Network>(&mut self, network: &mut N) -> Result<bool> {
        let mut any = self.fetch(network);
        while let Some(answer) = self.answers.pop_front() {
            if !answer.go::<N, O>(network)? {
                self.answers.push_front(answer);
                return Ok(any);
            }
            self.answered(&answer);
            any = true;
        }
        for _ in 0..PACKETS_AT_ONCE {
            let Some(serving) = self.serving.pop_front() else { break };
            match self.serve(network, serving)? {
                None => {
                    self.serving.push_front(serving);
                    return Ok(any);
                }
                Some(rest) => self.serving.extend(rest),
            }
            any = true;
        }
        for _ in 0..PACKETS_AT_ONCE {
            let Some(key) = self.leaving.pop_front() else { break };
            match self.send_piece(network, key)? {
                None => {
                    self.leaving.push_front(key);
                    break;
                }
                Some(all) if !all => self.leaving.push_back(key),
                Some(_) => {}
            }
            any = true;
        }
        Ok(any)
    }

    /// The region that an access may use, and where in it the access begins.
    fn find<'a>(
        regions: &'a mut BTreeMap<u64, Region<R>>,
        span: &format::Span,
        needs: Rights,
    ) -> std::result::Result<(&'a mut Region<R>, u64), Refused> {
        let region = regions.get_mut(&span.key).ok_or(Refused::NoRegion)?;
        if needs.read && !region.rights.read || needs.write && !region.rights.write {
            return Err(Refused::NoRight);
        }
        let start = span.offset.checked_sub(region.base).ok_or(Refused::Beyond)?;
        let end = span.end - region.base;
        if end > region.memory.length() {
            return Err(Refused::Beyond);
        }
        Ok((region, start))
    }

    /// Answers an access, or ends this rank's own.
    fn answer_to(&mut self, to: Rank, number: u64, outcome: Outcome) {
        if to == self.rank {
            self.end(op_key(number), outcome);
        } else {
            self.answers.push_back(Answer::Ended { to, number, outcome });
        }
    }

    /// An answer has left.
    fn answered(&mut self, answer: &Answer) {
        match *answer {
            Answer::Ended { to, .. } | Answer::Stood { to, .. } => {
                self.peers[to.index()].unanswered -= 1;
            }
            Answer::Fetched { number, all: true, .. } => self.end(op_key(number), Ok(())),
            Answer::Address { to, number, .. } => {
                if let Some(read) = self.peers[to.index()].offered_reads.get_mut(&number) {
                    read.is_told = true;
                }
            }
            // It goes on.
            Answer::Fetched { .. } => {}
        }
    }

    fn end(&mut self, key: OpKey, outcome: Outcome) {
        if let Some(Op { op, to, .. }) = self.ops.remove(key) {
            self.peers[to.index()].outstanding -= 1;
            self.events.push_back(Event::Ended { op, outcome });
        }
    }
}

impl Answer {
    /// Sends it; false if there is no room.
    fn go<N: Network, O: Source>(&self, network: &mut N) -> Result<bool> {
        let (to, packet) = match *self {
            Answer::Ended { to, number, outcome } => (to, Packet::Ended { number, outcome }),
            Answer::Address { to, number, lies_at } => (to, Packet::Address { number, lies_at }),
            Answer::Fetched { to, number, all } => (to, Packet::Fetched { number, all }),
            Answer::Stood { to, number, ref bytes } => {
                let head = Packet::Part { number, bytes: &[] }.head();
                return network.send(to, head.bytes(), Some((&Bytes(bytes), 0, bytes.len())));
            }
        };
        network.send::<O>(to, packet.head().bytes(), None)
    }
}

fn op_key(number: u64) -> OpKey {
    KeyData::from_ffi(number).into()
}

#[cfg(test)]
mod tests;
