//! A packet on its way out, filled in link memory.
#![allow(unsafe_code)]

use crate::copy::{LONG, copy_in};
use crate::packets::Packets;
use crate::{Destination, Error, Gather, Group, Protocol, Rank, Result};
use std::cell::Cell;
use std::ops::Range;
use std::ptr::NonNull;
use weft_link::Buffer;
use weft_link::memory;
use weft_wire::place::{self, Kind, PlaceHeader};

/// A packet to fill and launch. Dropping it gives it back unsent.
#[must_use = "a packet that is not launched is not sent"]
pub struct SendPacket<'a> {
    packets: &'a Packets,
    frame: Buffer,
    bytes: NonNull<u8>,
    size: usize,
    /// Most bytes that may be put: no more than the frame holds.
    capacity: usize,
    /// The only receiver, if it was made for one.
    to: Option<Rank>,
    launched: bool,
}

/// Bytes of the program that stay where they are, and as they are, while packets have them.
#[derive(Clone, Copy, Debug)]
pub struct Steady(memory::Lent);

impl Steady {
    /// These bytes.
    ///
    /// # Safety
    /// From the time when they are [put](SendPacket::put_steady) into a packet on, or
    /// [sent](Packets::send_zero_copy), they must be readable and must not change until
    /// [`Packets::has_back`] says so, or [`Packets::take_back`] has returned.
    #[inline]
    pub unsafe fn new(bytes: &[u8]) -> Self {
        Steady::of(bytes)
    }

    fn of(bytes: &[u8]) -> Self {
        Steady(memory::Lent { start: NonNull::from(bytes).cast(), bytes: bytes.len() })
    }

    /// The bytes as links know them.
    #[inline]
    pub(crate) fn memory(self) -> memory::Lent {
        self.0
    }

    /// The bytes, for a packet that has them copied.
    #[inline]
    fn bytes<'a>(self) -> &'a [u8] {
        // SAFETY: whoever made this keeps them readable and unchanged, a loan by its borrow; the
        // slice is used in the call that it is made in.
        unsafe { NonNull::slice_from_raw_parts(self.0.start, self.0.bytes).as_ref() }
    }
}

/// Memory of the program that packets leave from, without a copy, where the link can do that.
pub struct Lent<'a> {
    packets: &'a Packets,
    bytes: &'a [u8],
    /// The link sends from its frames only.
    refused: Cell<bool>,
}

impl Lent<'_> {
    /// True if no packet needs the memory any more: all that left from it were acknowledged. It is
    /// asked with the lock held, so not too often.
    pub fn is_back(&self) -> bool {
        self.packets.has_back(self.all())
    }

    fn all(&self) -> Steady {
        Steady::of(self.bytes)
    }
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        self.packets.take_back(self.all());
    }
}

impl Packets {
    /// Lends `bytes` to the packets that `send` fills ([`SendPacket::put_lent`]). Packets that
    /// still need some of them when it returns get a copy; whoever [waits](Lent::is_back) before
    /// spares that. `bytes` are borrowed meanwhile, and nobody reads them afterwards.
    pub fn lend<R>(&self, bytes: &[u8], send: impl FnOnce(&Lent<'_>) -> R) -> R {
        send(&Lent { packets: self, bytes, refused: Cell::new(false) })
    }

    /// True if no packet needs any of these bytes any more: all that left with them were
    /// acknowledged. It is asked with the lock held, so not too often.
    pub fn has_back(&self, bytes: Steady) -> bool {
        !self.node.in_lending(|lending| lending.has_lent(bytes.0))
    }

    /// Gives packets that still need some of these bytes a copy.
    pub fn take_back(&self, bytes: Steady) {
        self.node.in_lending(|lending| lending.take_back(bytes.0));
    }

    /// Sends a short packet of these bytes to rank `to`, if it may leave at once: there is a
    /// credit, and the packet need not be kept until it has arrived. The bytes are gathered in the
    /// slot that it leaves from. False if not: then nothing has happened, and the same bytes in a
    /// [packet](Self::try_packet) are sent as soon as they may. Never blocks.
    ///
    /// # Panics
    /// If there are more than [short packets](Self::short_payload) hold here.
    #[inline(always)]
    pub fn send_short(&self, to: Rank, bytes: &(impl Gather + Copy)) -> bool {
        self.node.launch_short(to, self.protocol, bytes)
    }

    /// True if short packets to `to` could leave at once but for a credit, which comes when the
    /// receiver has taken some. A sender that can try again later has no need of a frame then.
    pub fn awaits_credit(&self, to: Rank) -> bool {
        self.node.awaits_credit(to)
    }
}

impl<'a> SendPacket<'a> {
    #[inline]
    pub(crate) fn new(
        packets: &'a Packets,
        to: Option<Rank>,
        frame: Buffer,
        bytes: NonNull<u8>,
    ) -> Self {
        SendPacket {
            packets,
            frame,
            bytes,
            size: 0,
            to,
            capacity: to.map_or(packets.max_payload, |to| packets.max_payload_to(to)),
            launched: false,
        }
    }

    /// Appends `bytes`.
    ///
    /// # Errors
    /// [`Error::TooLong`] if they do not fit; the packet stays as it was.
    #[inline]
    pub fn put(&mut self, bytes: &[u8]) -> Result<&mut Self> {
        let max = self.capacity;
        if bytes.len() > max - self.size {
            return Err(Error::TooLong { size: self.size + bytes.len(), max });
        }
        // SAFETY: the frame has `max` writable bytes that belong to this packet alone until it is
        // launched, and the range was just checked; a caller's slice cannot overlap it, because
        // there is no other reference into the frame.
        unsafe {
            let to = self.bytes.add(self.size);
            match bytes.len() {
                0..LONG => to.copy_from_nonoverlapping(NonNull::from(bytes).cast(), bytes.len()),
                _ => copy_in(self.packets.stores_for(self.to), to, bytes),
            }
        }
        self.size += bytes.len();
        Ok(self)
    }

