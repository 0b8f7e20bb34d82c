//! `irx`, `hrx` and what `pupa` shares with them: go-back-N over a network that loses, duplicates
//! and reorders (thesis 8.2.2).
//!
//! The window is that of the careful presets: a credit is a place in it, spent by a packet that
//! leaves and given back by its acknowledgement. Beside it a packet has a number, and its buffer
//! stays the NI's until it is acknowledged, to be sent again from there.
//!
//! | | `irx-*` | `hrx-hmc` | `hrx-imc` |
//! |---|---|---|---|
//! | numbers packets | NI | host | whoever sends: one counter a pair, in the NI |
//! | checks numbers | NI | host | NI, which must not forward a packet twice |
//! | acknowledges, retransmits, runs timers | NI | host | host |
//! | serves fetch-and-add | NI | host | host |
//!
//! What is the host's comes to it through [`Actions::defer`] and [`crate::Ni::host_received`].

use crate::acknowledge::Why;
use crate::actions::{Actions, PacketBody};
use crate::departure::Departure;
use crate::flows::Flows;
use crate::planted::Bug;
use crate::preset::Reliability;
use crate::sequence::{SequenceVerdict, Unsent};
use crate::timer::Timer;
use crate::violation::Violation;
use weft_wire::{Follows, Header, Rank, Tag};

/// The account in which the buffer of a received packet counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum BufferOf {
    /// Nowhere yet: the link has just brought it.
    Link,
    /// In the pool of the NI.
    Pool,
    /// At the host, which has copied it.
    Host,
}

impl<B: Copy> Flows<B> {
    /// Gives a packet its number and sends it; it stays here until it is acknowledged.
    #[inline]
    pub(crate) fn depart(
        &mut self,
        to: Rank,
        mut header: Header,
        departure: Departure<B>,
        out: &mut impl Actions<B>,
    ) {
        let now = self.base.now;
        let off = u32::from(self.base.strikes(Bug::NumberOffByOne));
        let tells = self.flow(to).receiving.unacknowledged() > 0;
        self.base.counters.acknowledgements_piggybacked += u64::from(tells);
        self.piggyback(to, &mut header);
        let (tag, body) = (departure.tag, departure.body);
        let taken = departure.send_buffers(&self.base.settings);
        let sending = &mut self.flow(to).sending;
        header.follows = if sending.len() == 0 { Follows::Taken } else { Follows::Earlier };
        let number = sending.number(departure);
        sending.round_trip.left(number, now);
        header.sequence = number.wrapping_add(off);
        // A rank that says farewell waits for nothing else.
        header.asks = self.asks(to, taken, out) || tag == Tag::Farewell;
        let Flows { peers, base, .. } = self;
        let sending = &mut peers.flow(to).sending;
        let deadline = sending.deadline.unwrap_or_else(|| now + sending.timeout(&base.settings));
        sending.deadline = Some(deadline);
        self.timers.wake_by(deadline, Timer::Retransmit);
        out.transmit(to, &header, &body);
    }

    /// `from` has acknowledged `news` packets more, all before `next`. Each is to be
    /// [taken](Self::take_acknowledged), and then [`Self::go_on_after_acknowledgement`].
    pub(crate) fn note_acknowledged(&mut self, from: Rank, next: u32, news: u16) {
        let Flows { base, peers, send_pool, .. } = self;
        send_pool.note_acknowledged(news);
        let sending = &mut peers.flow(from).sending;
        sending.round_trip.acknowledged(next, base.now);
        sending.note_acknowledged(news, &base.settings);
    }

    /// The oldest packet to `from`, which has acknowledged it.
    pub(crate) fn take_acknowledged(&mut self, from: Rank) -> Option<Departure<B>> {
        let departure = self.flow(from).sending.pop()?;
        self.send_pool.give_back(departure.send_buffers(&self.base.settings));
        Some(departure)
    }

    /// All other state of acknowledged packets is over, and the timer starts anew.
    pub(crate) fn go_on_after_acknowledgement(&mut self, from: Rank) {
        self.flow(from).sending.note_popped();
        self.ask_less(from);
        let Flows { base, peers, timers, .. } = self;
        let sending = &mut peers.flow(from).sending;
        sending.hurry();
        sending.deadline = (sending.len() > 0).then(|| base.now + sending.timeout(&base.settings));
        if let Some(deadline) = sending.deadline {
            timers.wake_by(deadline, Timer::Retransmit);
        }
    }

    /// True if packets to `peer` have waited for too long because this NI was told the time late,
    /// and the peer's acknowledgement may be as late: two programs that compute after they have
    /// talked are both away. It is counted as a time-out in which nothing is sent again, so the
    /// next one, which comes soon, is none.
    pub(crate) fn came_late(&mut self, peer: Rank) -> bool {
        let (now, late) = (self.base.now, self.base.settings.retransmit_after);
        let sending = &mut self.flow(peer).sending;
        let is_late = sending.deadline.is_some_and(|deadline| deadline + late <= now);
        let is_spared = is_late && sending.attempts == 0 && sending.len() > 0;
        if is_spared {
            self.wait_again(peer);
            self.flow(peer).sending.attempts = 1;
        }
        is_spared
    }

