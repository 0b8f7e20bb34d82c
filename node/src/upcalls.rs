//! Packets in the hands of the client, or of the layer that places them.

use crate::Result;
use crate::any_node::{Arrival, Upcall};
use crate::biased::Entered;
use crate::inner::{BUDGET, Inner};
use crate::node::Node;
use std::sync::atomic::Ordering;
use weft_link::clock::{Clock, Work};
use weft_link::{Buffer, Link};
use weft_protocol::Delivery;
use weft_protocol::invariants::{UpcallConditions, i6_upcalls_only_when_allowed};

impl<L: Link> Node<L> {
    /// Runs the client's function on `delivery`, outside the lock, and takes back what it returns.
    #[inline]
    pub(crate) fn process<'a>(
        &'a self,
        mut inner: Entered<'a, Inner<L>>,
        mut delivery: Delivery<Buffer>,
        mut upcall: Upcall,
    ) -> Entered<'a, Inner<L>> {
        self.in_upcall.store(true, Ordering::Relaxed);
        if L::SEPARATE_NI || delivery.wants_reinjection() {
            inner = self.host_processes(inner, &mut delivery);
        }
        let placed = delivery.tree.is_placed();
        let bytes = inner.link.bytes(delivery.buffer);
        self.leave_looked(inner);
        let mut arrival = Some(Arrival { delivery, bytes });
        upcall(&mut arrival);
        if arrival.is_some() {
            self.clock.charge(Work::Release);
        }
        let mut inner = self.inner.enter();
        self.tell_time(&mut inner);
        inner.client(placed).get_or_insert(upcall);
        self.in_upcall.store(false, Ordering::Relaxed);
        if self.asleep.load(Ordering::Relaxed) > 0 {
            self.wake_passed_over(&inner);
        }
        if let Some(arrival) = arrival {
            inner.release(arrival.delivery);
        }
        inner
    }

    /// Places `found` and what follows it, until it is a packet for the client, or none is left.
    #[inline(never)]
    pub(crate) fn place<'a>(
        &'a self,
        mut inner: Entered<'a, Inner<L>>,
        found: &mut Option<Delivery<Buffer>>,
    ) -> Result<Entered<'a, Inner<L>>> {
        for _ in 0..BUDGET {
            let is_placed = |delivery: &mut Delivery<Buffer>| delivery.tree.is_placed();
            let Some(delivery) = found.take_if(is_placed) else { return Ok(inner) };
            let Some(placer) = inner.placer.take() else {
                inner.pending.push_front(delivery);
                return Ok(inner);
            };
            inner = self.process(inner, delivery, placer);
            self.count_processed(&inner);
            *found = inner.next_delivery()?;
        }
        if let Some(delivery) = found.take() {
            inner.pending.push_front(delivery);
        }
        Ok(inner)
    }

    /// The host processes the packet, and then hands it back to the NI if it is to be forwarded
    /// (thesis 8.3.1).
    #[inline(never)]
    pub(crate) fn host_processes<'a>(
        &'a self,
        mut inner: Entered<'a, Inner<L>>,
        delivery: &mut Delivery<Buffer>,
    ) -> Entered<'a, Inner<L>> {
        let reinjects = delivery.wants_reinjection();
        if L::SEPARATE_NI {
            drop(inner);
            self.clock.charge(Work::Process { bytes: delivery.size });
            if reinjects {
                self.clock.charge(Work::Reinject { bytes: delivery.size });
            }
            inner = self.inner.enter();
            self.tell_time(&mut inner);
        }
        if reinjects {
            inner.reinject(delivery);
        }
        inner
    }

    /// Counts a packet that the host got to. Written inside the lock only; the upcall thread reads it at
    /// any time.
    #[inline]
    pub(crate) fn count_processed(&self, _inside: &Entered<'_, Inner<L>>) {
        let total = self.packets_processed.load(Ordering::Relaxed) + 1;
        self.packets_processed.store(total, Ordering::Relaxed);
    }

    /// I6, where upcalls start. Every upcall starts in a poll, which is the second condition; what
    /// can go wrong here is that one starts inside another.
    #[inline]
    pub(crate) fn assert_upcall_allowed(&self, in_upcall: bool) {
        if cfg!(debug_assertions) {
            let conditions = UpcallConditions {
                interrupts_enabled: !self.interrupts.are_off(),
                polling: true,
                upcalls_allowed: false,
            };
            i6_upcalls_only_when_allowed(conditions, in_upcall);
        }
    }
}
