//! Packets that a system takes from the network by itself, and reads in link memory.
#![allow(unsafe_code)]

use crate::duties::bit;
use crate::receive::{KeptPacket, bytes};
use crate::{Arrival, Group, Inspect, Packets, Rank, Result, Taken};

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
        self.0.handle.node.taken();
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
    pub fn take(&self, held: &mut HeldPacket) -> Result<bool> {
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
    pub fn take_unless(&self, inspector: impl Inspect, held: &mut HeldPacket) -> Result<Taken> {
        let handle = &self.handle;
        handle.pay_if_others_owe();
        match handle.node.take_unless(handle.system, inspector, &mut held.arrival) {
            Some(Taken::AtOnce) => Ok(Taken::AtOnce),
            Some(Taken::Nothing) => handle.help_others(bit(handle.system)).map(|_| Taken::Nothing),
            Some(Taken::Held) => {
                held.home = self.home();
                Ok(Taken::Held)
            }
            None => Err(handle.node.trouble()),
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
        KeptPacket::new(arrival, self.handle.node.any())
    }

    /// Gives a packet of this node back; its sender gets the credit.
    ///
    /// # Panics
    /// If it is another node's.
    #[inline]
    pub fn release(&self, held: &mut HeldPacket) {
        if let Some(arrival) = held.arrival.take() {
            assert!(held.home == self.home(), "a packet is released to the node that it came from");
            self.handle.node.release(arrival);
        }
    }

    /// Identity of the node.
    #[inline]
    fn home(&self) -> usize {
        self.handle.node.identity()
    }
}
