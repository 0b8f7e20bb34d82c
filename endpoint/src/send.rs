//! A packet on its way out, filled in link memory.
#![allow(unsafe_code)]

use crate::copy::{LONG, copy_in};
use crate::handle::Handle;
use crate::memory::{Borrowed, Loan};
use crate::{Destination, Error, Group, Protocol, Rank, Result, Upcalls};
use std::ops::Range;
use std::ptr::NonNull;
use weft_link::Buffer;
use weft_wire::place::{self, PlaceHeader, PlaceKind};

/// A packet to fill and launch. Dropping it gives it back unsent.
#[must_use = "a packet that is not launched is not sent"]
pub struct SendPacket<'a> {
    handle: &'a Handle,
    frame: Buffer,
    bytes: NonNull<u8>,
    size: usize,
    /// Most bytes that may be put: no more than the frame holds.
    capacity: usize,
    /// The only receiver, if it was made for one.
    to: Option<Rank>,
    launched: bool,
}

impl<'a> SendPacket<'a> {
    /// A packet to fill, to one rank alone if it is given: see [`crate::Packets::packet_with`].
    #[inline]
    pub(crate) fn alloc(handle: &'a Handle, to: Option<Rank>, upcalls: Upcalls) -> Result<Self> {
        let (frame, bytes) = handle.node.alloc(handle.system, to, upcalls)?;
        Ok(Self::new(handle, to, frame, bytes))
    }

    /// Does what [`Self::alloc`] does, without ever blocking: see [`crate::Packets::try_packet`].
    #[inline]
    pub(crate) fn try_alloc(handle: &'a Handle, to: Option<Rank>) -> Result<Option<Self>> {
        let found = handle.node.try_alloc(handle.system, to)?;
        Ok(found.map(|(frame, bytes)| Self::new(handle, to, frame, bytes)))
    }

    #[inline]
    fn new(handle: &'a Handle, to: Option<Rank>, frame: Buffer, bytes: NonNull<u8>) -> Self {
        SendPacket {
            handle,
            frame,
            bytes,
            size: 0,
            to,
            capacity: to.map_or(handle.max_payload, |to| handle.max_payload_to(to)),
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
                _ => copy_in(self.handle.stores_for(self.to), to, bytes),
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
    pub fn put_lent(&mut self, lent: &Loan<'_>, range: Range<usize>) -> Result<&mut Self> {
        assert!(lent.is_of(&self.handle.node), "memory is lent to packets of one rank");
        let (bytes, room) = (lent.part(range), self.room());
        let length = bytes.memory().bytes;
        if lent.refused.get() || length == 0 {
            return self.put(bytes.bytes());
        }
        let is_lent = self.put_borrowed(bytes)?;
        // The last packet may be of a length that others are not.
        lent.refused.set(!is_lent && length == room);
        Ok(self)
    }

    /// Appends borrowed bytes, without a copy if the link can send them from where they lie. True
    /// if there was no copy: then this is the end of the packet, which needs the bytes until they
    /// are [back](crate::Memory::has_back).
    ///
    /// # Errors
    /// [`Error::TooLong`] if they do not fit; the packet stays as it was.
    pub fn put_borrowed(&mut self, bytes: Borrowed) -> Result<bool> {
        let memory = bytes.memory();
        // No bytes at all would take the place of some that the frame has.
        let fits = (1..=self.room()).contains(&memory.bytes);
        let (frame, head) = (self.frame, self.size);
        let lends = || self.handle.node.in_lending(|lending| lending.lend(frame, head, memory));
        if !fits || !lends() {
            return self.put(bytes.bytes()).map(|_| false);
        }
        self.size += memory.bytes;
        self.capacity = self.size;
        Ok(true)
    }

    /// Has this packet, which goes to rank `to`, ask for an acknowledgement, so that a thread that
    /// waits until [lent memory](Loan::is_back) is back does not wait for a timer.
    pub fn ask(&mut self, to: Rank) {
        self.handle.node.ask_with_next(to);
    }

    /// Bytes that still fit.
    #[inline]
    pub fn room(&self) -> usize {
        self.capacity - self.size
    }

    /// Limits the packet to [`crate::Packets::multicast_payload`] bytes, so that the network can
    /// copy it for several receivers, if it does that. Bytes that are in the packet already stay.
    #[inline]
    pub fn limit_to_multicast_payload(&mut self) {
        self.capacity = self.handle.multicast_payload.max(self.size);
    }

    /// Sends it to rank `to`. Never blocks; the packet is Weft's from here on.
    ///
    /// # Errors
    /// [`Error::NoSuchRank`]; [`Error::TooLong`] if it was made for a rank to which longer ones go.
    #[inline]
    pub fn unicast(self, to: Rank) -> Result<()> {
        let system = self.handle.system;
        self.launch(system, Destination::Unicast(to))
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
        let system = self.handle.system;
        self.launch(system, Destination::Multicast(group.0))
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
        let header = PlaceHeader::new(PlaceKind::Put, landing);
        self.put(&PlaceHeader { offset: offset as u64, ..header }.emit())?.put(&bytes[..length])?;
        self.unicast_put(to)?;
        Ok(length)
    }

    #[inline(always)]
    fn launch(mut self, system: Protocol, to: Destination) -> Result<()> {
        if self.size > self.handle.max_payload {
            return self.launch_long(system, to);
        }
        self.launched = true;
        self.handle.node.launch(self.frame, system, to, self.size as u16)
    }

    /// Launches one that was made for a rank to which longer ones go.
    #[cold]
    fn launch_long(mut self, system: Protocol, to: Destination) -> Result<()> {
        let max = match to {
            Destination::Unicast(to) => self.handle.max_payload_to(to),
            Destination::Multicast(_) => self.handle.max_payload,
        };
        if self.size > max {
            return Err(Error::TooLong { size: self.size, max });
        }
        self.launched = true;
        self.handle.node.launch(self.frame, system, to, self.size as u16)
    }
}

impl Drop for SendPacket<'_> {
    #[inline]
    fn drop(&mut self) {
        if !self.launched {
            self.handle.node.discard(self.frame);
        }
    }
}