    /// Appends a range of lent memory, of which nothing is copied if the link can do without. It is
    /// the end of the packet.
    ///
    /// # Errors
    /// [`Error::TooLong`] if it does not fit; the packet stays as it was.
    ///
    /// # Panics
    /// If the memory has no such range, or is lent to another rank's packets: those would not be
    /// told when it is taken back.
    pub fn put_lent(&mut self, lent: &Lent<'_>, range: Range<usize>) -> Result<&mut Self> {
        let (own, others) = (self.packets.node.identity(), lent.packets.node.identity());
        assert!(own == others, "memory is lent to packets of one rank");
        let (bytes, room) = (&lent.bytes[range], self.room());
        if lent.refused.get() || bytes.is_empty() {
            return self.put(bytes);
        }
        let is_lent = self.put_steady(Steady::of(bytes))?;
        // The last packet may be of a length that others are not.
        lent.refused.set(!is_lent && bytes.len() == room);
        Ok(self)
    }

    /// Appends bytes that stay as they are, of which nothing is copied if the link can do without:
    /// true if so, and then this is the end of the packet, and the bytes are the packet's until
    /// they are [back](Packets::has_back).
    ///
    /// # Errors
    /// [`Error::TooLong`] if they do not fit; the packet stays as it was.
    pub fn put_steady(&mut self, bytes: Steady) -> Result<bool> {
        let memory = bytes.0;
        // No bytes at all would take the place of some that the frame has.
        let fits = (1..=self.room()).contains(&memory.bytes);
        let (frame, head) = (self.frame, self.size);
        let lends = || self.packets.node.in_lending(|lending| lending.lend(frame, head, memory));
        if !fits || !lends() {
            return self.put(bytes.bytes()).map(|_| false);
        }
        self.size += memory.bytes;
        self.capacity = self.size;
        Ok(true)
    }

    /// Has this packet, which goes to rank `to`, ask for an acknowledgement: who waits until
    /// [lent memory](Lent::is_back) is back does not wait for a timer then.
    pub fn ask(&mut self, to: Rank) {
        self.packets.node.ask_with_next(to);
    }

    /// Bytes that still fit.
    #[inline]
    pub fn room(&self) -> usize {
        self.capacity - self.size
    }

    /// Limits the packet to [`Packets::multicast_payload`] bytes, so that the network can copy it
    /// for several receivers, if it does that. Bytes that are in the packet already stay.
    #[inline]
    pub fn limit_to_multicast_payload(&mut self) {
        self.capacity = self.packets.multicast_payload().max(self.size);
    }

    /// Sends it to rank `to`. Never blocks; the packet is Weft's from here on.
    ///
    /// # Errors
    /// [`Error::NoSuchRank`]; [`Error::TooLong`] if it was made for a rank to which longer ones go.
    #[inline]
    pub fn unicast(self, to: Rank) -> Result<()> {
        let protocol = self.packets.protocol;
        self.launch(protocol, Destination::Unicast(to))
    }

    /// Sends it to all ranks but this one.
    ///
    /// # Errors
    /// Those of [`Self::multicast`].
    pub fn broadcast(self) -> Result<()> {
        self.multicast(Group::ALL)
    }

    /// Sends it to all members of `group` but this one.
    ///
    /// # Errors
    /// [`Error::NotAMember`] if this rank is not in the group; [`Error::TooLong`] if the packet was
    /// made for one rank.
    pub fn multicast(self, group: Group) -> Result<()> {
        let protocol = self.packets.protocol;
        self.launch(protocol, Destination::Multicast(group.0))
    }

    /// Sends it to rank `to` as a packet of a put or a get, whose header says where its bytes go.
    #[inline]
    pub(crate) fn unicast_put(self, to: Rank) -> Result<()> {
        self.launch(Protocol::PUTS, Destination::Unicast(to))
    }

    /// Puts as many of `bytes` into a landing of rank `to` at `offset` as there is room for, and
    /// returns how many. Packets that are launched to that rank later come after them. Nothing else
    /// may be in the packet. Never blocks.
    ///
    /// # Errors
    /// [`Error::NoSuchRank`].
    pub fn land(mut self, to: Rank, landing: u32, offset: usize, bytes: &[u8]) -> Result<usize> {
        let length = bytes.len().min(self.room().saturating_sub(place::SIZE));
        let header = PlaceHeader::new(Kind::Put, landing);
        self.put(&PlaceHeader { offset: offset as u64, ..header }.emit())?.put(&bytes[..length])?;
        self.unicast_put(to)?;
        Ok(length)
    }

    #[inline(always)]
    fn launch(mut self, protocol: Protocol, to: Destination) -> Result<()> {
        if self.size > self.packets.max_payload {
            return self.launch_long(protocol, to);
        }
        self.launched = true;
        self.packets.node.launch(self.frame, protocol, to, self.size as u16)
    }

    /// Launches one that was made for a rank to which longer ones go.
    #[cold]
    fn launch_long(mut self, protocol: Protocol, to: Destination) -> Result<()> {
        let max = match to {
            Destination::Unicast(to) => self.packets.max_payload_to(to),
            Destination::Multicast(_) => self.packets.max_payload,
        };
        if self.size > max {
            return Err(Error::TooLong { size: self.size, max });
        }
        self.launched = true;
        self.packets.node.launch(self.frame, protocol, to, self.size as u16)
    }
}

impl Drop for SendPacket<'_> {
    #[inline]
    fn drop(&mut self) {
        if !self.launched {
            self.packets.node.discard(self.frame);
        }
    }
}
