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

mod access;
mod origin;
mod regions;
mod target;

use crate::network::{SendSource, Sink, TaggedNetwork};
use crate::{Error, Result};
use atomic::AtomicAccess;
use format::{AccessSpan, RemotePacket};
use origin::Origin;
use target::{Piece, Target};
use weft_endpoint::Rank;

pub use access::{
    Access, AccessEvent, AccessOutcome, AccessRefused, AccessRights, Accessed, MOST, OwedAnswer,
    Submission,
};
pub use format::is_access;
pub use origin::atomic_bytes;

/// The accesses of one rank, of all of its endpoints, and its regions.
#[derive(Debug)]
pub struct Remote<O, R> {
    rank: Rank,
    /// Its own accesses.
    origin: Origin<O>,
    /// Its regions, and the accesses of others.
    target: Target<R>,
}

impl<O: SendSource + Sink, R: SendSource + Sink> Remote<O, R> {
    /// The accesses of `rank` in a job of `ranks`.
    pub fn new(rank: Rank, ranks: usize) -> Self {
        Remote { rank, origin: Origin::new(ranks), target: Target::new(ranks) }
    }

    /// Chooses single copies: if `single_copy`, this rank's long writes carry the address of their
    /// bytes, for those that can fetch them, and its long reads fetch. As with
    /// [messages](crate::Exchange::set_single_copy).
    pub fn set_single_copy(&mut self, single_copy: bool) {
        self.origin.set_single_copy(single_copy);
        self.target.set_single_copy(single_copy);
    }

    /// Lets others access `memory`, whose first byte they call `base`.
    ///
    /// # Errors
    /// `memory`, if there is a region with this key.
    pub fn expose(
        &mut self,
        key: u64,
        base: u64,
        rights: AccessRights,
        memory: R,
    ) -> std::result::Result<(), R> {
        self.target.regions.expose(key, base, rights, memory)
    }

    /// The memory that is exposed under a key.
    pub fn region(&self, key: u64) -> Option<&R> {
        self.target.regions.get(key)
    }

    /// Does what [`Self::region`] does, to change the region's memory.
    pub fn region_mut(&mut self, key: u64) -> Option<&mut R> {
        self.target.regions.get_mut(key)
    }

    /// Ends what [`Self::expose`] began: nobody accesses the memory after that, except that a read
    /// that somebody fetches goes on: of that the program hears when it is over.
    pub fn conceal(&mut self, key: u64) -> Option<R> {
        self.target.regions.conceal(key)
    }

    /// True if something happened.
    #[inline]
    pub fn has_event(&self) -> bool {
        self.target.has_accessed() | self.origin.has_ended()
    }

    /// The next thing that happened: accesses by others first, as one of this rank to itself is
    /// told of before it ends.
    #[inline]
    pub fn event(&mut self) -> Option<AccessEvent<O>> {
        match self.target.accessed() {
            Some(accessed) => Some(AccessEvent::Accessed(accessed)),
            None => self.origin.ended().map(|(op, outcome)| AccessEvent::Ended { op, outcome }),
        }
    }

    /// True if accesses of an endpoint go on: they use the program's memory.
    pub fn is_busy(&self, endpoint: u8) -> bool {
        self.origin.is_busy(endpoint)
    }

    /// Ends all accesses to a rank that has left the job, because nobody answers them.
    pub fn give_up(&mut self, on: Rank) {
        self.origin.give_up(on);
    }

    /// True if everything was sent that this rank owes others, and all of its own accesses have
    /// ended.
    pub fn is_idle(&self) -> bool {
        self.origin.is_idle() && self.target.owed() == 0
    }

    /// Answers that wait for room or to be fetched, for tests of the bound.
    pub fn owed(&self) -> usize {
        self.origin.owed() + self.target.owed()
    }

    /// Writes what `op` has to a region of another rank. `data` is told to the endpoint there.
    ///
    /// # Errors
    /// Those of the network.
    pub fn write<N: TaggedNetwork>(
        &mut self,
        network: &mut N,
        access: &Access,
        data: Option<u64>,
        op: O,
    ) -> Result<Submission<O>> {
        match self.origin.may_begin(access, op.length(), op) {
            Err(asking) => Ok(asking),
            Ok((span, op)) if access.to.rank == self.rank => {
                self.write_here(span, data, op);
                Ok(Submission::Kept)
            }
            Ok((span, op)) => self.origin.write(network, access, (span, data), op),
        }
    }

    /// Reads from a region of another rank as many bytes as `op` has room for.
    ///
    /// # Errors
    /// Those of the network.
    pub fn read<N: TaggedNetwork>(
        &mut self,
        network: &mut N,
        access: &Access,
        op: O,
    ) -> Result<Submission<O>> {
        match self.origin.may_begin(access, op.capacity(), op) {
            Err(asking) => Ok(asking),
            Ok((span, mut op)) if access.to.rank == self.rank => {
                let outcome = self.target.read_here(self.rank, &span, &mut op);
                self.origin.end_at_once(op, outcome);
                Ok(Submission::Kept)
            }
            Ok((span, op)) => self.origin.read(network, access, span, op),
        }
    }

