//! Packets from the network on their way to the parts of the NI that they concern.

use crate::actions::{Actions, Delivery, PacketBody};
use crate::multicast::{Early, Multicast};
use crate::preset::Reliability;
use crate::retransmit::BufferOf;
use crate::traffic::Traffic;
use crate::violation::Violation;
use weft_wire::{Header, Rank, Tag, TreeId};

/// Router of arriving packets: to [`Traffic`] with what concerns pairs of ranks, to [`Multicast`]
/// with what concerns groups. Those with numbers go through [`numbered`](crate::numbered) first.
#[derive(Debug, Clone)]
pub(crate) struct Router<B> {
    pub traffic: Traffic<B>,
    pub multicast: Multicast<B>,
    /// Ranks of which a peer has said that they were lost.
    pub told_lost: Vec<Rank>,
}

impl<B: Copy> Router<B> {
    /// See [`Ni::received`](crate::Ni::received) (thesis fig. 4.3, 4.7).
    #[inline]
    pub fn received(
        &mut self,
        header: &Header,
        body: PacketBody<B>,
        out: &mut impl Actions<B>,
    ) -> Result<(), Violation> {
        let from = header.source;
        let traffic = &mut self.traffic;
        if traffic.flows.base.is_foreign(from) {
            return Err(Violation::Source(from));
        }
        match (header.tag, body) {
            // The packet that most packets are, in as few steps as it can be had.
            (Tag::Ucast, PacketBody::Buffer(buffer)) if traffic.is_plain(header) => {
                traffic.accept_credits(header)?;
                traffic.fill(header)?;
                traffic.flows.base.count_received(header);
                traffic.flows.base.counters.packets_delivered += 1;
                out.deliver(Delivery::received(buffer, header, from, None));
                traffic.handle_credits(header, out);
                Ok(())
            }
            (Tag::Ucast, PacketBody::Buffer(buffer))
                if traffic.received_in_order(header, buffer, out) =>
            {
                Ok(())
            }
            _ => self.received_other(header, body, out),
        }
    }

    #[inline(never)]
    pub fn received_other(
        &mut self,
        header: &Header,
        body: PacketBody<B>,
        out: &mut impl Actions<B>,
    ) -> Result<(), Violation> {
        if self.traffic.is_buried(header.source) {
            if let PacketBody::Buffer(buffer) = body {
                out.free(buffer);
            }
            return Ok(());
        }
        let flows = &self.traffic.flows;
        match flows.base.settings.preset.reliability() {
            Reliability::Careful => self.received_carefully(header, body, out),
            _ if !flows.peers.is_numbered(header.source) => {
                self.received_carefully(header, body, out)
            }
            Reliability::Ni => self.received_numbered(header, body, BufferOf::Link, out),
            Reliability::Host => self.received_for_host(header, body, out),
        }
    }

    /// A packet from a network that loses nothing.
    fn received_carefully(
        &mut self,
        header: &Header,
        body: PacketBody<B>,
        out: &mut impl Actions<B>,
    ) -> Result<(), Violation> {
        self.check(header, &body)?;
        let traffic = &mut self.traffic;
        traffic.check_channel(header)?;
        if matches!(header.tag, Tag::Recall | Tag::Return) {
            return traffic.windows.share_out(header, &mut traffic.flows, out);
        }
        traffic.accept_credits(header)?;
        if header.tag.is_data() {
            match header.channel.0 {
                Some(owner) => traffic.recoveries.join(owner, header.source, header.tree),
                None => traffic.fill(header)?,
            }
        }
        self.dispatch(header, body, header.source, out);
        let traffic = &mut self.traffic;
        traffic.handle_credits(header, out);
        if header.asks {
            traffic.windows.grant_credits(header.source, &mut traffic.flows, out);
        }
        Ok(())
    }

