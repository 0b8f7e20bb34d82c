//! The systems of a rank, and the packets that wait for them.
//!
//! A system has a function for its packets, or takes them itself; until then they wait in a queue
//! of its own. One that leaves them there does not stop the others ([`crate::ni::backlog`]).

use crate::ni::any_node::{Handler, Upcall};
use crate::ni::backlog::{Backlog, Storage};
use std::collections::VecDeque;
use weft_link::Buffer;
use weft_protocol::Delivery;
use weft_wire::{Protocol, Rank};

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

    /// The systems, a bit each, that have a function and packets that wait for it.
    #[inline]
    pub fn ready(&self) -> u32 {
        self.waiting & self.served
    }

    /// True if packets wait for the system numbered `index`.
    #[inline]
    pub fn has_waiting(&self, index: usize) -> bool {
        self.waiting & (1 << index) != 0
    }

    /// True if no packets wait for any system.
    #[inline]
    pub fn are_quiet(&self) -> bool {
        self.waiting == 0
    }

    /// The packet that has waited longest for the system numbered `index`, and whether its sender,
    /// whose window has so many packets, may be told to go on.
    pub fn take_waiting(&mut self, index: usize, window: u32) -> Option<(Delivery<Buffer>, bool)> {
        let system = self.table.get_mut(index)?;
        let delivery = system.waiting.pop_front();
        if system.waiting.is_empty() {
            self.waiting &= !(1 << index);
        }
        let delivery = delivery?;
        let goes_on = system.backlog.taken(delivery.origin(), window);
        Some((delivery, goes_on))
    }

    /// Place where the next packet from `from` to `protocol` is to wait.
    pub fn storage(
        &mut self,
        protocol: Protocol,
        from: Rank,
        window: u32,
        in_link: u32,
    ) -> Storage {
        self.table[protocol.index()].backlog.stored(from, window, in_link)
    }

    /// Has a packet wait for its system. Says how many do.
    pub fn wait(&mut self, delivery: Delivery<Buffer>) -> usize {
        let protocol = delivery.tree.protocol;
        let system = &mut self.table[protocol.index()];
        system.waiting.push_back(delivery);
        self.waiting |= bit(protocol);
        system.waiting.len()
    }

    /// True if a packet waits that some system's function, or some thread, is to take.
    pub fn has_takeable(&self) -> bool {
        self.waiting & (self.served | self.taken) != 0
    }
}
