//! The systems of a rank, and the packets that wait for them.
//!
//! A system has a function for its packets, or takes them itself; until then they wait in a queue
//! of its own. One that leaves them there does not stop the others ([`crate::ni::backlog`]).

use crate::Result;
use crate::ni::any_node::{Destination, Handler, Upcall};
use crate::ni::backlog::{
    Backlog, HeldBack, Storage, Target, i14_bounded_backlog, most_in_link_memory,
};
use crate::ni::inner::{Inner, Side};
use std::collections::VecDeque;
use std::sync::atomic::Ordering;
use weft_link::{Buffer, Link, Plain, ShortPackets};
use weft_protocol::{Delivery, Looked};
use weft_wire::{Protocol, Rank, TreeId};

#[derive(Default)]
pub(crate) struct System {
    /// The functions that the system has for its packets, one at most; absent while it runs.
    pub upcall: Option<Upcall>,
    pub handler: Option<Box<dyn Handler>>,
    /// Packets that wait for the system, oldest first.
    waiting: VecDeque<Delivery<Buffer>>,
    backlog: Backlog,
}

/// The systems of a rank, by protocol number.
#[derive(Default)]
pub(crate) struct Systems {
    pub table: [System; Protocol::LIMIT],
    /// The systems for which packets wait, a bit each.
    waiting: u32,
    /// The systems that have a function, a bit each.
    served: u32,
    /// The systems that take their packets themselves, a bit each.
    taken: u32,
}

#[inline]
fn bit(protocol: Protocol) -> u32 {
    1 << protocol.index()
}

impl Systems {
    pub fn set_upcall(&mut self, protocol: Protocol, upcall: Upcall) {
        self.table[protocol.index()].upcall = Some(upcall);
        self.served |= bit(protocol);
    }

    pub fn set_handler(&mut self, protocol: Protocol, handler: Box<dyn Handler>) {
        self.table[protocol.index()].handler = Some(handler);
        self.served |= bit(protocol);
    }

    pub fn set_taken(&mut self, protocol: Protocol) {
        self.taken |= bit(protocol);
    }

    /// Gives an upcall back after it ran, unless another one has taken its place.
    #[inline(always)]
    pub fn give_back(&mut self, protocol: Protocol, upcall: Upcall) {
        let place = &mut self.table[protocol.index()].upcall;
        if place.is_none() {
            *place = Some(upcall);
        }
    }

    /// The systems, a bit each, whose packets wait for them to be taken.
    pub fn unserved(&self) -> u32 {
        self.waiting & self.taken & !self.served
    }

    /// True if a packet waits that some system's function, or some thread, is to take.
    pub fn has_takeable(&self) -> bool {
        self.waiting & (self.served | self.taken) != 0
    }
}

/// A notice as the length of a packet.
fn encode_notice(protocol: Protocol, stop: bool) -> u16 {
    1 + (protocol.index() as u16) * 2 + u16::from(stop)
}

/// The protocol that a notice is about, and true if it says to stop; `None` if it says nothing.
fn decode_notice(size: u16) -> Option<(Protocol, bool)> {
    let word = size.checked_sub(1)?;
    let protocol = Protocol::numbered(u8::try_from(word / 2).ok()?)?;
    Some((protocol, word % 2 == 1))
}

impl<L: Link> Inner<L> {
    /// The next packet that a poll can give to its system.
    #[inline(always)]
    pub fn next_served(&mut self) -> Result<Option<Delivery<Buffer>>> {
        match self.systems.waiting & self.systems.served {
            0 => self.next_delivery(),
            ready => Ok(self.next_waiting(ready.trailing_zeros() as usize)),
        }
    }

    /// The packet that has waited longest for the system numbered `index`.
    #[inline(always)]
    pub fn next_waiting(&mut self, index: usize) -> Option<Delivery<Buffer>> {
        match self.systems.waiting & (1 << index) {
            0 => None,
            _ => self.take_waiting(index),
        }
    }

