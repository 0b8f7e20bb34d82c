//! Packets on their way to the systems that they belong to.
//!
//! The protocol number in a packet's header says whose it is. A system either has a function that
//! is called for each of its packets ([`Upcall`], [`Handler`]), in whatever call found the packet,
//! or it takes its packets itself; until then they wait in a queue of its own. A system that leaves
//! its packets there does not stop the others ([`crate::backlog`]).

use crate::Result;
use crate::any_node::{AnyNode, AtOnce, Destination, Handler, Polled, Taken, Upcall, Verdict};
use crate::arrival::Arrival;
use crate::backlog::{Backlog, HeldBack, Room, Target, i14_bounded_backlog};
use crate::biased::Entered;
use crate::inner::{BUDGET, Inner, Side};
use crate::node::Node;
use std::collections::VecDeque;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use weft_link::bell::Waiter;
use weft_link::clock::{Clock, Work};
use weft_link::{Buffer, Glance, Link, Look, Short};
use weft_protocol::invariants::{UpcallConditions, i6_upcalls_only_when_allowed};
use weft_protocol::{Delivery, Looked};
use weft_wire::{Protocol, Rank, TreeId};

#[derive(Default)]
struct System {
    /// The functions that the system has for its packets, one at most; absent while it runs.
    upcall: Option<Upcall>,
    handler: Option<Box<dyn Handler>>,
    /// Packets that wait for the system, oldest first.
    waiting: VecDeque<Delivery<Buffer>>,
    backlog: Backlog,
}

/// The systems of a rank, by protocol number.
#[derive(Default)]
pub(crate) struct Systems {
    table: [System; Protocol::LIMIT],
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
    fn give_back(&mut self, protocol: Protocol, upcall: Upcall) {
        self.table[protocol.index()].upcall.get_or_insert(upcall);
    }

