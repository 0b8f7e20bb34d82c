//! Receive buffers, and optimistic flow control (Pupa 2.1, 2.2.2).
//!
//! Each sender has some *primary* buffers for itself; beyond them its packets fill *secondary*
//! ones, which all senders share. (`irx` and `hrx` have only the latter.) A sender may send as much
//! as it likes until a packet of its finds no buffer:
//!
//! ```text
//!               no buffer: NACK, room for 0              its buffers are free up to the high mark
//!   unlimited ───────────────────────────▶ limited ───────────────────────────────▶ unlimited
//!                                           │   ▲
//!                                           └───┘ every packet to it says how much room there is
//! ```
//! Room is told as a number: the first packet that has no room. So nothing goes wrong if it is told
//! twice, or told late, or lost: the limited sender asks with every packet that it sends, and when
//! its timer runs out.

use crate::acknowledge::Why;
use crate::actions::{Actions, PacketBody};
use crate::flows::Flows;
use crate::planted::Bug;
use crate::receive_buffers::room_mark;
use crate::timer::Timer;
use weft_wire::{Header, Rank, Tag};

impl<B: Copy> Flows<B> {
    /// True if a packet of `from` with this body finds a buffer.
    pub(crate) fn has_buffer(&self, from: Rank, body: &PacketBody<B>) -> bool {
        let receiving = || Some(&self.peers.get(from)?.flow.as_ref()?.receiving);
        !matches!(body, PacketBody::Buffer(_))
            || self.receive_buffers.has_any(receiving(), &self.base.settings)
    }

    /// A packet of `from` takes the buffer that there is for it.
    pub(crate) fn fill_pool(&mut self, from: Rank, body: &PacketBody<B>) {
        if !matches!(body, PacketBody::Buffer(_)) {
            return;
        }
        let Flows { base, peers, receive_buffers, .. } = self;
        receive_buffers.fill(&mut peers.flow(from).receiving, &base.settings);
    }

    /// A buffer that a packet of `from` filled is free: a sender that was refused one is told.
    #[inline(never)]
    pub(crate) fn vacate_pool(&mut self, from: Rank, out: &mut impl Actions<B>) {
        let Flows { base, peers, receive_buffers, .. } = self;
        let shared = receive_buffers.vacate(&mut peers.flow(from).receiving, &base.settings);
        if self.base.settings.preset.is_optimistic() {
            self.tell_room(from, out);
            let first = self.receive_buffers.refused.front().copied();
            if let Some(first) = first.filter(|&first| shared && first != from) {
                self.tell_room(first, out);
            }
        } else if let Some(peer) = self.receive_buffers.refused.pop_front() {
            self.flow(peer).receiving.refused = false;
            self.acknowledge(peer, Tag::Nack, Why::Dropped, out);
        }
    }

    /// Stops `from`, whose next packet found no buffer and is dropped.
    pub(crate) fn stop(&mut self, header: &Header, out: &mut impl Actions<B>) {
        let from = header.source;
        let receiving = &mut self.flow(from).receiving;
        receiving.refused = true;
        let news = receiving.finds_gap() | !std::mem::replace(&mut receiving.limited, true);
        if news {
            self.base.counters.stops += 1;
            self.acknowledge(from, Tag::Nack, Why::Dropped, out);
        } else if header.asks {
            self.acknowledge(from, Tag::Acknowledge, Why::Asked, out);
        }
    }

    /// The room for packets from `to`, as a packet that goes there reports it; see
    /// [`Header::credits`].
    pub(crate) fn room_to_tell(&mut self, to: Rank) -> u16 {
        if !self.base.settings.preset.is_optimistic() || !self.flow(to).receiving.limited {
            return 0;
        }
        let (room, mark) = self.room(to);
        let receiving = &mut self.flow(to).receiving;
        let starved = std::mem::replace(&mut receiving.starved, room == 0);
        receiving.limited = room < mark;
        let (limited, waiting) = (receiving.limited, usize::from(receiving.waiting()));
        match (starved, room) {
            (false, 0) => self.receive_buffers.refused.push_back(to),
            (true, 1..) => self.receive_buffers.refused.retain(|&peer| peer != to),
            _ => {}
        }
        if !limited {
            self.base.counters.resumes += 1;
            return 0;
        }
        u16::try_from(waiting + room + 1).unwrap_or(u16::MAX)
    }

