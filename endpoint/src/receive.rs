//! A packet that arrived, read in link memory.
//!
//! Bytes of a packet that is longer than a slot are read where its sender, on the same host, wrote
//! them. They are given out as `&[u8]`, which promises that they do not change. It rests on the
//! sender's keeping the protocol: `docs/internals/trust.md`, "Bytes that are read in place".
#![allow(unsafe_code)]

use crate::{AnyNode, Arrival, Group, Rank};
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

/// The bytes of `arrival`.
///
/// # Safety
/// `arrival` must not be released, nor its link unmapped, for as long as the result is used. The
/// link then promises that the bytes stay and that no correct peer writes them; that peers of the
/// same job are correct in this is the trust that shared memory asks for
/// (`docs/internals/trust.md`).
#[inline]
pub(crate) unsafe fn bytes(arrival: &Arrival) -> &[u8] {
    let (start, length) = arrival.bytes();
    // SAFETY: the caller's promise; the link checked that `length` bytes are there.
    unsafe { slice::from_raw_parts(start.as_ptr(), length) }
}
