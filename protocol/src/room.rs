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

use crate::asking::Why;
use crate::planted::Bug;
use crate::timer::Timer;
use crate::{Actions, Body, Ni};
use weft_wire::{Header, Rank, Tag};

impl<B: Copy> Ni<B> {
    /// True if a packet of `from` with this body finds a buffer.
    pub(crate) fn has_buffer(&self, from: Rank, body: &Body<B>) -> bool {
        !matches!(body, Body::Buffer(_)) || self.own_room(from) > 0 || self.shared_room() > 0
    }

    /// A packet of `from` takes the buffer that there is for it.
    pub(crate) fn fill_pool(&mut self, from: Rank, body: &Body<B>) {
        if !matches!(body, Body::Buffer(_)) {
            return;
        }
        let primary = self.settings.primary_buffers();
        let receiving = &mut self.flow(from).receiving;
        receiving.buffered += 1;
        let shared = receiving.buffered > primary;
        self.retransmission.buffers += 1;
        self.retransmission.shared += usize::from(shared);
    }

    /// A buffer that a packet of `from` filled is free: a sender that was refused one is told.
    #[inline(never)]
    pub(crate) fn vacate_pool(&mut self, from: Rank, out: &mut impl Actions<B>) {
        let primary = self.settings.primary_buffers();
        let receiving = &mut self.flow(from).receiving;
        assert!(receiving.buffered > 0, "I4 one owner: a buffer was released twice");
        let shared = receiving.buffered > primary;
        receiving.buffered -= 1;
        self.retransmission.buffers -= 1;
        self.retransmission.shared -= usize::from(shared);
        if self.settings.preset.is_optimistic() {
            self.tell_room(from, out);
            let first = self.retransmission.refused.front().copied();
            if let Some(first) = first.filter(|&first| shared && first != from) {
                self.tell_room(first, out);
            }
        } else if let Some(peer) = self.retransmission.refused.pop_front() {
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
            self.counters.stops += 1;
            self.acknowledge(from, Tag::Nack, Why::Dropped, out);
        } else if header.asks {
            self.acknowledge(from, Tag::Acknowledge, Why::Asked, out);
        }
    }

    /// The room for packets from `to`, as a packet that goes there reports it; see
    /// [`Header::credits`].
    pub(crate) fn room_to_tell(&mut self, to: Rank) -> u16 {
        if !self.settings.preset.is_optimistic() || !self.flow(to).receiving.limited {
            return 0;
        }
        let (room, mark) = (self.room(to), self.room_mark());
        let receiving = &mut self.flow(to).receiving;
        let starved = std::mem::replace(&mut receiving.starved, room == 0);
        receiving.limited = room < mark;
        let (limited, waiting) = (receiving.limited, usize::from(receiving.waiting()));
        match (starved, room) {
            (false, 0) => self.retransmission.refused.push_back(to),
            (true, 1..) => self.retransmission.refused.retain(|&peer| peer != to),
            _ => {}
        }
        if !limited {
            self.counters.resumes += 1;
            return 0;
        }
        u16::try_from(waiting + room + 1).unwrap_or(u16::MAX)
    }

    /// A packet says what room its sender has for packets from here, and which it has accepted.
    /// What that lets through leaves.
    pub(crate) fn hear_room(&mut self, header: &Header, out: &mut impl Actions<B>) {
        let from = header.source;
        let ignored = header.credits > 0 && self.strikes(Bug::IgnoreStop);
        let (now, settings) = (self.now, self.settings);
        let Some(flow) = &mut self.peers[from].flow else { return };
        let sending = &mut flow.sending;
        if header.acknowledgement != sending.oldest() {
            return;
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
        self.peers[from].outgoing.grant(places);
        if self.peers[from].outgoing.blocked() > 0 {
            self.drain_blocked(from, out);
            self.wait_for_room(from);
        }
    }

    /// Packets for `to` may be waiting for room: it is asked for some before long.
    pub(crate) fn wait_for_room(&mut self, to: Rank) {
        let waits = self.peers[to].outgoing.blocked() > 0;
        let (now, settings) = (self.now, self.settings);
        let Some(flow) = &mut self.peers[to].flow else { return };
        if !waits || !settings.preset.is_optimistic() || flow.sending.deadline.is_some() {
            return;
        }
        let deadline = now + flow.sending.doubled_timeout(&settings);
        flow.sending.deadline = Some(deadline);
        self.wake_by(deadline, Timer::Retransmit);
    }

    /// Tells a limited sender of room, if that is worth a packet.
    fn tell_room(&mut self, peer: Rank, out: &mut impl Actions<B>) {
        if !self.flow(peer).receiving.limited {
            return;
        }
        let (room, mark) = (self.room(peer), self.room_mark());
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

    /// Buffers that packets of `from` may fill: its own, and a share of those for all.
    fn room(&self, from: Rank) -> usize {
        if self.has_all_early(from) {
            return 0;
        }
        let shared = self.shared_room();
        let share = shared / (1 + self.retransmission.refused.len());
        self.own_room(from) + share.max(usize::from(shared > 0))
    }

    /// The room from which on a sender may send without limit again.
    fn room_mark(&self) -> usize {
        let senders = usize::from(self.settings.ranks).saturating_sub(1).max(1);
        let share = self.settings.receive_buffers.div_ceil(senders);
        let all = self.settings.primary_buffers() + share;
        (all * usize::from(self.settings.pupa.high_water_percent)).div_ceil(100).max(1)
    }

    fn own_room(&self, from: Rank) -> usize {
        let flow = self.peers.get(from).and_then(|peer| peer.flow.as_ref());
        let buffered = flow.map_or(0, |flow| flow.receiving.buffered);
        self.settings.primary_buffers().saturating_sub(buffered)
    }

    fn shared_room(&self) -> usize {
        self.settings.receive_buffers - self.retransmission.shared
    }
}