    /// A packet says what room its sender has for packets from here, and which it has accepted.
    /// True if more may leave now: whoever calls this sends what waits, if anything does.
    #[must_use]
    pub(crate) fn hear_room(&mut self, header: &Header, out: &mut impl Actions<B>) -> bool {
        let from = header.source;
        let ignored = header.credits > 0 && self.base.strikes(Bug::IgnoreStop);
        let (now, settings) = (self.base.now, self.base.settings);
        let Some(flow) = &mut self.peers[from].flow else { return false };
        let sending = &mut flow.sending;
        if header.acknowledgement != sending.oldest() {
            return false;
        }
        let first_without = u32::from(header.credits).checked_sub(1);
        let limit = first_without.map(|room| header.acknowledgement.wrapping_add(room));
        sending.limit = limit.filter(|_| !ignored);
        let told = matches!(header.tag, Tag::Acknowledge | Tag::Nack);
        let mut answers = header.tag == Tag::Nack;
        if told {
            answers |= sending.has_accepted(header.sequence, now) | sending.was_answered();
        }
        if header.tag == Tag::Nack {
            sending.misses(header.sequence);
            if header.credits == 0 {
                sending.note_lost(&settings);
            }
        }
        let waits = sending.len() > 0;
        let probing = sending.is_probing(&settings);
        let (places, again) =
            (sending.places(sending.window(&settings)), sending.room_again(&settings));
        // Whoever answers is not to be suspected of silence, whatever is in the answer. But not all
        // that it says is one: while it says no more than that it lives, what it misses may be
        // lost.
        if waits && answers {
            self.wait_again(from);
        }
        if !probing {
            self.send_again(from, again, out);
        }
        let outgoing = &mut self.peers[from].outgoing;
        outgoing.grant(places);
        outgoing.blocked() > 0
    }

    /// Packets for `to` may be waiting for room: it is asked for some before long.
    pub(crate) fn wait_for_room(&mut self, to: Rank) {
        let waits = self.peers[to].outgoing.blocked() > 0;
        let (now, settings) = (self.base.now, self.base.settings);
        let Some(flow) = &mut self.peers[to].flow else { return };
        if !waits || !settings.preset.is_optimistic() || flow.sending.deadline.is_some() {
            return;
        }
        let deadline = now + flow.sending.doubled_timeout(&settings);
        flow.sending.deadline = Some(deadline);
        self.timers.wake_by(deadline, Timer::Retransmit);
    }

    /// Tells a limited sender of room, if that is worth a packet.
    fn tell_room(&mut self, peer: Rank, out: &mut impl Actions<B>) {
        if !self.flow(peer).receiving.limited {
            return;
        }
        let (room, mark) = self.room(peer);
        let receiving = &mut self.flow(peer).receiving;
        let news = receiving.starved && room > 0 || room >= mark;
        if !news {
            return;
        }
        match std::mem::take(&mut receiving.refused) {
            true => self.acknowledge(peer, Tag::Nack, Why::Dropped, out),
            false => self.acknowledge(peer, Tag::Acknowledge, Why::Room, out),
        }
    }

    /// Buffers that packets of `from` may fill, and the number of them from which on it may send
    /// without limit again.
    fn room(&mut self, from: Rank) -> (usize, usize) {
        let Flows { base, peers, receive_buffers, .. } = self;
        let room = receive_buffers.room(&peers.flow(from).receiving, &base.settings);
        (room, room_mark(&base.settings))
    }
}
