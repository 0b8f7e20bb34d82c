//! Packets on their way to the systems that they belong to.
//!
//! The protocol number in a packet's header says whose it is. A system either has a function that
//! is called for each of its packets ([`Upcall`], [`Handler`]), in whatever call found the packet,
//! or it takes its packets itself; until then they wait in a queue of its own. A system that leaves
//! its packets there does not stop the others ([`crate::ni::backlog`]). Most packets go a shorter
//! way ([`crate::ni::plain`]).

use crate::biased::Entered;
use crate::ni::any_node::{Handler, Inspect, Polled, Taken, Verdict};
use crate::ni::arrival::Arrival;
use crate::ni::inner::{BUDGET, Inner};
use crate::ni::interface::Interface;
use crate::{Error, Result};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use weft_link::bell::Waiter;
use weft_link::clock::{Clock, Work};
use weft_link::{Buffer, Link, ShortPackets};
use weft_protocol::Delivery;
use weft_protocol::invariants::{UpcallConditions, i6_upcalls_only_when_allowed};
use weft_wire::Protocol;

/// Dispatcher of the packets that polls find.
pub(crate) struct Dispatcher<L: Link> {
    pub interface: Interface<L>,
    /// See [`Inner::is_busy`].
    pub is_busy: Arc<AtomicBool>,
    pub glance: Arc<<L::Short as ShortPackets<L>>::Glance>,
    /// Systems whose packets wait to be taken, a bit each. A hint: written inside the lock.
    waiting_protocols: AtomicU32,
    packets_processed: AtomicU64,
    /// Error for which a poll failed last.
    trouble: Mutex<Option<Error>>,
}

impl<L: Link> Dispatcher<L> {
    /// The dispatcher behind this interface, of whose link `glance` tells without entering.
    pub fn new(
        interface: Interface<L>,
        glance: Arc<<L::Short as ShortPackets<L>>::Glance>,
    ) -> Self {
        let is_busy = Arc::clone(&interface.inner.enter().is_busy);
        Dispatcher {
            interface,
            is_busy,
            glance,
            waiting_protocols: AtomicU32::new(0),
            packets_processed: AtomicU64::new(0),
            trouble: Mutex::new(None),
        }
    }

    /// The error of the poll that failed last.
    #[cold]
    pub(crate) fn trouble(&self) -> Error {
        let trouble = self.trouble.lock().unwrap_or_else(PoisonError::into_inner);
        trouble.clone().unwrap_or_else(|| unreachable!("only who was told that a look failed asks"))
    }

    /// Packets that the host has processed.
    pub(crate) fn packets_processed(&self) -> u64 {
        self.packets_processed.load(Ordering::Relaxed)
    }

    /// Marks the packet that was taken last as sorted.
    #[inline]
    pub(crate) fn end_taking(&self) {
        if self.interface.attendance.sleepers.end_upcall_outside() {
            self.interface.wake_skipped(&self.interface.inner.enter());
        }
    }

    /// Gives a packet back.
    #[inline]
    pub(crate) fn give_back(&self, arrival: Arrival) {
        self.interface.clock.charge(Work::Release);
        let mut inner = self.interface.inner.enter();
        if L::NI.is_some() {
            self.interface.tell_time(&mut inner);
        }
        // Elsewhere the time of the last look will do: an acknowledgement may be due earlier, by as
        // much as the program held the packet.
        inner.release(arrival.delivery);
        self.interface.exit_after_release(inner);
    }

    /// Notes the error of a failed poll, for [`Inbound::trouble`].
    pub(crate) fn note_trouble<T>(&self, found: Result<T>) -> Option<T> {
        found.map_err(|error| self.set_trouble(error)).ok()
    }

    #[cold]
    #[inline(never)]
    fn set_trouble(&self, error: Error) {
        *self.trouble.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
    }

    #[inline(never)]
    pub(crate) fn poll_any(&self, inner: Entered<'_, Inner<L>>) -> Option<Polled> {
        self.note_trouble(self.poll_pending(inner))
    }

