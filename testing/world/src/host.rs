//! The host of an NI: a program reduced to what the protocols see of it.

use std::collections::VecDeque;
use std::hash::{Hash, Hasher};
use weft_protocol::Delivery;
use weft_protocol::invariants::{UpcallConditions, i6_upcalls_only_when_allowed};

/// One host.
#[derive(Debug)]
pub struct Host {
    /// Send buffers that it may still fill; a send needs one, and the NI gives it back.
    pub(crate) free_send_buffers: usize,
    /// Packets that the NI delivered and no upcall has seen.
    pub(crate) delivered: VecDeque<Delivery<u64>>,
    /// Packets that an upcall has seen and not released.
    pub(crate) kept: Vec<Delivery<u64>>,
    /// True if it waits for a fetch-and-add.
    pub(crate) fetching: bool,
    /// Conditions under which upcalls may run.
    pub(crate) conditions: UpcallConditions,
    upcall_running: bool,
}

/// For a clone of the host's NI.
impl Clone for Host {
    fn clone(&self) -> Self {
        Host {
            delivered: self.delivered.iter().map(Delivery::for_cloned_ni).collect(),
            kept: self.kept.iter().map(Delivery::for_cloned_ni).collect(),
            ..*self
        }
    }
}

/// By what the host may do next: in which order it keeps packets does not matter.
impl Hash for Host {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let Host { free_send_buffers, delivered, kept, fetching, conditions: _, upcall_running } =
            self;
        let mut kept: Vec<&Delivery<u64>> = kept.iter().collect();
        kept.sort_unstable_by_key(|delivery| delivery.buffer);
        (free_send_buffers, delivered, kept, fetching, upcall_running).hash(state);
    }
}

impl Host {
    pub(crate) fn new(send_buffers: usize) -> Self {
        let conditions =
            UpcallConditions { interrupts_enabled: true, polling: false, upcalls_allowed: false };
        Host {
            free_send_buffers: send_buffers,
            delivered: VecDeque::new(),
            kept: Vec::new(),
            fetching: false,
            conditions,
            upcall_running: false,
        }
    }

    /// Packets delivered to this host that no upcall has seen.
    pub fn delivered(&self) -> usize {
        self.delivered.len()
    }

    /// Packets that this host has seen and keeps.
    pub fn kept(&self) -> usize {
        self.kept.len()
    }

    /// True if an upcall may run (thesis 3.1.4).
    pub(crate) fn allows_upcalls(&self) -> bool {
        let UpcallConditions { interrupts_enabled, polling, upcalls_allowed } = self.conditions;
        (interrupts_enabled || polling || upcalls_allowed) && !self.upcall_running
    }

    /// An upcall begins: I6.
    pub(crate) fn begin_upcall(&mut self) {
        i6_upcalls_only_when_allowed(self.conditions, self.upcall_running);
        self.upcall_running = true;
    }

    pub(crate) fn end_upcall(&mut self) {
        self.upcall_running = false;
    }
}
