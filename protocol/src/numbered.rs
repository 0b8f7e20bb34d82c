//! Packets of pairs whose packets have numbers: from the network to the level that checks these,
//! and to the host that has part of the protocol (`hrx`).

use crate::acknowledge::Why;
use crate::actions::{Actions, Deferred, Delivery, PacketBody};
use crate::departure::Departure;
use crate::multicast::Early;
use crate::preset::{Acknowledging, Forwarding};
use crate::retransmit::{BufferOf, is_numbered};
use crate::router::Router;
use crate::sender_controlled::tell_acknowledgement;
use crate::sequence::{EARLY, SequenceVerdict};
use crate::traffic::Traffic;
use crate::violation::Violation;
use weft_wire::{Header, Tag};

impl<B: Copy> Router<B> {
    /// A packet from a network that promises nothing, for the level that checks numbers.
    pub fn received_numbered(
        &mut self,
        header: &Header,
        body: PacketBody<B>,
        buffer: BufferOf,
        out: &mut impl Actions<B>,
    ) -> Result<(), Violation> {
        self.check(header, &body)?;
        let verdict = self.check_numbers(header)?;
        let from = header.source;
        let traffic = &mut self.traffic;
        traffic.flows.hear(from);
        traffic.take_acknowledgement(header, out);
        let flows = &mut traffic.flows;
        match (header.tag, verdict) {
            (Tag::Acknowledge, _) if header.asks => {
                flows.acknowledge(from, Tag::Acknowledge, Why::Asked, out);
            }
            (Tag::Acknowledge, _) => {}
            (Tag::Nack, _) => {
                flows.base.counters.nacks_received += 1;
                if !flows.base.settings.preset.is_optimistic() {
                    flows.retransmit(from, Some(header.sequence), out);
                }
            }
            (Tag::Lost, _) => {
                // The first to say so is believed.
                let lost = header.tree.root;
                if !self.told_lost.contains(&lost) {
                    self.told_lost.push(lost);
                    out.lost(lost, header.sequence);
                }
            }
            (_, SequenceVerdict::Next)
                if buffer == BufferOf::Link && !flows.has_buffer(from, &body)
                    || self.multicast.is_too_early(header, flows) =>
            {
                flows.refuse(header, body, buffer, out);
            }
            (_, SequenceVerdict::Next) => {
                let outstanding = self.forwards_before_acknowledgement(header);
                let flows = &mut self.traffic.flows;
                flows.flow(from).receiving.accept(outstanding);
                if buffer == BufferOf::Link {
                    flows.fill_pool(from, &body);
                }
                let creditor = if buffer == BufferOf::Host { flows.base.local } else { from };
                self.dispatch(header, body, creditor, out);
                let flows = &mut self.traffic.flows;
                match header.asks {
                    true => flows.answer(from, out),
                    false => flows.acknowledge_soon(from, out),
                }
            }
            _ => flows.out_of_sequence(header, verdict, body, buffer, out),
        }
        Ok(())
    }

    /// A packet reaches the NI of a host that retransmits. The host gets all that it must see; the
    /// NI looks at numbers only if it forwards, so that it forwards nothing twice or early.
    pub fn received_for_host(
        &mut self,
        header: &Header,
        body: PacketBody<B>,
        out: &mut impl Actions<B>,
    ) -> Result<(), Violation> {
        let mut deferred = Deferred::raw(*header, body);
        let flows = &mut self.traffic.flows;
        if !flows.has_buffer(header.source, &body) {
            flows.refuse(header, body, BufferOf::Link, out);
            return Ok(());
        }
        if flows.base.settings.preset.forwarding() == Forwarding::Ni && is_numbered(header.tag) {
            self.check(header, &body)?;
            let verdict = self.check_numbers(header)?;
            if verdict != SequenceVerdict::Next {
                let flows = &mut self.traffic.flows;
                flows.out_of_sequence(header, verdict, body, BufferOf::Link, out);
                tell_acknowledgement(header, out);
                return Ok(());
            }
            if let (Tag::Mcast, PacketBody::Buffer(buffer)) = (header.tag, body)
                && self.multicast.is_early(header.tree)
            {
                self.received_early(header, buffer, out);
                return Ok(());
            }
            // One thing more than its forwards: the host.
            let outstanding = self.forwards_before_acknowledgement(header) + 1;
            let Router { traffic, multicast, .. } = self;
            traffic.flows.flow(header.source).receiving.accept(outstanding);
            deferred.numbered = true;
            traffic.flows.fill_pool(header.source, &body);
            if let (Tag::Mcast, PacketBody::Buffer(buffer)) = (header.tag, body) {
                deferred.holders = multicast.forward_received(header, buffer, traffic, out);
            }
        } else {
            flows.fill_pool(header.source, &body);
        }
        out.defer(deferred);
        Ok(())
    }

