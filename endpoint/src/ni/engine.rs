//! The NI half apart from the host: the NI's event loop (thesis 8.1.2), and the host's half of its
//! work. The queues between the two are in [`offloaded`](crate::ni::offloaded).

use crate::Result;
use crate::ni::inner::Inner;
use crate::ni::interface::Interface;
use crate::ni::node::Node;
use crate::ni::offloaded::{PacketCopy, Request, Side};
use std::time::Duration;
use weft_link::bell::Waiter;
use weft_link::clock::{Clock, Nanoseconds};
use weft_link::ni::{NiEvent, NiHalf, SeparateNi};
use weft_link::{Link, Payload};
use weft_wire::atomic::Words;
use weft_wire::{Atomic, Protocol, Tag};

impl<L: Link> Inner<L> {
    /// Processes one event at the NI. True if the host should look.
    fn step(&mut self, event: NiEvent, now: Nanoseconds) -> Result<bool> {
        let seen = (self.offloaded.shown(), self.fetches.fetched, self.deadline_at(Side::Host));
        self.tell_time(now, Side::Ni);
        match event {
            NiEvent::Request => self.serve_request()?,
            NiEvent::Received => drop(self.receive_at(Side::Ni)?),
            NiEvent::Copied => self.finish_copy(now),
            NiEvent::Timeout => {}
        }
        let flushed = self.offloaded.flushing && self.is_flushed();
        self.offloaded.flushing &= !flushed;
        Ok(flushed
            || seen != (self.offloaded.shown(), self.fetches.fetched, self.deadline_at(Side::Host)))
    }

    /// Next deadline of the protocol, if that runs on this side.
    pub fn deadline_at(&self, side: Side) -> Option<Nanoseconds> {
        let is_there = self.ni.settings().preset.runs_at_host() == (side == Side::Host);
        self.ni.next_deadline().filter(|_| is_there).map(|(deadline, _)| deadline)
    }

    fn serve_request(&mut self) -> Result<()> {
        let Some(request) = self.offloaded.next_request() else { return Ok(()) };
        match request {
            Request::Unicast { tree, to, frame, size } => {
                let (ni, mut out) = self.split(Side::Ni);
                ni.unicast(tree, to, frame, size, &mut out);
            }
            Request::Multicast { protocol, group, frame, size } => {
                let (ni, mut out) = self.split(Side::Ni);
                ni.multicast(protocol, group, frame, size, &mut out);
            }
            Request::Atomic { home, variable, operation }
                if home == self.ni.local() && loops_back(&self.link) =>
            {
                self.offloaded.loop_request_back(home, variable, operation, &mut self.link);
            }
            Request::Atomic { home, variable, operation } => {
                let (ni, mut out) = self.split(Side::Ni);
                ni.atomic(home, variable, operation, &mut out);
            }
            Request::Transmit { to, header, payload } => {
                self.link.transmit(to, &header, payload);
            }
            Request::Free(buffer) => {
                self.link.free(buffer);
                self.offloaded.start_copies(&mut self.link);
            }
            Request::BufferFreed => self.offloaded.start_copies(&mut self.link),
            Request::Admit => {
                let (ni, mut out) = self.split(Side::Ni);
                ni.admit_early(&mut out)?;
            }
        }
        Ok(())
    }

    /// Handles a packet of an operation on a variable of this NI's own, which the switch has
    /// returned.
    pub fn receive_looped(&mut self, tag: Tag, words: Words) {
        if tag == Tag::FaReply {
            self.fetches.fetched = Some(words[0]);
            return;
        }
        // What this rank has sent itself is an operation.
        let Ok((variable, operation)) = Atomic::parse(words) else { return };
        let (ni, mut out) = self.split(Side::Ni);
        let local = ni.local();
        ni.atomic(local, variable, operation, &mut out);
        let value = self.fetches.fetched.take().unwrap_or_default();
        self.offloaded.loop_answer_back(local, value, &mut self.link);
    }

