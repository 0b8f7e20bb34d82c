//! What borrows a packet interface in Rust, and in C lasts from one call to another.
#![allow(unsafe_code)]

use std::sync::Arc;
use weft::{Packets, SendPacket};
use weft_packet::InterruptsOff;

/// Something that borrows a packet interface, and what keeps that where it is.
pub(crate) struct Held<B> {
    // Dropped first: it uses the interface.
    borrower: B,
    _packets: Arc<Packets>,
}

impl<B> Held<B> {
    /// The borrower, as long as it is held.
    pub fn get(&mut self) -> &mut B {
        &mut self.borrower
    }

    /// Lets `end` use the borrower up.
    pub fn end<T>(self, end: impl FnOnce(B) -> T) -> T {
        let Held { borrower, _packets } = self;
        end(borrower)
    }
}

impl Held<SendPacket<'static>> {
    /// A packet to fill: see [`Packets::packet`].
    pub fn packet(packets: &Arc<Packets>) -> weft_packet::Result<Self> {
        // SAFETY: the packet is held together with the interface.
        let borrower = unsafe { outlive(packets) }.packet()?;
        Ok(Held { borrower, _packets: Arc::clone(packets) })
    }
}

impl Held<InterruptsOff<'static>> {
    /// Turns interrupts off: see [`Packets::interrupts_off`].
    pub fn interrupts_off(packets: &Arc<Packets>) -> Self {
        // SAFETY: the guard is held together with the interface.
        let borrower = unsafe { outlive(packets) }.interrupts_off();
        Held { borrower, _packets: Arc::clone(packets) }
    }
}

/// The packet interface for as long as somebody has a part in it.
///
/// # Safety
/// Whoever uses the result has a clone of `packets` meanwhile.
unsafe fn outlive(packets: &Arc<Packets>) -> &'static Packets {
    // SAFETY: the caller's clone keeps the interface alive, an `Arc` keeps it in its place, and
    // nobody writes it.
    unsafe { &*Arc::as_ptr(packets) }
}
