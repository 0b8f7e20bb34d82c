//! The short way of a numbered packet from a network: the next one of a pair that talks, with
//! nothing out of the ordinary about it, and room for it. Most packets are such.
//!
//! It does to the pair's state what [`Ni::received_other`] does, with one look at it instead of
//! thirty: a test compares the two ways (`tests/in_order.rs`). Whatever else there may be to do (a
//! gap, an answer that was asked for, room that is told, packets that wait to be sent or sent
//! again) goes the long way.

use crate::sequence::Flow;
use crate::timer::Timer;
use crate::{Actions, Delivery, Ni};
use weft_wire::Header;

impl<B: Copy> Ni<B> {
    /// Receives the data packet for this rank that is in `buffer`, and delivers it. False if it has
    /// to go the long way: then nothing has changed.
    pub(crate) fn received_in_order(
        &mut self,
        header: &Header,
        buffer: B,
        out: &mut impl Actions<B>,
    ) -> bool {
        let (now, settings, from) = (self.now, &self.settings, header.source);
        let is_of_pupa = settings.preset.is_optimistic();
        if !is_of_pupa || !header.tree.is_unicast_of(from) || header.asks || header.credits != 0 {
            return false;
        }
        let (window, primary) = (settings.unacknowledged(), settings.primary_buffers());
        let (hears, acknowledge_at) =
            (settings.silence.is_some(), now + settings.acknowledge_after);
        let Some(peer) = self.peers.get_mut(from) else { return false };
        let Some(Flow { sending, receiving, hearing }) = peer.flow.as_deref_mut() else {
            return false;
        };
        let Some(news) = sending.acknowledged_in_order(header.acknowledgement) else {
            return false;
        };
        let is_plain = receiving.is_next_alone(header.sequence, window, primary)
            && peer.outgoing.blocked() == 0
            && (hearing.has_met() || !hears);
        if !is_plain {
            return false;
        }
        if hears {
            hearing.hear(now);
        }
        receiving.accept_alone();
        let acknowledge_at = *receiving.deadline.get_or_insert(acknowledge_at);
        self.retransmission.buffers += 1;
        if news > 0 {
            self.counters.acknowledgements_received += 1;
            self.free_acknowledged(from, header.acknowledgement, news, out);
        }
        let Ni { peers, settings, .. } = self;
        let sending = &peers.flow(from).sending;
        if header.acknowledgement == sending.oldest() {
            let places = sending.places(sending.window(settings));
            peers[from].outgoing.grant(places);
        }
        self.count_received(header);
        self.counters.packets_delivered += 1;
        out.deliver(Delivery::received(buffer, header, from, None));
        self.wake_by(acknowledge_at, Timer::Acknowledge);
        true
    }
}