    /// Shows the host the packet whose copy, the oldest, is complete.
    fn finish_copy(&mut self, now: Nanoseconds) {
        let Some((what, at_host)) = self.offloaded.next_copied() else { return };
        match (what, at_host) {
            (PacketCopy::Delivery(delivery), Payload::Buffer(copy)) => {
                let (ni, mut out) = self.split(Side::Ni);
                let delivery = ni.copied(delivery, copy, &mut out);
                self.has_notice |= delivery.tree.protocol == Protocol::ENDPOINT;
                self.pending.push_back(delivery);
            }
            (PacketCopy::Deferred(deferred), Payload::Buffer(copy)) => {
                let (ni, mut out) = self.split(Side::Ni);
                let deferred = ni.copied_deferred(deferred, copy, &mut out);
                self.offloaded.deferred.push_back(deferred);
            }
            (PacketCopy::Deferred(deferred), _) => self.offloaded.deferred.push_back(deferred),
            (PacketCopy::Delivery(_), _) => unreachable!("a link copies a buffer into a buffer"),
        }
        self.offloaded.show(now);
    }

    /// Runs the host's protocol on the next packet that was left to it, if there is one.
    pub fn receive_deferred(&mut self) -> Result<bool> {
        self.check_failure()?;
        let Some(deferred) = self.offloaded.deferred.pop_front() else { return Ok(false) };
        self.offloaded.handled += u32::from(!std::mem::take(&mut self.offloaded.accounted));
        let (ni, mut out) = self.split(Side::Host);
        ni.host_received(deferred, &mut out)?;
        Ok(true)
    }

    /// Tells the protocol the time, if it wants to know. Its timers run out on the side that runs
    /// the protocol.
    pub fn tell_time(&mut self, now: Nanoseconds, side: Side) {
        if !self.ni.keeps_time() {
            return;
        }
        let owner = if self.ni.settings().preset.runs_at_host() { Side::Host } else { Side::Ni };
        if L::NI.is_none() || side == owner {
            let (ni, mut out) = self.split(side);
            ni.advance(now, &mut out);
        } else {
            self.ni.tell_time(now);
        }
    }
}

/// True if an operation on a variable of an NI's own goes to the switch and back.
fn loops_back<L: Link>(link: &L) -> bool {
    L::NI.is_some_and(|ni| ni.control_program(link).loops_back)
}

impl<L: Link> Node<L> {
    /// Has the NI, where it is apart, interrupt a host that has not polled for `delay` after an
    /// arrival. Elsewhere a [`crate::WatchThread`] does so.
    pub fn watch(&self, delay: Duration) {
        self.interface().inner.enter().offloaded.watch(delay.as_nanos() as Nanoseconds);
    }

    /// Has the NI make a mistake at its `opportunity`-th opportunity.
    #[cfg(feature = "planted")]
    pub fn plant(&self, bug: weft_protocol::Bug, opportunity: u32) {
        self.interface().inner.enter().ni.plant(bug, opportunity);
    }
}

impl<L: Link> NiHalf for Node<L> {
    fn step(&self, event: NiEvent) {
        let Interface { inner, clock, attendance, .. } = self.interface();
        let mut entered = inner.enter();
        let inner = &mut *entered;
        let host_should_look = inner.step(event, clock.now()).unwrap_or_else(|error| {
            inner.fail_with(error);
            true
        });
        let interrupts_disabled = self.host_status().interrupts_disabled;
        let Inner { offloaded, link, pending, .. } = &mut *inner;
        if offloaded.watch_host(clock.now(), pending.len(), interrupts_disabled) {
            attendance.interrupts.count();
            if let Some(ni) = L::NI {
                ni.interrupt(link);
            }
        }
        let deadline = inner.deadline_at(Side::Ni);
        inner.offloaded.set_timer(deadline, &mut inner.link);
        drop(entered);
        if host_should_look {
            attendance.bells.ring(Waiter::Host);
        }
    }
}