    /// The next packet of its sender, and early: its host gets it once the NI can forward it.
    fn received_early(&mut self, header: &Header, buffer: B, out: &mut impl Actions<B>) {
        let (from, body) = (header.source, PacketBody::Buffer(buffer));
        tell_acknowledgement(header, out);
        let flows = &mut self.traffic.flows;
        if self.multicast.is_too_early(header, flows) {
            return flows.refuse(header, body, BufferOf::Link, out);
        }
        flows.flow(from).receiving.accept(EARLY);
        flows.fill_pool(from, &body);
        let early = Early { header: *header, buffer, creditor: from, for_host: true };
        self.multicast.keep_early(early, flows);
        flows.acknowledge_soon(from, out);
    }

    /// See [`Ni::host_received`](crate::Ni::host_received).
    pub fn host_received(
        &mut self,
        deferred: Deferred<B>,
        out: &mut impl Actions<B>,
    ) -> Result<(), Violation> {
        let Deferred { header, body, numbered, holders, copied } = deferred;
        if self.traffic.flows.base.is_foreign(header.source) {
            return Err(Violation::Source(header.source));
        }
        let from = header.source;
        let buffer = if copied { BufferOf::Host } else { BufferOf::Pool };
        if !numbered {
            let received = self.received_numbered(&header, body, buffer, out);
            if received.is_err() {
                self.traffic.flows.vacate_if_pooled(from, &body, buffer, out);
            }
            return received;
        }
        // When the NI looked, an answer before this one may have been on its way to the host.
        self.check_turn(&header)?;
        let creditor = if copied { self.traffic.flows.base.local } else { from };
        let traffic = &mut self.traffic;
        traffic.flows.hear(from);
        traffic.take_acknowledgement(&header, out);
        traffic.flows.satisfy(from, header.sequence, out);
        match (header.tag, body) {
            (Tag::Ucast | Tag::Mcast, PacketBody::Buffer(buffer)) => {
                let base = &mut traffic.flows.base;
                base.counters.packets_delivered += 1;
                base.count_received(&header);
                out.deliver(Delivery::received(buffer, &header, creditor, holders));
            }
            _ => self.dispatch(&header, body, creditor, out),
        }
        Ok(())
    }

    /// Number of forwards that must have left before `header`'s packet may be acknowledged.
    fn forwards_before_acknowledgement(&self, header: &Header) -> u16 {
        let forward =
            self.traffic.flows.base.settings.preset.acknowledging() == Acknowledging::Forward;
        match header.tag {
            Tag::Mcast if self.multicast.is_early(header.tree) => EARLY,
            Tag::Mcast if forward => self.multicast.groups.children(header.tree),
            _ => 0,
        }
    }

    /// An atomic operation, once it is its turn: an answer must have been asked for, and who asks
    /// must have had the answer to what it asked before. Else answers would pile up (invariant I9).
    fn check_turn(&self, header: &Header) -> Result<(), Violation> {
        let (from, Traffic { flows, atomics, .. }) = (header.source, &self.traffic);
        let unanswered = |departure: &Departure<B>| departure.tag == Tag::FaReply;
        match header.tag {
            Tag::FaReply if !atomics.has_asked(from) => Err(Violation::Unasked(from)),
            Tag::FaRequest if flows.peers[from].outgoing.any_blocked(unanswered) => {
                Err(Violation::Impatient(from))
            }
            _ => Ok(()),
        }
    }

    /// Checks the numbers of a packet, and of an atomic operation whose turn it is whether it may
    /// come.
    fn check_numbers(&mut self, header: &Header) -> Result<SequenceVerdict, Violation> {
        let verdict = self.traffic.flows.check_numbers(header)?;
        if verdict == SequenceVerdict::Next {
            self.check_turn(header)?;
        }
        Ok(verdict)
    }
}