    /// The systems, a bit each, whose packets wait for them to be taken.
    fn unserved(&self) -> u32 {
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
    fn next_served(&mut self) -> Result<Option<Delivery<Buffer>>> {
        match self.systems.waiting & self.systems.served {
            0 => self.next_delivery(),
            ready => Ok(self.next_waiting(ready.trailing_zeros() as usize)),
        }
    }

    /// The packet that has waited longest for the system numbered `index`.
    fn next_waiting(&mut self, index: usize) -> Option<Delivery<Buffer>> {
        let system = self.systems.table.get_mut(index)?;
        let delivery = system.waiting.pop_front();
        if system.waiting.is_empty() {
            self.systems.waiting &= !(1 << index);
        }
        let delivery = delivery?;
        let (protocol, from) = (delivery.tree.protocol, delivery.origin());
        if system.backlog.took(from, u32::from(self.ni.settings().window_packets)) {
            self.gates.tell(protocol, from, false);
        }
        Some(delivery)
    }

    /// Has a packet wait for its system. If many of its sender do, it is copied out of link memory,
    /// so that the sender has the credit for others; then the sender is told to stop.
    fn wait_for_system(&mut self, mut delivery: Delivery<Buffer>) {
        let (protocol, from) = (delivery.tree.protocol, delivery.origin());
        let window = u32::from(self.ni.settings().window_packets);
        let system = &mut self.systems.table[protocol.index()];
        let room = match from == self.ni.local() {
            true => Room::Link,
            false => system.backlog.stored(from, window),
        };
        if room != Room::Link {
            self.copy_out(&mut delivery);
        }
        if room == Room::LastCopy {
            self.gates.tell(protocol, from, true);
        }
        let system = &mut self.systems.table[protocol.index()];
        system.waiting.push_back(delivery);
        let (packets, ranks) = (system.waiting.len(), usize::from(self.ni.settings().ranks));
        self.systems.waiting |= bit(protocol);
        self.is_busy.store(true, Ordering::Relaxed);
        if from != self.ni.local() {
            i14_bounded_backlog(packets, ranks, window as usize);
        }
    }

    /// Does what notices say that have come. A host that only drains hears them, too.
    #[cold]
    pub fn hear_notices(&mut self) {
        self.has_notice = false;
        let is_notice = |delivery: &Delivery<Buffer>| delivery.tree.protocol == Protocol::ENDPOINT;
        while let Some(at) = self.pending.iter().position(is_notice) {
            if let Some(notice) = self.pending.remove(at) {
                self.hear_notice(notice);
            }
        }
    }

    /// The length of a notice is all that it says: a node writes into no frame.
    fn hear_notice(&mut self, notice: Delivery<Buffer>) {
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

    /// Keeps a packet whose receiver takes none of its system; false if there is no reason to.
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
    fn send_notices(&mut self) {
        while let Some((protocol, to, stop)) = self.gates.next_notice() {
            let Some(frame) = self.link.alloc() else {
                return self.gates.put_off((protocol, to, stop));
            };
            self.held += 1;
            self.unicast(Protocol::ENDPOINT, to, frame, encode_notice(protocol, stop));
        }
    }

    /// Copies a packet that waits out of link memory.
    #[cold]
    fn copy_out(&mut self, delivery: &mut Delivery<Buffer>) {
        if L::SEPARATE_NI {
            // It is a copy of the host's own already, in one of few buffers.
            delivery.buffer = self.link.detach(delivery.buffer, delivery.size);
            return self.apart.made_room(&mut self.link);
        }
        let mut bytes = vec![0; usize::from(delivery.size)].into_boxed_slice();
        self.link.copy_out(delivery.buffer, &mut bytes);
        let copy = Delivery::copied(self.copies.insert(bytes), delivery, self.ni.local());
        let original = std::mem::replace(delivery, copy);
        self.release(original);
    }

    /// Accepts a short packet; true if `look` is done with it. `None` if its sender broke the
    /// protocol, which is this rank's failure then.
    #[inline(always)]
    fn accept_short(&mut self, short: &Short, look: impl FnOnce() -> bool) -> Option<bool> {
        let Short { source, size, credits, .. } = *short;
        match self.ni.received_short(source, size, credits, look) {
            Ok(looked) => {
                if looked.is_unsettled {
                    self.settle(source, looked);
                }
                Some(looked.is_done)
            }
            Err(violation) => {
                self.fail_with(violation.into());
                None
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn settle(&mut self, source: Rank, looked: Looked) {
        let (ni, mut out) = self.split(Side::Host);
        ni.settle(source, looked, &mut out);
    }

    /// Has a short packet go the long way.
    #[cold]
    fn put_off_short(&mut self, short: &Short) -> Result<()> {
        if self.accept_short(short, || false).is_none() {
            return self.check_failure();
        }
        let buffer = self.link.store_short(&short.words);
        let tree = TreeId::unicast(short.source).of(short.protocol);
        self.pending.push_back(Delivery::accepted(buffer, short.size, tree));
        self.is_busy.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// Notes whether the next packet of the network may go the short way again.
    #[inline]
    fn note_busy(&self) {
        let is_busy = !L::SHORT
            || self.ni.settings().preset.retransmits()
            || !self.pending.is_empty()
            || self.failure.is_some()
            || self.systems.waiting != 0
            || !self.gates.are_quiet();
        self.is_busy.store(is_busy, Ordering::Relaxed);
    }
}

/// Looks at the network, and what is done with what they find.
impl<L: Link> Node<L> {
    /// True if there is nothing to be had from a look, as far as a glance tells.
    #[inline(always)]
    pub(crate) fn is_idle(&self) -> bool {
        L::SHORT && !self.is_busy.load(Ordering::Relaxed) && self.glance.is_idle()
    }

    /// True if the next packet of the network may go the short way.
    #[inline(always)]
    fn is_short_way(&self) -> bool {
        L::SHORT && !self.is_busy.load(Ordering::Relaxed) && !self.in_upcall.load(Ordering::Relaxed)
    }

    /// See [`AnyNode::poll`].
    #[inline(always)]
    pub(crate) fn poll_systems(&self, mut inner: Entered<'_, Inner<L>>) -> Option<Polled> {
        let mut put_off = None;
        if self.is_short_way()
            && let Look::Short(short) = inner.link.look()
        {
            if let Some(upcall) = inner.systems.table[short.protocol.index()].upcall.take() {
                return self.call_short(inner, &short, upcall);
            }
            put_off = Some(short);
        }
        self.note_trouble(self.poll_any(inner, put_off.as_ref()))
    }

    /// Notes why a look failed, for who asks.
    #[inline]
    fn note_trouble<T>(&self, found: Result<T>) -> Option<T> {
        match found {
            Ok(found) => Some(found),
            Err(error) => {
                *self.trouble.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                None
            }
        }
    }

    /// See [`AnyNode::take_unless`].
    #[inline(always)]
    pub(crate) fn take_packet(
        &self,
        mut inner: Entered<'_, Inner<L>>,
        protocol: Protocol,
        at_once: &mut AtOnce<'_>,
        into: &mut Option<Arrival>,
    ) -> Option<Taken> {
        let mut put_off = None;
        if self.is_short_way()
            && let Look::Short(short) = inner.link.look()
        {
            if short.protocol == protocol {
                let bytes = short.bytes();
                let is_done = inner.accept_short(&short, || at_once(short.source, bytes));
                self.count_processed(&inner);
                if let Some(is_done) = is_done {
                    if is_done {
                        return Some(Taken::AtOnce);
                    }
                    self.in_upcall.store(true, Ordering::Relaxed);
                    *into = Some(Arrival::short(&short));
                    return Some(Taken::Held);
                }
            } else {
                put_off = Some(short);
            }
        }
        self.note_trouble(self.take_any(inner, put_off.as_ref(), protocol, at_once, into))
    }

    /// Makes the upcall for a short packet.
    #[inline(always)]
    fn call_short(
        &self,
        mut inner: Entered<'_, Inner<L>>,
        short: &Short,
        mut upcall: Upcall,
    ) -> Option<Polled> {
        if inner.accept_short(short, || false).is_none() {
            inner.systems.give_back(short.protocol, upcall);
            return self.note_trouble(inner.check_failure().map(|()| Polled::Nothing));
        }
        self.assert_upcall_allowed(self.in_upcall.load(Ordering::Relaxed));
        self.in_upcall.store(true, Ordering::Relaxed);
        drop(inner);
        let mut arrival = Some(Arrival::short(short));
        upcall(&mut arrival);
        let mut inner = self.inner.enter();
        self.in_upcall.store(false, Ordering::Relaxed);
        if self.asleep.load(Ordering::Relaxed) > 0 {
            self.wake_passed_over(&inner);
        }
        inner.systems.give_back(short.protocol, upcall);
        if arrival.is_some() {
            inner.release_short(TreeId::unicast(short.source));
        }
        self.count_processed(&inner);
        Some(Polled::Packet)
    }

    #[inline(never)]
    fn poll_any<'a>(
        &'a self,
        mut inner: Entered<'a, Inner<L>>,
        put_off: Option<&Short>,
    ) -> Result<Polled> {
        if let Some(short) = put_off {
            inner.put_off_short(short)?;
        }
        if self.in_upcall.load(Ordering::Acquire) {
            return self.drain_beside_upcall(inner).map(Polled::of);
        }
        inner.send_notices();
        let found = inner.next_served();
        inner.note_busy();
        let Some(delivery) = found? else {
            let others_wait = inner.systems.unserved() != 0;
            self.leave_poll(inner);
            self.check_loss()?;
            return Ok(if others_wait { Polled::OnlyOthersWait } else { Polled::Nothing });
        };
        self.assert_upcall_allowed(self.in_upcall.load(Ordering::Relaxed));
        let inner = self.serve_system(inner, delivery);
        let others_wait = inner.systems.unserved() != 0;
        self.leave_poll(inner);
        Ok(if others_wait { Polled::OthersWait } else { Polled::Packet })
    }

    #[inline(never)]
    fn take_any<'a>(
        &'a self,
        mut inner: Entered<'a, Inner<L>>,
        put_off: Option<&Short>,
        protocol: Protocol,
        at_once: &mut AtOnce<'_>,
        into: &mut Option<Arrival>,
    ) -> Result<Taken> {
        if let Some(short) = put_off {
            inner.put_off_short(short)?;
        }
        if self.in_upcall.load(Ordering::Acquire) {
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
                return self.hand_over(inner, delivery, at_once, into);
            }
            inner = self.serve_system(inner, delivery);
        }
        self.leave_poll(inner);
        self.check_loss().map(|()| Taken::Nothing)
    }

    /// Gives a packet to who takes it.
    fn hand_over<'a>(
        &'a self,
        mut inner: Entered<'a, Inner<L>>,
        mut delivery: Delivery<Buffer>,
        at_once: &mut AtOnce<'_>,
        into: &mut Option<Arrival>,
    ) -> Result<Taken> {
        let is_simple = !L::SEPARATE_NI && !delivery.wants_reinjection();
        if !is_simple {
            self.in_upcall.store(true, Ordering::Relaxed);
            inner = self.host_processes(inner, &mut delivery);
        }
        self.count_processed(&inner);
        let arrival = inner.arrival(delivery);
        if is_simple && arrival.look(|bytes| at_once(arrival.origin(), bytes)) {
            inner.release(arrival.delivery);
            self.leave_poll(inner);
            return Ok(Taken::AtOnce);
        }
        self.in_upcall.store(true, Ordering::Relaxed);
        self.leave_poll(inner);
        *into = Some(arrival);
        Ok(Taken::Held)
    }

    /// A look while a packet is in somebody's hands: the network is drained, and nothing more.
    fn drain_beside_upcall(&self, mut inner: Entered<'_, Inner<L>>) -> Result<bool> {
        self.passed_over.fetch_add(1, Ordering::Relaxed);
        let drained = inner.drain();
        self.leave_poll(inner);
        match drained? {
            true => Ok(true),
            false => self.check_loss().map(|()| false),
        }
    }

    /// Gives a packet to its system, or has it wait for it.
    fn serve_system<'a>(
        &'a self,
        mut inner: Entered<'a, Inner<L>>,
        delivery: Delivery<Buffer>,
    ) -> Entered<'a, Inner<L>> {
        let protocol = delivery.tree.protocol;
        if protocol == Protocol::ENDPOINT {
            inner.hear_notice(delivery);
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
        // The host of an NI apart is charged for what it does with each packet, and time passes meanwhile.
        if !L::SEPARATE_NI && !delivery.wants_reinjection() {
            let arrival = inner.arrival(delivery);
            match handler.inside(&arrival) {
                Verdict::Outside => {
                    inner = self.process(inner, arrival.delivery, |slot| handler.outside(slot));
                }
                verdict => {
                    inner.release(arrival.delivery);
                    self.count_processed(&inner);
                    if verdict == Verdict::Wake {
                        self.nudge();
                    }
                }
            }
        } else {
            inner = self.process(inner, delivery, |slot| handler.outside(slot));
        }
        inner.systems.table[protocol.index()].handler.get_or_insert(handler);
        inner
    }

    /// Runs `client` on `delivery`, outside the lock, and takes back what it leaves.
    #[inline]
    fn process<'a>(
        &'a self,
        mut inner: Entered<'a, Inner<L>>,
        mut delivery: Delivery<Buffer>,
        client: impl FnOnce(&mut Option<Arrival>),
    ) -> Entered<'a, Inner<L>> {
        self.in_upcall.store(true, Ordering::Relaxed);
        if L::SEPARATE_NI || delivery.wants_reinjection() {
            inner = self.host_processes(inner, &mut delivery);
        }
        let mut arrival = Some(inner.arrival(delivery));
        self.leave_looked(inner);
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

