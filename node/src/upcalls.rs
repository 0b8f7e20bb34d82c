//! Packets in the hands of the client, or of the layer that places them.

use crate::Result;
use crate::any_node::{AnyNode, Arrival, Placed};
use crate::biased::Entered;
use crate::inner::{BUDGET, Inner};
use crate::node::Node;
use std::sync::atomic::Ordering;
use weft_link::clock::{Clock, Work};
use weft_link::{Buffer, Link};
use weft_protocol::Delivery;
use weft_protocol::invariants::{UpcallConditions, i6_upcalls_only_when_allowed};

impl<L: Link> Node<L> {
    /// Runs `client` on `delivery`, outside the lock, and takes back what it leaves.
    #[inline]
    pub(crate) fn process<'a>(
        &'a self,
        mut inner: Entered<'a, Inner<L>>,
        mut delivery: Delivery<Buffer>,
        client: impl FnOnce(&mut Option<Arrival>),
    ) -> Entered<'a, Inner<L>> {
        self.in_upcall.store(true, Ordering::Relaxed);
        if L::SEPARATE_NI || delivery.wants_reinjection() {
            inner = self.host_processes(inner, &mut delivery);
        }
        let bytes = inner.link.bytes(delivery.buffer);
        self.leave_looked(inner);
        let mut arrival = Some(Arrival { delivery, bytes });
        client(&mut arrival);
        if arrival.is_some() {
            self.clock.charge(Work::Release);
        }
        let mut inner = self.inner.enter();
        self.tell_time(&mut inner);
        self.in_upcall.store(false, Ordering::Relaxed);
        if self.asleep.load(Ordering::Relaxed) > 0 {
            self.wake_passed_over(&inner);
        }
        if let Some(arrival) = arrival {
            inner.release(arrival.delivery);
        }
        self.count_processed(&inner);
        inner
    }

    /// Nobody wants packets yet, but credits are wanted.
    #[cold]
    pub(crate) fn put_off(
        &self,
        mut inner: Entered<'_, Inner<L>>,
        delivery: Delivery<Buffer>,
    ) -> Result<bool> {
        inner.pending.push_front(delivery);
        let drained = inner.drain();
        self.leave(inner);
        drained
    }

    /// What a poll does that has found a packet to be placed.
    #[inline(never)]
    pub(crate) fn poll_placed<'a>(
        &'a self,
        mut inner: Entered<'a, Inner<L>>,
        delivery: Delivery<Buffer>,
    ) -> Result<bool> {
        if let Some(delivery) = self.place_at_once(&mut inner, delivery) {
            let back;
            (inner, back) = self.place_outside(inner, delivery);
            if let Some(delivery) = back {
                return self.put_off(inner, delivery);
            }
        }
        self.leave_poll(inner);
        Ok(true)
    }

    /// Places `delivery` without leaving the lock, or gives it back.
    #[inline(always)]
    fn place_at_once(
        &self,
        inner: &mut Entered<'_, Inner<L>>,
        delivery: Delivery<Buffer>,
    ) -> Option<Delivery<Buffer>> {
        // The host of an NI apart is charged for what it does with each packet, and time passes meanwhile.
        if L::SEPARATE_NI {
            return Some(delivery);
        }
        let bytes = inner.link.bytes(delivery.buffer);
        let arrival = Arrival { delivery, bytes };
        let placer = inner.placer.as_mut();
        match placer.map_or(Placed::Not, |placer| placer.place_at_once(&arrival)) {
            Placed::Done => {}
            Placed::Wake => self.nudge(),
            Placed::Not => return Some(arrival.delivery),
        }
        inner.release(arrival.delivery);
        self.count_processed(inner);
        None
    }

    /// Places `delivery` outside the lock; it comes back if there is no placer.
    #[inline(never)]
    fn place_outside<'a>(
        &'a self,
        mut inner: Entered<'a, Inner<L>>,
        delivery: Delivery<Buffer>,
    ) -> (Entered<'a, Inner<L>>, Option<Delivery<Buffer>>) {
        let Some(mut placer) = inner.placer.take() else { return (inner, Some(delivery)) };
        inner = self.process(inner, delivery, |slot| placer.place(slot));
        inner.placer.get_or_insert(placer);
        (inner, None)
    }

    /// Places `found` and what follows it, until it is a packet for the client, or none is left.
    #[inline(never)]
    pub(crate) fn place_all<'a>(
        &'a self,
        mut inner: Entered<'a, Inner<L>>,
        found: &mut Option<Delivery<Buffer>>,
    ) -> Result<Entered<'a, Inner<L>>> {
        for _ in 0..BUDGET {
            let is_placed = |delivery: &mut Delivery<Buffer>| delivery.tree.is_placed();
            let Some(delivery) = found.take_if(is_placed) else { return Ok(inner) };
            let mut back = self.place_at_once(&mut inner, delivery);
            if let Some(delivery) = back {
                (inner, back) = self.place_outside(inner, delivery);
            }
            if let Some(delivery) = back {
                inner.pending.push_front(delivery);
                return Ok(inner);
            }
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