    #[inline(never)]
    fn take_waiting(&mut self, index: usize) -> Option<Delivery<Buffer>> {
        let system = self.systems.table.get_mut(index)?;
        let delivery = system.waiting.pop_front();
        if system.waiting.is_empty() {
            self.systems.waiting &= !(1 << index);
        }
        let delivery = delivery?;
        let (protocol, from) = (delivery.tree.protocol, delivery.origin());
        if system.backlog.taken(from, u32::from(self.ni.settings().window_packets)) {
            self.gates.notify(protocol, from, false);
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
        let system = &mut self.systems.table[protocol.index()];
        let storage = match from == self.ni.local() {
            true => Storage::Link,
            false => system.backlog.stored(from, window, in_link),
        };
        if storage != Storage::Link {
            self.copy_out(&mut delivery);
        }
        if storage == Storage::LastCopy {
            self.gates.notify(protocol, from, true);
        }
        let system = &mut self.systems.table[protocol.index()];
        system.waiting.push_back(delivery);
        let packets = system.waiting.len();
        self.systems.waiting |= bit(protocol);
        self.is_busy.store(true, Ordering::Relaxed);
        if from != self.ni.local() {
            let host_frames = L::NI.map(|_| self.link.capabilities().host_frames);
            i14_bounded_backlog(packets, ranks, window as usize, host_frames);
        }
    }

    /// Applies the notices that have arrived. A host that only drains does so, too.
    #[cold]
    pub fn handle_notices(&mut self) {
        self.has_notice = false;
        let is_notice = |delivery: &Delivery<Buffer>| delivery.tree.protocol == Protocol::ENDPOINT;
        while let Some(at) = self.pending.iter().position(is_notice) {
            if let Some(notice) = self.pending.remove(at) {
                self.handle_notice(notice);
            }
        }
    }

    /// Applies a notice, whose length is all that it says: a node writes into no frame.
    pub fn handle_notice(&mut self, notice: Delivery<Buffer>) {
        let (from, word) = (notice.origin(), notice.size);
        self.release(notice);
        if let Some((protocol, stop)) = decode_notice(word) {
            self.gates.set(protocol, from, stop);
        }
        while let Some(HeldBack { frame, protocol, to, size }) = self.gates.next_free() {
            match to {
                Target::One(rank) => self.unicast(protocol, rank, frame, size),
                // Its sender was a member when it was launched, and groups stay as they are.
                Target::Members(group, _) => {
                    let launched = self.multicast(protocol, group, frame, size);
                    debug_assert!(launched.is_ok(), "a group was there and is not");
                }
            }
        }
    }

    /// Keeps a packet whose receiver takes none of its system at the moment; false if it may leave.
    #[cold]
    pub fn hold_back(
        &mut self,
        frame: Buffer,
        protocol: Protocol,
        to: Destination,
        size: u16,
    ) -> bool {
        let to = match to {
            Destination::Unicast(rank) => Target::One(rank),
            Destination::Multicast(group) => match self.ni.group(group) {
                Some(found) => Target::Members(group, found.members().into()),
                None => return false,
            },
        };
        if self.gates.lets_through(protocol, &to) {
            return false;
        }
        self.gates.hold_back(HeldBack { frame, protocol, to, size });
        true
    }

    /// Sends the notices that this rank owes, as far as there are frames.
    #[inline]
    pub fn send_notices(&mut self) {
        while let Some((protocol, to, stop)) = self.gates.next_notice() {
            let Some(frame) = self.link.alloc(Some(to)) else {
                return self.gates.requeue_notice((protocol, to, stop));
            };
            self.held += 1;
            self.unicast(Protocol::ENDPOINT, to, frame, encode_notice(protocol, stop));
        }
    }

    /// Copies a packet that waits out of link memory.
    #[cold]
    fn copy_out(&mut self, delivery: &mut Delivery<Buffer>) {
        if L::NI.is_some() {
            // It is a copy of the host's own already, in one of few buffers.
            self.detach(delivery);
            return self.offloaded.made_room(&mut self.link);
        }
        let mut bytes = vec![0; usize::from(delivery.size)].into_boxed_slice();
        self.link.copy_out(delivery.buffer, &mut bytes);
        let copy = Delivery::copied(self.copies.insert(bytes), delivery, self.ni.local());
        let original = std::mem::replace(delivery, copy);
        self.release(original);
    }

    /// Accepts a plain packet; true if `look` is done with it. `None` if its sender broke the
    /// protocol, for which this rank fails.
    #[inline(always)]
    pub fn accept_plain(
        &mut self,
        plain: &Plain,
        frame: Option<Buffer>,
        look: impl FnOnce() -> bool,
    ) -> Option<bool> {
        let Plain { source, size, credits, .. } = *plain;
        match self.ni.received_plain(source, size, credits, look) {
            Ok(looked) => {
                if looked.is_done
                    && let Some(frame) = frame
                {
                    self.link.free(frame);
                }
                if looked.is_unsettled {
                    self.settle(source, looked);
                }
                if self.ni.count_plain() {
                    self.check_invariants();
                }
                Some(looked.is_done)
            }
            Err(violation) => {
                self.fail_with(violation.into());
                None
            }
        }
    }

    /// Checks what must hold between two packets. What does not is found by the next call.
    #[cold]
    #[inline(never)]
    fn check_invariants(&mut self) {
        if let Err(broken) = self.ni.check_invariants() {
            self.fail_with(broken.into());
        }
    }

    #[cold]
    #[inline(never)]
    pub fn settle(&mut self, source: Rank, looked: Looked) {
        let (ni, mut out) = self.split(Side::Host);
        ni.settle(source, looked, &mut out);
    }

    /// Has a plain packet go the long way.
    #[cold]
    pub fn queue_plain(&mut self, plain: &Plain, frame: Option<Buffer>) -> Result<()> {
        if self.accept_plain(plain, frame, || false).is_none() {
            return self.check_failure();
        }
        let buffer = match (frame, L::SHORT) {
            (Some(frame), _) => frame,
            (None, Some(short)) => short.store(&mut self.link, plain),
            (None, None) => unreachable!("a link without short packets has received none"),
        };
        let tree = TreeId::unicast(plain.source).of(plain.protocol);
        self.pending.push_back(Delivery::accepted(buffer, plain.size, tree));
        self.is_busy.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// Notes if the next packet of the network may go the short way again.
    #[inline]
    pub fn note_busy(&self) {
        let is_busy = L::SHORT.is_none()
            || self.ni.settings().preset.retransmits()
            || !self.pending.is_empty()
            || self.failure.is_some()
            || self.systems.waiting != 0
            || !self.gates.are_quiet();
        self.is_busy.store(is_busy, Ordering::Relaxed);
    }
}