    /// The host processes the packet, and then hands it back to the NI if it is to be forwarded
    /// (thesis 8.3.1).
    #[inline(never)]
    fn host_processes<'a>(
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

    /// Tells threads that are outside which systems have packets to take.
    pub(crate) fn publish_waiting(&self, inner: &Inner<L>) {
        self.waiting_protocols.store(inner.systems.unserved(), Ordering::Relaxed);
    }

    /// A packet waits for its system: a thread that sleeps may be the one that takes it.
    fn announce_waiting(&self, inner: &Inner<L>) {
        self.publish_waiting(inner);
        if self.asleep.load(Ordering::Relaxed) > 0 && inner.systems.unserved() != 0 {
            self.bells().ring(Waiter::Host);
        }
    }

    /// The systems, a bit each, whose packets wait for them to be taken.
    #[inline]
    pub(crate) fn unserved(&self) -> u32 {
        match self.waiting_protocols.load(Ordering::Relaxed) {
            0 => 0,
            _ => {
                let inner = self.inner.enter();
                self.publish_waiting(&inner);
                inner.systems.unserved()
            }
        }
    }

    /// Counts a packet that the host got to. Written inside the lock only; the upcall thread reads it at
    /// any time.
    #[inline]
    fn count_processed(&self, _inside: &Entered<'_, Inner<L>>) {
        let total = self.packets_processed.load(Ordering::Relaxed) + 1;
        self.packets_processed.store(total, Ordering::Relaxed);
    }

    /// I6, where upcalls start. Every upcall starts in a poll, which is the second condition; what
    /// can go wrong here is that one starts inside another.
    #[inline]
    fn assert_upcall_allowed(&self, in_upcall: bool) {
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
