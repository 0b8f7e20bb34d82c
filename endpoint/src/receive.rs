//! A packet that arrived, read in link memory.
//!
//! Bytes of a packet that is longer than a slot are read where its sender, on the same host, wrote
//! them. They are given out as `&[u8]`, which promises that they do not change. It rests on the
//! sender's keeping the protocol: `docs/internals/trust.md`, "Bytes that are read in place".
#![allow(unsafe_code)]

use crate::packets::Packets;
use crate::{AnyNode, Arrival, Group, Inspect, Rank, Taken};
use std::ops::Deref;
use std::slice;
use std::sync::{Arc, Weak};

/// A packet in the hands of an upcall; it is recycled when the upcall returns, unless kept.
///
/// Its bytes stay as they are while it is there, because no correct rank writes what it has sent.
/// A program that does not rely on that copies them before it looks.
pub struct Packet<'a> {
    slot: &'a mut Option<Arrival>,
    node: &'a Weak<dyn AnyNode>,
}

impl<'a> Packet<'a> {
    #[inline]
    pub(crate) fn new(slot: &'a mut Option<Arrival>, node: &'a Weak<dyn AnyNode>) -> Self {
        Packet { slot, node }
    }

    /// The rank that sent it.
    #[inline]
    pub fn source(&self) -> Rank {
        self.arrival().origin()
    }

    /// The group that it was multicast to; `None` for a unicast packet.
    #[inline]
    pub fn group(&self) -> Option<Group> {
        self.arrival().group().map(Group)
    }

    /// Keeps the packet beyond the upcall, where it is; no byte is copied. Its sender gets the
    /// credit back when the kept packet is dropped.
    #[inline]
    pub fn keep(self) -> Option<KeptPacket> {
        let node = self.node.upgrade()?;
        Some(KeptPacket { arrival: Some(self.slot.take()?), node })
    }

    #[inline]
    fn arrival(&self) -> &Arrival {
        self.slot.as_ref().unwrap_or_else(|| unreachable!("keep consumes the packet"))
    }
}

impl Deref for Packet<'_> {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        // SAFETY: the arrival is not released while `self` is borrowed: the node gets it back only
        // after the upcall.
        unsafe { bytes(self.arrival()) }
    }
}

/// A packet that an upcall kept. Dropping it releases it. Its bytes are as safe from other ranks as
/// those of a [`Packet`].
pub struct KeptPacket {
    arrival: Option<Arrival>,
    node: Arc<dyn AnyNode>,
}

// SAFETY: an arrival is a token and an address in link memory, which the node keeps mapped; the
// bytes are only read, and the token goes back through the node's lock.
unsafe impl Send for KeptPacket {}
// SAFETY: `&KeptPacket` only reads bytes that are not written until the packet is released.
unsafe impl Sync for KeptPacket {}

impl KeptPacket {
    pub(crate) fn new(arrival: Arrival, node: Arc<dyn AnyNode>) -> Self {
        KeptPacket { arrival: Some(arrival), node }
    }

    /// The rank that sent it.
    pub fn source(&self) -> Rank {
        self.arrival().origin()
    }

    #[inline]
    fn arrival(&self) -> &Arrival {
        self.arrival.as_ref().unwrap_or_else(|| unreachable!("only drop takes the arrival"))
    }
}

impl Deref for KeptPacket {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        // SAFETY: the arrival is released in `drop` only, and the node, which keeps link memory
        // mapped, lives as long as `self`.
        unsafe { bytes(self.arrival()) }
    }
}

impl AsRef<[u8]> for KeptPacket {
    #[inline]
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl Drop for KeptPacket {
    fn drop(&mut self) {
        if let Some(arrival) = self.arrival.take() {
            self.node.release(arrival);
        }
    }
}

/// Slot for a packet in the hands of a layer that sorts packets by itself: see [`Packets::take`].
/// The packet is read and released through the [`Packets`] that it came from, so that holding it
/// costs nothing. The slot is filled where it lies, because moving it costs more than anything else
/// that is done with it.
#[derive(Default)]
#[must_use = "a packet that is not released costs its sender a credit for ever"]
pub struct HeldPacket {
    arrival: Option<Arrival>,
    home: usize,
}

// SAFETY: as for `KeptPacket`; the token goes back through the lock of the node that it names.
unsafe impl Send for HeldPacket {}
// SAFETY: as for `KeptPacket`.
unsafe impl Sync for HeldPacket {}

impl HeldPacket {
    /// True if there is a packet.
    #[inline]
    pub fn is_some(&self) -> bool {
        self.arrival.is_some()
    }