    /// Refuses what no correct peer sends, whatever the credits.
    pub fn check(&self, header: &Header, body: &PacketBody<B>) -> Result<(), Violation> {
        let from = header.source;
        let right_body = matches!(
            (header.tag, body),
            (Tag::Ucast | Tag::Mcast, PacketBody::Buffer(_))
                | (Tag::FaRequest, PacketBody::Atomic { .. } | PacketBody::Unknown(_))
                | (Tag::FaReply, PacketBody::Fetched(_))
                | (Tag::Credit | Tag::ChannelClear, PacketBody::Empty)
                | (Tag::Acknowledge | Tag::Nack | Tag::Farewell, PacketBody::Empty)
                | (Tag::Recall | Tag::Return | Tag::Lost, PacketBody::Empty)
        );
        if !right_body {
            return Err(Violation::Body(from, header.tag));
        }
        let Traffic { flows, windows, atomics, .. } = &self.traffic;
        let numbered = flows.peers.is_numbered(from);
        match header.tag {
            Tag::Ucast if !header.tree.is_unicast_of(from) => {
                return Err(Violation::Tree(from, header.tree));
            }
            Tag::FaRequest if header.tree != TreeId::unicast(from) => {
                return Err(Violation::Tree(from, header.tree));
            }
            Tag::Mcast => self.multicast.check(header, flows)?,
            Tag::FaRequest => check_operation(header, body)?,
            // Where packets come twice, the number tells first whether this one counts.
            Tag::FaReply if !numbered && !atomics.has_asked(from) => {
                return Err(Violation::Unasked(from));
            }
            Tag::ChannelClear | Tag::Credit if numbered => {
                return Err(Violation::Unsupported(from, header.tag));
            }
            Tag::Acknowledge | Tag::Nack | Tag::Farewell | Tag::Lost if !numbered => {
                return Err(Violation::Unsupported(from, header.tag));
            }
            Tag::Lost if !flows.base.is_told_of(header.tree) => {
                return Err(Violation::Tree(from, header.tree));
            }
            Tag::Recall | Tag::Return if !windows.are_adaptive() => {
                return Err(Violation::Unsupported(from, header.tag));
            }
            _ => {}
        }
        Ok(())
    }

    /// Does with a packet that was accepted what its kind asks for. Its buffer is owed to
    /// `creditor`, which is this rank itself if to nobody.
    pub fn dispatch(
        &mut self,
        header: &Header,
        body: PacketBody<B>,
        creditor: Rank,
        out: &mut impl Actions<B>,
    ) {
        let Router { traffic, multicast, .. } = self;
        traffic.flows.base.count_received(header);
        match (header.tag, body) {
            (Tag::Ucast, PacketBody::Buffer(buffer)) => {
                traffic.flows.base.counters.packets_delivered += 1;
                out.deliver(Delivery::received(buffer, header, creditor, None));
            }
            (Tag::Mcast, PacketBody::Buffer(buffer)) if multicast.is_early(header.tree) => {
                let early = Early { header: *header, buffer, creditor, for_host: false };
                multicast.keep_early(early, &mut traffic.flows);
            }
            (Tag::Mcast, PacketBody::Buffer(buffer)) => {
                multicast.received(header, buffer, creditor, traffic, out);
            }
            (_, PacketBody::Atomic { variable, operation }) => {
                traffic.serve_atomic(header, variable, operation, out);
            }
            (Tag::ChannelClear, _) => {
                if let Some(owner) = header.channel.0 {
                    traffic.child_is_clear(owner, header.source, out);
                }
            }
            (Tag::Farewell, _) => traffic.bid_farewell(header.source, out),
            (_, PacketBody::Fetched(value)) => {
                traffic.atomics.end();
                out.fetched(value);
            }
            _ => {}
        }
    }
}

/// Checks that a request is for an operation that there is, and has its words.
fn check_operation<B>(header: &Header, body: &PacketBody<B>) -> Result<(), Violation> {
    match body {
        PacketBody::Unknown(first) => Err(Violation::Operation(header.source, *first)),
        PacketBody::Atomic { operation, .. } if operation.size() != header.size => {
            Err(Violation::Body(header.source, header.tag))
        }
        _ => Ok(()),
    }
}