    #[inline(always)]
    fn poll_pending<'a>(&'a self, mut inner: Entered<'a, Inner<L>>) -> Result<Polled> {
        if self.interface.attendance.sleepers.is_in_upcall() {
            return self.drain_beside_upcall(inner).map(Polled::of);
        }
        inner.send_notices();
        let found = inner.next_served();
        inner.note_busy();
        let Some(delivery) = found? else {
            let others_wait = inner.systems.unserved() != 0;
            self.interface.exit_after_poll(inner, false);
            self.interface.check_loss()?;
            return Ok(if others_wait { Polled::OnlyOthersWait } else { Polled::Nothing });
        };
        let inner = self.serve_system(inner, delivery);
        let others_wait = inner.systems.unserved() != 0;
        self.interface.exit_after_poll(inner, true);
        Ok(if others_wait { Polled::OthersWait } else { Polled::Packet })
    }

    #[inline(never)]
    pub(crate) fn take_any(
        &self,
        inner: Entered<'_, Inner<L>>,
        protocol: Protocol,
        inspector: &mut dyn Inspect,
        into: &mut Option<Arrival>,
    ) -> Option<Taken> {
        self.note_trouble(self.take_pending(inner, protocol, inspector, into))
    }

    #[inline(always)]
    fn take_pending<'a>(
        &'a self,
        mut inner: Entered<'a, Inner<L>>,
        protocol: Protocol,
        inspector: &mut dyn Inspect,
        into: &mut Option<Arrival>,
    ) -> Result<Taken> {
        if self.interface.attendance.sleepers.is_in_upcall() {
            return self.drain_beside_upcall(inner).map(|_| Taken::Nothing);
        }
        inner.send_notices();
        for _ in 0..BUDGET {
            let own = inner.next_waiting(protocol.index());
            let found = match own {
                None => inner.next_served()?,
                own => own,
            };
            inner.note_busy();
            let Some(delivery) = found else { break };
            if delivery.tree.protocol == protocol {
                return self.hand_over(inner, delivery, inspector, into);
            }
            inner = self.serve_system(inner, delivery);
        }
        self.interface.exit_after_poll(inner, false);
        self.interface.check_loss().map(|()| Taken::Nothing)
    }

    /// Gives a packet to the system that takes it.
    fn hand_over<'a>(
        &'a self,
        mut inner: Entered<'a, Inner<L>>,
        mut delivery: Delivery<Buffer>,
        inspector: &mut dyn Inspect,
        into: &mut Option<Arrival>,
    ) -> Result<Taken> {
        let is_simple = L::NI.is_none() && !delivery.wants_reinjection();
        if !is_simple {
            self.interface.attendance.sleepers.begin_upcall();
            inner = self.host_processes(inner, &mut delivery);
        }
        self.count_processed(&inner);
        let arrival = inner.arrival(delivery);
        if is_simple && arrival.look(|bytes| inspector.inspect(arrival.origin(), bytes)) {
            inner.release(arrival.delivery);
            self.interface.exit_after_poll(inner, true);
            return Ok(Taken::AtOnce);
        }
        self.interface.attendance.sleepers.begin_upcall();
        self.interface.exit_after_poll(inner, true);
        *into = Some(arrival);
        Ok(Taken::Held)
    }

    /// A poll while a packet is in an upcall, or held by its system: the network is drained, and
    /// nothing more.
    fn drain_beside_upcall(&self, mut inner: Entered<'_, Inner<L>>) -> Result<bool> {
        self.interface.attendance.sleepers.skip();
        let drained = inner.drain();
        self.interface.exit_after_poll(inner, matches!(drained, Ok(true)));
        match drained? {
            true => Ok(true),
            false => self.interface.check_loss().map(|()| false),
        }
    }

    /// Gives a packet to its system, or queues it there.
    fn serve_system<'a>(
        &'a self,
        mut inner: Entered<'a, Inner<L>>,
        delivery: Delivery<Buffer>,
    ) -> Entered<'a, Inner<L>> {
        let protocol = delivery.tree.protocol;
        if protocol == Protocol::ENDPOINT {
            inner.handle_notice(delivery);
            self.count_processed(&inner);
            return inner;
        }
        let system = &mut inner.systems.table[protocol.index()];
        if let Some(mut upcall) = system.upcall.take() {
            let mut inner = self.process(inner, delivery, |slot| upcall(slot));
            inner.systems.give_back(protocol, upcall);
            return inner;
        }
        if let Some(handler) = system.handler.take() {
            return self.handle(inner, delivery, handler);
        }
        if delivery.wants_reinjection() {
            return self.reinject_and_wait(inner, delivery);
        }
        inner.wait_for_system(delivery);
        self.announce_waiting(&inner);
        inner
    }

    /// Forwards a packet that waits for its system: others must not wait for it, too.
    #[cold]
    fn reinject_and_wait<'a>(
        &'a self,
        inner: Entered<'a, Inner<L>>,
        mut delivery: Delivery<Buffer>,
    ) -> Entered<'a, Inner<L>> {
        let mut inner = self.host_processes(inner, &mut delivery);
        inner.wait_for_system(delivery);
        self.announce_waiting(&inner);
        inner
    }

    /// Has `handler` look at a packet inside the lock, and then outside if there is more to do.
    fn handle<'a>(
        &'a self,
        mut inner: Entered<'a, Inner<L>>,
        delivery: Delivery<Buffer>,
        mut handler: Box<dyn Handler>,
    ) -> Entered<'a, Inner<L>> {
        let protocol = delivery.tree.protocol;
        // The host of an NI apart is charged for its work on each packet, and time passes
        // meanwhile.
        if L::NI.is_none() && !delivery.wants_reinjection() {
            let arrival = inner.arrival(delivery);
            match handler.inside(&arrival) {
                Verdict::Outside => {
                    inner = self.process(inner, arrival.delivery, |slot| handler.outside(slot));
                }
                verdict => {
                    inner.release(arrival.delivery);
                    self.count_processed(&inner);
                    if verdict == Verdict::Wake {
                        self.interface.attendance.nudge();
                    }
                }
            }
        } else {
            inner = self.process(inner, delivery, |slot| handler.outside(slot));
        }
        inner.systems.table[protocol.index()].handler.get_or_insert(handler);
        inner
    }

    /// Runs `client` on `delivery`, outside the lock, and releases the packet if `client` leaves
    /// it.
    #[inline]
    fn process<'a>(
        &'a self,
        mut inner: Entered<'a, Inner<L>>,
        mut delivery: Delivery<Buffer>,
        client: impl FnOnce(&mut Option<Arrival>),
    ) -> Entered<'a, Inner<L>> {
        self.begin_upcall();
        if L::NI.is_some() || delivery.wants_reinjection() {
            inner = self.host_processes(inner, &mut delivery);
        }
        let mut arrival = Some(inner.arrival(delivery));
        self.call_outside(inner, &mut arrival, client)
    }

    /// Runs `client` on `arrival`, outside the lock, and releases the packet if `client` leaves it.
    #[inline(always)]
    pub(crate) fn call_outside<'a>(
        &'a self,
        inner: Entered<'a, Inner<L>>,
        arrival: &mut Option<Arrival>,
        client: impl FnOnce(&mut Option<Arrival>),
    ) -> Entered<'a, Inner<L>> {
        let upcall = RunningUpcall { dispatcher: self, arrival };
        let mut inner = self.run_outside(inner, || {
            client(upcall.arrival);
            if upcall.arrival.is_some() {
                self.interface.clock.charge(Work::Release);
            }
        });
        upcall.end(&inner);
        if let Some(arrival) = arrival.take() {
            inner.release(arrival.delivery);
        }
        inner
    }

    /// Runs `client` outside the lock. The protocol is told the time afterwards only in simulation,
    /// where it passes by what is done: else the next poll does so, and a clock costs as much as a
    /// packet of few bytes.
    #[inline(always)]
    pub(crate) fn run_outside<'a>(
        &'a self,
        inner: Entered<'a, Inner<L>>,
        client: impl FnOnce(),
    ) -> Entered<'a, Inner<L>> {
        let mut inner = match L::NETWORK.is_some() {
            false => inner.while_outside(client).0,
            true => {
                self.interface.exit_after_look(inner, true);
                client();
                self.interface.inner.enter()
            }
        };
        if L::NI.is_some() {
            self.interface.tell_time(&mut inner);
        }
        inner
    }

    /// Marks the packet as no longer in an upcall.
    #[inline(always)]
    fn end_upcall(&self, inner: &Entered<'_, Inner<L>>) {
        if self.interface.attendance.sleepers.end_upcall() {
            self.interface.wake_skipped(inner);
        }
        self.count_processed(inner);
    }

    /// The host processes the packet, and then hands it back to the NI if it is to be forwarded
    /// (thesis 8.3.1).
    #[inline(never)]
    fn host_processes<'a>(
        &'a self,
        mut inner: Entered<'a, Inner<L>>,
        delivery: &mut Delivery<Buffer>,
    ) -> Entered<'a, Inner<L>> {
        let reinjects = delivery.wants_reinjection();
        if L::NI.is_some() {
            drop(inner);
            self.interface.clock.charge(Work::Process { bytes: delivery.size });
            if reinjects {
                self.interface.clock.charge(Work::Reinject { bytes: delivery.size });
            }
            inner = self.interface.inner.enter();
            self.interface.tell_time(&mut inner);
        }
        if reinjects {
            inner.reinject(delivery);
        }
        inner
    }

    /// Tells threads that are outside which systems have packets to take.
    pub(crate) fn publish_waiting(&self, inner: &Inner<L>) {
        self.waiting_protocols.store(inner.systems.unserved(), Ordering::Relaxed);
    }

    /// Publishes that a packet waits for its system: a thread that sleeps may be the one that takes
    /// it.
    fn announce_waiting(&self, inner: &Inner<L>) {
        self.publish_waiting(inner);
        if self.interface.attendance.sleepers.are_any_inside() && inner.systems.unserved() != 0 {
            self.interface.attendance.bells.ring(Waiter::Host);
        }
    }

    /// The systems, a bit each, whose packets wait for them to be taken.
    #[inline]
    pub(crate) fn unserved(&self) -> u32 {
        match self.waiting_protocols.load(Ordering::Relaxed) {
            0 => 0,
            _ => {
                let inner = self.interface.inner.enter();
                self.publish_waiting(&inner);
                inner.systems.unserved()
            }
        }
    }

    /// Counts a packet that the host got to. Written inside the lock only; the upcall thread reads
    /// it at any time.
    #[inline]
    pub(crate) fn count_processed(&self, _inside: &Entered<'_, Inner<L>>) {
        let total = self.packets_processed.load(Ordering::Relaxed) + 1;
        self.packets_processed.store(total, Ordering::Relaxed);
    }

    /// Marks a packet as in an upcall. I6, where upcalls start: each starts in a poll, which is the
    /// second condition; what can go wrong here is that one starts inside another.
    #[inline]
    pub(crate) fn begin_upcall(&self) {
        let was_in_upcall = self.interface.attendance.sleepers.may_be_in_upcall();
        let conditions =
            UpcallConditions { interrupts_enabled: false, polling: true, upcalls_allowed: false };
        i6_upcalls_only_when_allowed(conditions, was_in_upcall);
        self.interface.attendance.sleepers.begin_upcall();
    }
}

/// An upcall for a packet. One that panics has ended, too: its packet goes back to its sender, and
/// others are taken again by whoever goes on.
pub(crate) struct RunningUpcall<'a, L: Link> {
    pub dispatcher: &'a Dispatcher<L>,
    pub arrival: &'a mut Option<Arrival>,
}

impl<L: Link> RunningUpcall<'_, L> {
    /// Ends it; the caller is inside the lock again.
    #[inline(always)]
    pub fn end(self, inner: &Entered<'_, Inner<L>>) {
        self.dispatcher.end_upcall(inner);
        std::mem::forget(self);
    }
}

impl<L: Link> Drop for RunningUpcall<'_, L> {
    #[cold]
    fn drop(&mut self) {
        self.dispatcher.end_taking();
        if let Some(arrival) = self.arrival.take() {
            self.dispatcher.give_back(arrival);
        }
    }
}