    /// The rank that sent it, if there is one.
    #[inline]
    pub fn source(&self) -> Option<Rank> {
        self.arrival.as_ref().map(Arrival::origin)
    }

    /// The group that it was multicast to; `None` for a unicast packet.
    #[inline]
    pub fn group(&self) -> Option<Group> {
        self.arrival.as_ref().and_then(Arrival::group).map(Group)
    }
}

/// The time in which a packet is sorted: see [`Packets::sorting`].
#[must_use = "no other packet is taken while one is sorted"]
pub struct Sorting<'a>(&'a Packets);

impl Drop for Sorting<'_> {
    #[inline]
    fn drop(&mut self) {
        self.0.node.taken();
    }
}

impl Packets {
    /// Takes one packet of this protocol from the network into `held`, for a layer that sorts
    /// packets by itself instead of having an upcall made for each. No other packet is taken, and
    /// no upcall made, until it is [sorted](Self::sorting); other threads only drain the network
    /// meanwhile. False if there was none. Packets of other protocols that come first go to their
    /// systems.
    ///
    /// # Errors
    /// Those of [`Self::poll`].
    #[inline]
    pub fn take(&self, held: &mut HeldPacket) -> crate::Result<bool> {
        Ok(self.take_unless(|_: Rank, _: &[u8]| false, held)? == Taken::Held)
    }

    /// Takes a packet as [`Self::take`] does, after showing `inspector` its source and its bytes.
    /// If the inspector is done with it, the packet is released and [sorted](Self::sorting) with no
    /// further call. `inspector` runs inside the lock of the network, and must call nothing here.
    /// Some packets are not shown to it.
    ///
    /// # Errors
    /// Those of [`Self::poll`].
    #[inline]
    pub fn take_unless(
        &self,
        inspector: impl Inspect,
        held: &mut HeldPacket,
    ) -> crate::Result<Taken> {
        self.pay_if_others_owe();
        match self.node.take_unless(self.protocol, inspector, &mut held.arrival) {
            Some(Taken::AtOnce) => Ok(Taken::AtOnce),
            Some(Taken::Nothing) => self.help_others_than_own().map(|()| Taken::Nothing),
            Some(Taken::Held) => {
                held.home = self.home();
                Ok(Taken::Held)
            }
            None => Err(self.node.trouble()),
        }
    }

    /// The time in which the packet taken last is sorted, until this is dropped: from then on
    /// others may be taken again, even if whoever sorted it has panicked.
    #[inline]
    pub fn sorting(&self) -> Sorting<'_> {
        Sorting(self)
    }

    /// The bytes of a packet of this node; none if there is no packet.
    ///
    /// # Panics
    /// If it is another node's.
    #[inline]
    pub fn read<'a>(&'a self, held: &'a HeldPacket) -> &'a [u8] {
        let Some(arrival) = &held.arrival else { return &[] };
        assert!(held.home == self.home(), "a packet is read through the node that it came from");
        // SAFETY: the node keeps link memory mapped while `self` is borrowed, and a caller of
        // `release` borrows the packet mutably, which is not possible while it is borrowed here.
        unsafe { bytes(arrival) }
    }

    /// Keeps a packet of this node, where it is.
    ///
    /// # Panics
    /// If it is another node's, or there is none.
    pub fn keep(&self, held: &mut HeldPacket) -> KeptPacket {
        assert!(held.home == self.home(), "a packet is kept at the node that it came from");
        let Some(arrival) = held.arrival.take() else { panic!("there is a packet to keep") };
        KeptPacket::new(arrival, self.node.any())
    }

    /// Gives a packet of this node back; its sender gets the credit.
    ///
    /// # Panics
    /// If it is another node's.
    #[inline]
    pub fn release(&self, held: &mut HeldPacket) {
        if let Some(arrival) = held.arrival.take() {
            assert!(held.home == self.home(), "a packet is released to the node that it came from");
            self.node.release(arrival);
        }
    }

    /// Identity of the node.
    #[inline]
    fn home(&self) -> usize {
        self.node.identity()
    }
}

/// The bytes of `arrival`.
///
/// # Safety
/// `arrival` must not be released, nor its link unmapped, for as long as the result is used. The
/// link then promises that the bytes stay and that no correct peer writes them; that peers of the
/// same job are correct in this is the trust that shared memory asks for
/// (`docs/internals/trust.md`).
#[inline]
unsafe fn bytes(arrival: &Arrival) -> &[u8] {
    let (start, length) = arrival.bytes();
    // SAFETY: the caller's promise; the link checked that `length` bytes are there.
    unsafe { slice::from_raw_parts(start.as_ptr(), length) }
}
