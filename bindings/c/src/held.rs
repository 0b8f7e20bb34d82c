//! Values that borrow a packet interface or a mapped region in Rust, and in C last from one call to
//! another.
#![allow(unsafe_code)]

use std::sync::Arc;
use weft::{Packets, SendPacket};
use weft_endpoint::InterruptsOff;
use weft_region::{Mapped, Read, Write};

/// Something that borrows an owner, a packet interface most often, and what keeps that where it is.
pub(crate) struct Held<B, O = Packets> {
    // Dropped first: it uses the owner.
    borrower: B,
    _owner: Arc<O>,
}

/// An access to read a region.
pub(crate) type HeldRead = Held<Read<'static, u8>, Mapped<u8>>;
/// An access to write a region.
pub(crate) type HeldWrite = Held<Write<'static, u8>, Mapped<u8>>;

impl<B, O> Held<B, O> {
    /// The borrower, as long as it is held.
    pub fn get(&mut self) -> &mut B {
        &mut self.borrower
    }

    /// Lets `end` use the borrower up.
    pub fn end<T>(self, end: impl FnOnce(B) -> T) -> T {
        let Held { borrower, _owner } = self;
        end(borrower)
    }
}

impl Held<SendPacket<'static>> {
    /// A packet to fill: see [`Packets::packet`].
    pub fn packet(packets: &Arc<Packets>) -> weft_endpoint::Result<Self> {
        // SAFETY: the packet is held together with the interface.
        let borrower = unsafe { outlive(packets) }.packet()?;
        Ok(Held { borrower, _owner: Arc::clone(packets) })
    }
}

impl Held<InterruptsOff<'static>> {
    /// Turns interrupts off: see [`Packets::interrupts_off`].
    pub fn interrupts_off(packets: &Arc<Packets>) -> Self {
        // SAFETY: the guard is held together with the interface.
        let borrower = unsafe { outlive(packets) }.interrupts_off();
        Held { borrower, _owner: Arc::clone(packets) }
    }
}

impl HeldRead {
    /// Starts to read: see [`Mapped::read`].
    pub fn read(region: &Arc<Mapped<u8>>) -> weft_region::Result<Self> {
        // SAFETY: the access is held together with the mapping.
        let borrower = unsafe { outlive(region) }.read()?;
        Ok(Held { borrower, _owner: Arc::clone(region) })
    }
}

impl HeldWrite {
    /// Starts to write: see [`Mapped::write`].
    pub fn write(region: &Arc<Mapped<u8>>) -> weft_region::Result<Self> {
        // SAFETY: the access is held together with the mapping.
        let borrower = unsafe { outlive(region) }.write()?;
        Ok(Held { borrower, _owner: Arc::clone(region) })
    }
}

/// The owner for as long as somebody has a part in it.
///
/// # Safety
/// Whoever uses the result has a clone of `owner` meanwhile.
unsafe fn outlive<O>(owner: &Arc<O>) -> &'static O {
    // SAFETY: the caller's clone keeps the owner alive, an `Arc` keeps it in its place, and
    // nobody writes it.
    unsafe { &*Arc::as_ptr(owner) }
}