    /// Does `atomic` to a region of another rank, with `operands` as [`AtomicAccess::apply`] takes
    /// them. The bytes that were there come into `op`, if it `fetches`; then its room is as long as
    /// what is accessed. All of it has to fit into a packet: [`atomic_bytes`].
    ///
    /// # Errors
    /// Those of the network.
    pub fn atomic<N: TaggedNetwork>(
        &mut self,
        network: &mut N,
        access: &Access,
        (atomic, fetches): (AtomicAccess, bool),
        length: u64,
        operands: &[u8],
        op: O,
    ) -> Result<Submission<O>> {
        let (span, mut op) = match self.origin.may_begin(access, length, op) {
            Err(asking) => return Ok(asking),
            Ok(begins) => begins,
        };
        if access.to.rank != self.rank {
            return self.origin.atomic(network, access, (span, atomic, fetches), operands, op);
        }
        let done = self.target.operate(self.rank, &span, (atomic, fetches), operands);
        let outcome = done.map(|before| {
            if fetches {
                op.place(0, &before);
            }
        });
        self.origin.end_at_once(op, outcome);
        Ok(Submission::Kept)
    }

    /// Answers a write that had data with it, because the program can be told of another.
    pub fn answer(&mut self, owed: OwedAnswer) {
        if owed.to == self.rank {
            self.origin.end(origin::op_key(owed.number), Ok(()));
        } else {
            self.target.answer(owed);
        }
    }

    /// A write to this rank itself. With data it ends when the program can be told of another.
    fn write_here(&mut self, span: AccessSpan, data: Option<u64>, op: O) {
        let (rank, length) = (self.rank, span.length());
        let placed = self.target.write_here(&span, &op);
        match data {
            Some(data) if placed.is_ok() => {
                let owed = OwedAnswer { to: rank, number: self.origin.keep_own(rank, &span, op) };
                self.target.tell(rank, &span, true, length, Some((data, owed)));
            }
            _ => {
                if placed.is_ok() {
                    self.target.tell(rank, &span, true, length, None);
                }
                self.origin.end_at_once(op, placed);
            }
        }
    }

    /// Takes one packet of `from`, and from `network` what it offers.
    ///
    /// # Errors
    /// [`Error::Violation`] if no peer sends that; nothing has changed then.
    pub fn arrive<N: TaggedNetwork>(
        &mut self,
        network: &mut N,
        from: Rank,
        packet: &[u8],
    ) -> Result<()> {
        let (origin, target) = (&mut self.origin, &mut self.target);
        let outcome = match format::parse(packet) {
            _ if from == self.rank => Err("itself a remote access"),
            Some(RemotePacket::Write { span, number, data, bytes }) => {
                let piece = Piece { from, span, number, data, length: bytes.len() as u64 };
                target.handle_write(network, &piece, bytes)
            }
            Some(RemotePacket::Offer { span, number, lies_at, data }) => {
                let piece = Piece { from, span, number, data, length: span.offered() };
                target.handle_offer(network, &piece, lies_at)
            }
            Some(RemotePacket::Read { span, number, fetches }) => {
                target.handle_read(from, span, number, fetches)
            }
            Some(RemotePacket::Atomic { span, number, atomic, fetches, operands }) => {
                let most = atomic_bytes(network.payload_to(from), atomic);
                target.handle_atomic(from, span, number, (atomic, fetches), (operands, most))
            }
            Some(RemotePacket::Fetched { number, all }) => target.handle_fetched(from, number, all),
            Some(RemotePacket::Part { number, bytes }) => origin.handle_part(from, number, bytes),
            Some(RemotePacket::Ended { number, outcome }) => {
                origin.handle_ended(from, number, outcome)
            }
            Some(RemotePacket::Address { number, lies_at }) => {
                origin.handle_address(from, number, lies_at)
            }
            None => Err("a remote access that is none"),
        };
        outcome.map_err(|what| Error::Violation { from, what })
    }

    /// True if something waits for room, or to be fetched.
    #[inline]
    pub fn has_to_transmit(&self) -> bool {
        // As for messages.
        self.origin.has_to_transmit() | self.target.has_to_transmit()
    }

    /// Sends what waits for room, as far as there is some, and fetches some of what is to be
    /// fetched. True if there was any.
    ///
    /// # Errors
    /// Those of the network.
    pub fn transmit<N: TaggedNetwork>(&mut self, network: &mut N) -> Result<bool> {
        let any = self.origin.fetch(network)?;
        let (served, has_room) = self.target.transmit(network)?;
        Ok(any | served | (has_room && self.origin.transmit(network)?))
    }
}

#[cfg(test)]
mod tests;
