//! Acknowledgements on their way out: with whatever goes to their sender anyway, at once, or after
//! a while.

use crate::actions::{Actions, PacketBody};
use crate::base::Base;
use crate::flows::Flows;
use crate::planted::Bug;
use crate::sequence::Flow;
use crate::timer::Timer;
use weft_wire::{Header, Rank, Tag, TreeId};

/// Reason why an acknowledgement goes out in a packet of its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Why {
    /// Half a window is unacknowledged (thesis 8.2.2).
    HalfWindow,
    /// The sender asked.
    Asked,
    /// The timer ran out.
    Late,
    /// The last acknowledgement may be lost.
    Again,
    /// Packets were dropped: a NACK.
    Dropped,
    /// A stopped sender may send.
    Room,
    /// So that the peer hears something.
    Heartbeat,
}

impl<B: Copy> Flows<B> {
    /// Something of `from` may be acknowledged: at once from half a window on, or if it asked, else
    /// by the next packet there, or after a while.
    pub(crate) fn acknowledge_soon(&mut self, from: Rank, out: &mut impl Actions<B>) {
        let half = self.base.settings.window_packets.div_ceil(2);
        let optimistic = self.base.settings.preset.is_optimistic();
        let receiving = &self.flow(from).receiving;
        match receiving.unacknowledged() {
            0 => {}
            _ if receiving.asked => self.acknowledge(from, Tag::Acknowledge, Why::Asked, out),
            unacknowledged if !optimistic && unacknowledged >= half => {
                self.acknowledge(from, Tag::Acknowledge, Why::HalfWindow, out);
            }
            _ => self.acknowledge_later(from),
        }
    }

    pub(crate) fn acknowledge_later(&mut self, from: Rank) {
        let deadline = self.base.now + self.base.settings.acknowledge_after;
        let deadline = *self.flow(from).receiving.deadline.get_or_insert(deadline);
        self.timers.wake_by(deadline, Timer::Acknowledge);
    }

    /// An acknowledgement in a packet of its own, positive or negative.
    pub(crate) fn acknowledge(&mut self, to: Rank, tag: Tag, why: Why, out: &mut impl Actions<B>) {
        let counters = &mut self.base.counters;
        counters.explicit_acknowledgements += u64::from(tag == Tag::Acknowledge);
        match why {
            Why::HalfWindow => {}
            Why::Asked => counters.acknowledgements_asked += 1,
            Why::Late => counters.acknowledgements_late += 1,
            Why::Again => counters.acknowledgements_again += 1,
            Why::Dropped => counters.nacks += 1,
            Why::Room => counters.room_updates += 1,
            Why::Heartbeat => counters.heartbeats += 1,
        }
        let mut header = Header::new(tag, self.base.local, TreeId::unicast(self.base.local), 0);
        self.piggyback(to, &mut header);
        if tag == Tag::Nack || self.base.settings.preset.is_optimistic() {
            header.sequence = self.flow(to).receiving.expected();
        }
        out.transmit(to, &header, &PacketBody::Empty);
    }

    /// Piggybacks on a packet that goes to `peer` now: an acknowledgement of packets from there,
    /// and the room that there is for more.
    pub(crate) fn piggyback(&mut self, peer: Rank, header: &mut Header) {
        let Flows { base, peers, .. } = self;
        let Flow { receiving, hearing, .. } = peers.flow(peer);
        let mistake = mistake(base, receiving.waiting());
        let (now, silence) = (base.now, base.settings.silence);
        header.acknowledgement = receiving.acknowledge().wrapping_add(mistake);
        let (limited, is_first) = (receiving.limited, silence.is_some() && hearing.speak(now));
        header.credits = if limited { self.room_to_tell(peer) } else { 0 };
        if let Some(silence) = silence {
            self.timers.expect(is_first, now, silence.heartbeat_after);
        }
    }
}

/// Number that a planted bug adds to an acknowledgement, while so many packets wait to be
/// acknowledged.
#[inline]
fn mistake(base: &mut Base, waiting: u16) -> u32 {
    if !cfg!(feature = "planted") {
        return 0;
    }
    if waiting > 0 && base.strikes(Bug::AcknowledgeUnforwarded) {
        return waiting.into();
    }
    u32::from(base.strikes(Bug::AcknowledgeEarly))
}
