//! Packets that wait for their systems, and what is done so that others need not wait, too.

use crate::Result;
use crate::ni::backlog::{Storage, i14_bounded_backlog, most_in_link_memory};
use crate::ni::inner::Inner;
use std::sync::atomic::Ordering;
use weft_link::{Buffer, Link};
use weft_protocol::Delivery;

impl<L: Link> Inner<L> {
    /// The next packet that a poll can give to its system.
    #[inline(always)]
    pub fn next_served(&mut self) -> Result<Option<Delivery<Buffer>>> {
        match self.systems.ready() {
            0 => self.next_delivery(),
            ready => Ok(self.next_waiting(ready.trailing_zeros() as usize)),
        }
    }

    /// The packet that has waited longest for the system numbered `index`.
    #[inline(always)]
    pub fn next_waiting(&mut self, index: usize) -> Option<Delivery<Buffer>> {
        if self.systems.has_waiting(index) { self.take_waiting(index) } else { None }
    }

    #[inline(never)]
    fn take_waiting(&mut self, index: usize) -> Option<Delivery<Buffer>> {
        let window = u32::from(self.ni.settings().window_packets);
        let (delivery, goes_on) = self.systems.take_waiting(index, window)?;
        if goes_on {
            self.gates.notify(delivery.tree.protocol, delivery.origin(), false);
        }
        Some(delivery)
    }

    /// Has a packet wait for its system. If many of its sender do, it is copied out of link memory,
    /// so that the sender has the credit for others; then the sender is told to stop.
    pub fn wait_for_system(&mut self, mut delivery: Delivery<Buffer>) {
        let (protocol, from) = (delivery.tree.protocol, delivery.origin());
        let settings = self.ni.settings();
        let (window, ranks) = (u32::from(settings.window_packets), usize::from(settings.ranks));
        let in_link = most_in_link_memory(window, self.link.capabilities().frames, ranks);
        let storage = match from == self.ni.local() {
            true => Storage::Link,
            false => self.systems.storage(protocol, from, window, in_link),
        };
        if storage != Storage::Link && L::NI.is_some() {
            // It is a copy of the host's own already, in one of few buffers.
            if let Some(frames) = self.link.shared_frames() {
                delivery.buffer = frames.detach(delivery.buffer, delivery.size);
            }
            self.offloaded.made_room(&mut self.link);
        } else if storage != Storage::Link {
            let copy = self.copies.copy(&delivery, &self.link, self.ni.local());
            self.release(std::mem::replace(&mut delivery, copy));
        }
        if storage == Storage::LastCopy {
            self.gates.notify(protocol, from, true);
        }
        let packets = self.systems.wait(delivery);
        self.is_busy.store(true, Ordering::Relaxed);
        if from != self.ni.local() {
            let host_frames = L::NI.map(|_| self.link.capabilities().host_frames);
            i14_bounded_backlog(packets, ranks, window as usize, host_frames);
        }
    }

    /// Takes the packets that wait for the host out of their senders' memory. For a host that can
    /// neither process them now nor go on: the senders may be in the same situation.
    pub fn detach_pending(&mut self) {
        // A host's own copies belong to no other rank.
        let is_own = |delivery: &Delivery<Buffer>| L::NI.is_some() || delivery.is_alone();
        let Some(frames) = self.link.shared_frames() else { return };
        for delivery in self.pending.iter_mut().filter(|delivery| is_own(delivery)) {
            delivery.buffer = frames.detach(delivery.buffer, delivery.size);
        }
        self.offloaded.made_room(&mut self.link);
    }

    /// Notes if the next packet of the network may go the short way again.
    #[inline]
    pub fn note_busy(&self) {
        let is_busy = L::SHORT.is_none()
            || self.ni.settings().preset.retransmits()
            || !self.pending.is_empty()
            || self.failure.is_some()
            || !self.systems.are_quiet()
            || !self.gates.are_quiet();
        self.is_busy.store(is_busy, Ordering::Relaxed);
    }
}