    /// True if packets to `peer` are under way still, however long they take: they are waited for,
    /// and nothing is sent again meanwhile.
    pub(crate) fn waits_on_link(&mut self, peer: Rank, out: &mut impl Actions<B>) -> bool {
        let waits = self.flow(peer).sending.len() > 0 && out.is_under_way(peer);
        if waits {
            self.base.counters.time_outs_on_link += 1;
            self.wait_again(peer);
        }
        waits
    }

    /// Checks the numbers of a packet: those that no sender and no receiver of a correct pair uses
    /// are refused.
    pub(crate) fn check_numbers(&mut self, header: &Header) -> Result<SequenceVerdict, Violation> {
        let (from, window) = (header.source, self.base.settings.unacknowledged());
        match self.flow(from).verdict(header, is_numbered(header.tag), window) {
            Err(Unsent) => Err(Violation::Acknowledgement(from, header.acknowledgement)),
            Ok(SequenceVerdict::Impossible) => Err(Violation::Sequence(from, header.sequence)),
            Ok(verdict) => Ok(verdict),
        }
    }

    /// Sends again what `peer` has not acknowledged: all of it on a time-out, and on a NACK what
    /// comes from the number on that the peer expects.
    pub(crate) fn retransmit(
        &mut self,
        peer: Rank,
        expected: Option<u32>,
        out: &mut impl Actions<B>,
    ) {
        if self.flow(peer).sending.len() == 0 {
            return;
        }
        self.wait_again(peer);
        let sending = &mut self.flow(peer).sending;
        sending.attempts = sending.attempts.saturating_add(u8::from(expected.is_none()));
        sending.round_trip.void();
        let again: Vec<_> = sending.again(expected).collect();
        self.base.counters.retransmissions += again.len() as u64;
        for (number, departure) in again {
            let mut header =
                Header::new(departure.tag, self.base.local, departure.tree, departure.size);
            (header.sequence, header.follows) = (number, Follows::Lost);
            self.piggyback(peer, &mut header);
            out.transmit(peer, &header, &departure.body);
        }
    }

    /// One of the things that packet `number` of `from` had to wait for has happened.
    pub(crate) fn satisfy(&mut self, from: Rank, number: u32, out: &mut impl Actions<B>) {
        self.flow(from).receiving.satisfy(number);
        self.acknowledge_soon(from, out);
    }

    /// Drops a packet for want of a buffer. An NI that retransmits tells the sender once it has
    /// one.
    pub(crate) fn refuse(
        &mut self,
        header: &Header,
        body: PacketBody<B>,
        buffer: BufferOf,
        out: &mut impl Actions<B>,
    ) {
        let from = header.source;
        self.base.counters.no_buffer += 1;
        self.discard(from, body, buffer, out);
        if self.base.settings.preset.is_optimistic() {
            return self.stop(header, out);
        }
        let tells = self.base.settings.preset.reliability() == Reliability::Ni;
        if tells && !std::mem::replace(&mut self.flow(from).receiving.refused, true) {
            self.receive_buffers.refused.push_back(from);
        }
    }

    pub(crate) fn out_of_sequence(
        &mut self,
        header: &Header,
        verdict: SequenceVerdict,
        body: PacketBody<B>,
        buffer: BufferOf,
        out: &mut impl Actions<B>,
    ) {
        let from = header.source;
        self.base.counters.out_of_sequence += 1;
        match verdict {
            SequenceVerdict::Duplicate if header.asks => {
                self.acknowledge(from, Tag::Acknowledge, Why::Asked, out);
            }
            // Its acknowledgement may have been lost.
            SequenceVerdict::Duplicate => self.acknowledge_later(from),
            // One before it was lost, most likely: its sender need not wait for the time-out.
            SequenceVerdict::Gap if self.flow(from).receiving.finds_gap() => {
                self.acknowledge(from, Tag::Nack, Why::Dropped, out);
            }
            _ => {}
        }
        self.discard(from, body, buffer, out);
    }

    fn discard(
        &mut self,
        from: Rank,
        body: PacketBody<B>,
        buffer_of: BufferOf,
        out: &mut impl Actions<B>,
    ) {
        if let PacketBody::Buffer(buffer) = body {
            out.free(buffer);
        }
        self.vacate_if_pooled(from, &body, buffer_of, out);
    }

    pub(crate) fn vacate_if_pooled(
        &mut self,
        from: Rank,
        body: &PacketBody<B>,
        buffer_of: BufferOf,
        out: &mut impl Actions<B>,
    ) {
        if buffer_of == BufferOf::Pool && matches!(body, PacketBody::Buffer(_)) {
            self.vacate_pool(from, out);
        }
    }
}

/// True if packets of this kind are numbered, and sent again if lost. The answer to a fetch-and-add
/// is: nobody would ask again. So is a farewell: who missed it would take its sender for lost.
pub(crate) fn is_numbered(tag: Tag) -> bool {
    tag.is_data() || matches!(tag, Tag::FaReply | Tag::Farewell)
}
