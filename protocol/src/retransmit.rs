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
//! What is the host's comes to it through [`Actions::defer`] and [`Ni::host_received`].

use crate::asking::{Why, tell_acknowledgement};
use crate::early::Early;
use crate::ni::Departure;
use crate::planted::Bug;
use crate::preset::{Acknowledging, Forwarding, Reliability};
use crate::sequence::{EARLY, Flow, SequenceVerdict, Unsent};
use crate::timer::{Nanoseconds, Timer};
use crate::{Actions, Body, Deferred, Delivery, Ni, Violation};
use std::collections::VecDeque;
use weft_wire::{Follows, Header, Rank, Tag};

/// State of retransmission beside the flows of all peers.
#[derive(Debug, Clone, Default, Hash)]
pub(crate) struct Retransmission {
    /// Receive buffers in use.
    pub buffers: usize,
    /// Peers to be told when a buffer is free, the first to be refused first.
    pub refused: VecDeque<Rank>,
    /// Of these buffers, those that all senders share.
    pub shared: usize,
    /// Packets that nobody has acknowledged, to all peers.
    pub unacknowledged: usize,
    /// Send buffers that these take (Pupa 2.1.2).
    pub taken: usize,
    /// Send buffers are short: everybody is asked to acknowledge (Pupa 2.2.1).
    pub short: bool,
    /// Times that the acknowledgement timer ran out since all senders were told.
    pub expirations: u16,
    /// This rank has said farewell.
    pub leaving: bool,
    /// A peer has said that a rank was lost.
    pub told_of_loss: bool,
    /// No timer of any peer runs out before this; they are looked through when it has passed.
    earliest: Option<(Nanoseconds, Timer)>,
}

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

impl<B: Copy> Ni<B> {
    /// A packet from a network that promises nothing, for the level that checks numbers.
    pub(crate) fn received_numbered(
        &mut self,
        header: &Header,
        body: Body<B>,
        buffer: BufferOf,
        out: &mut impl Actions<B>,
    ) -> Result<(), Violation> {
        self.check(header, &body)?;
        let verdict = self.check_numbers(header)?;
        let from = header.source;
        self.hear(from);
        self.take_acknowledgement(header, out);
        match (header.tag, verdict) {
            (Tag::Acknowledge, _) if header.asks => {
                self.acknowledge(from, Tag::Acknowledge, Why::Asked, out);
            }
            (Tag::Acknowledge, _) => {}
            (Tag::Nack, _) => self.missed(header, out),
            (Tag::Lost, _) => self.hear_of_loss(header, out),
            (_, SequenceVerdict::Next)
                if buffer == BufferOf::Link && !self.has_buffer(from, &body)
                    || self.is_too_early(header) =>
            {
                self.refuse(header, body, buffer, out);
            }
            (_, SequenceVerdict::Next) => {
                let outstanding = self.forwards_before_acknowledgement(header);
                self.accept_number(from, outstanding);
                if buffer == BufferOf::Link {
                    self.fill_pool(from, &body);
                }
                let creditor = if buffer == BufferOf::Host { self.local } else { from };
                self.dispatch(header, body, creditor, out);
                match header.asks {
                    true => self.answer(from, out),
                    false => self.acknowledge_soon(from, out),
                }
            }
            _ => self.out_of_sequence(header, verdict, body, buffer, out),
        }
        Ok(())
    }

    /// A packet reaches the NI of a host that retransmits. The host gets all that it must see; the
    /// NI looks at numbers only if it forwards, so that it forwards nothing twice or early.
    pub(crate) fn received_for_host(
        &mut self,
        header: &Header,
        body: Body<B>,
        out: &mut impl Actions<B>,
    ) -> Result<(), Violation> {
        let mut deferred = Deferred::raw(*header, body);
        if !self.has_buffer(header.source, &body) {
            self.refuse(header, body, BufferOf::Link, out);
            return Ok(());
        }
        if self.forwarding() == Forwarding::Ni && is_numbered(header.tag) {
            self.check(header, &body)?;
            let verdict = self.check_numbers(header)?;
            if verdict != SequenceVerdict::Next {
                self.out_of_sequence(header, verdict, body, BufferOf::Link, out);
                tell_acknowledgement(header, out);
                return Ok(());
            }
            if let (Tag::Mcast, Body::Buffer(buffer)) = (header.tag, body)
                && self.is_early(header.tree)
            {
                self.received_early(header, buffer, out);
                return Ok(());
            }
            // One thing more than its forwards: the host.
            let outstanding = self.forwards_before_acknowledgement(header) + 1;
            self.accept_number(header.source, outstanding);
            deferred.numbered = true;
            self.fill_pool(header.source, &body);
            if let (Tag::Mcast, Body::Buffer(buffer)) = (header.tag, body) {
                deferred.holders = self.forward_received(header, buffer, out);
            }
        } else {
            self.fill_pool(header.source, &body);
        }
        out.defer(deferred);
        Ok(())
    }

    /// The next packet of its sender, and early: its host gets it once the NI can forward it.
    fn received_early(&mut self, header: &Header, buffer: B, out: &mut impl Actions<B>) {
        let (from, body) = (header.source, Body::Buffer(buffer));
        tell_acknowledgement(header, out);
        if self.is_too_early(header) {
            return self.refuse(header, body, BufferOf::Link, out);
        }
        self.accept_number(from, EARLY);
        self.fill_pool(from, &body);
        self.keep_early(Early { header: *header, buffer, creditor: from, for_host: true });
        self.acknowledge_soon(from, out);
    }

    /// The host has taken a deferred packet out of the NI's buffer into `copy`, one of its own; as
    /// [`Ni::copied`] for those that were delivered. A packet without a buffer needs no copy.
    pub fn copied_deferred(
        &mut self,
        deferred: Deferred<B>,
        copy: B,
        out: &mut impl Actions<B>,
    ) -> Deferred<B> {
        let Deferred { header, body: Body::Buffer(buffer), holders, .. } = deferred else {
            return deferred;
        };
        match holders {
            Some(key) => self.drop_holder(key, out),
            None => {
                out.free(buffer);
                self.vacate_pool(header.source, out);
            }
        }
        Deferred { body: Body::Buffer(copy), holders: None, copied: true, ..deferred }
    }

    /// The host gets to a packet that was left to it ([`Actions::defer`]).
    ///
    /// # Errors
    /// Those of [`Self::received`]; the caller still owns the body.
    pub fn host_received(
        &mut self,
        deferred: Deferred<B>,
        out: &mut impl Actions<B>,
    ) -> Result<(), Violation> {
        let Deferred { header, body, numbered, holders, copied } = deferred;
        if self.is_foreign(header.source) {
            return Err(Violation::Source(header.source));
        }
        let from = header.source;
        let buffer = if copied { BufferOf::Host } else { BufferOf::Pool };
        if !numbered {
            let received = self.received_numbered(&header, body, buffer, out);
            if received.is_err() {
                self.vacate_if_pooled(from, &body, buffer, out);
            }
            return received;
        }
        // When the NI looked, an answer before this one may have been on its way to the host.
        self.check_fetch_add(&header)?;
        let creditor = if copied { self.local } else { from };
        self.hear(from);
        self.take_acknowledgement(&header, out);
        self.satisfy(from, header.sequence, out);
        match (header.tag, body) {
            (Tag::Ucast | Tag::Mcast, Body::Buffer(buffer)) => {
                self.counters.packets_delivered += 1;
                self.count_received(&header);
                out.deliver(Delivery::received(buffer, &header, creditor, holders));
            }
            _ => self.dispatch(&header, body, creditor, out),
        }
        Ok(())
    }

    /// Gives a packet its number and sends it; it stays here until it is acknowledged.
    #[inline(never)]
    pub(crate) fn depart_numbered(
        &mut self,
        to: Rank,
        mut header: Header,
        departure: Departure<B>,
        out: &mut impl Actions<B>,
    ) {
        let now = self.now;
        self.count_sent(to, &departure);
        let off = u32::from(self.strikes(Bug::NumberOffByOne));
        let tells = self.flow(to).receiving.unacknowledged() > 0;
        self.counters.acknowledgements_piggybacked += u64::from(tells);
        self.piggyback(to, &mut header);
        let (tag, body, holders) = (departure.tag, departure.body, departure.holders);
        let taken = self.taken_by(&departure);
        let sending = &mut self.flow(to).sending;
        header.follows = if sending.len() == 0 { Follows::Taken } else { Follows::Earlier };
        let number = sending.number(departure);
        sending.round_trip.left(number, now);
        header.sequence = number.wrapping_add(off);
        // Who says farewell waits for nothing else.
        header.asks = self.asks(to, taken, out) || tag == Tag::Farewell;
        let Ni { peers, settings, .. } = self;
        let sending = &mut peers.flow(to).sending;
        let deadline = sending.deadline.unwrap_or_else(|| now + sending.timeout(settings));
        sending.deadline = Some(deadline);
        self.wake_by(deadline, Timer::Retransmit);
        out.transmit(to, &header, &body);
        if let Some(key) = holders {
            self.forwarded(key, out);
        }
    }

    /// Runs out the timers of all peers that are due.
    pub(crate) fn run_out(&mut self, out: &mut impl Actions<B>) {
        if self.retransmission.earliest.is_none_or(|(earliest, _)| earliest > self.now) {
            return;
        }
        let now = self.now;
        let is_due = |deadline: Option<Nanoseconds>| deadline.is_some_and(|at| at <= now);
        let flows = self.peers.iter().filter_map(|(rank, peer)| Some((rank, peer.flow.as_ref()?)));
        let due: Vec<(Rank, bool, bool)> = flows
            .map(|(rank, flow)| {
                (rank, is_due(flow.sending.deadline), is_due(flow.receiving.deadline))
            })
            .filter(|&(_, sending, receiving)| sending || receiving)
            .collect();
        let mut expired = false;
        for (peer, resend, acknowledge) in due {
            let sends = resend && !self.came_late(peer);
            if sends && self.flow(peer).sending.len() > 0 && out.is_under_way(peer) {
                self.counters.time_outs_on_link += 1;
                self.wait_again(peer);
            } else if sends {
                self.send_once_more(peer, |ni| {
                    if ni.is_gone(peer) {
                        ni.forget(peer, out);
                    } else if ni.settings.preset.is_optimistic() {
                        ni.time_out(peer, out);
                    } else {
                        ni.retransmit(peer, None, out);
                    }
                });
            }
            // The packets sent again may have taken it along.
            if acknowledge && is_due(self.flow(peer).receiving.deadline) {
                self.acknowledge(peer, Tag::Acknowledge, Why::Late, out);
                expired = true;
            }
        }
        if expired {
            self.count_expiration(out);
        }
        self.listen(out);
        self.retransmission.earliest = self.earliest_of_all();
    }

    /// True if packets to `peer` have waited for too long because this NI was told the time late,
    /// and the peer's acknowledgement may be as late: two programs that compute after they have
    /// talked are both away. It is counted as a time-out in which nothing is sent again, so the
    /// next one, which comes soon, is none.
    fn came_late(&mut self, peer: Rank) -> bool {
        let (now, late) = (self.now, self.settings.retransmit_after);
        let sending = &mut self.flow(peer).sending;
        let is_late = sending.deadline.is_some_and(|deadline| deadline + late <= now);
        let is_spared = is_late && sending.attempts == 0 && sending.len() > 0;
        if is_spared {
            self.wait_again(peer);
            self.flow(peer).sending.attempts = 1;
        }
        is_spared
    }

    fn earliest_of_all(&self) -> Option<(Nanoseconds, Timer)> {
        let silence = self.settings.silence;
        let flows = self.peers.iter().filter_map(|(_, peer)| peer.flow.as_ref());
        let deadlines = flows.flat_map(|flow| {
            let Flow { sending, receiving, hearing } = &**flow;
            let resend = sending.deadline.map(|at| (at, Timer::Retransmit));
            let look = silence.and_then(|silence| hearing.deadline(silence));
            let look = look.map(|at| (at, Timer::Silence));
            [resend, receiving.deadline.map(|at| (at, Timer::Acknowledge)), look]
        });
        deadlines.flatten().min()
    }

    /// The first point in time at which a timer may run out, and which.
    pub(crate) fn earliest_timer(&self) -> Option<(Nanoseconds, Timer)> {
        self.retransmission.earliest
    }

    /// Packets, to whomever, that nobody has acknowledged.
    pub(crate) fn unacknowledged(&self) -> usize {
        self.retransmission.unacknowledged
    }

    /// Numbers that no sender and no receiver of a correct pair uses.
    fn check_numbers(&mut self, header: &Header) -> Result<SequenceVerdict, Violation> {
        let (from, window) = (header.source, self.settings.unacknowledged());
        let Flow { sending, receiving, .. } = self.flow(from);
        if sending.acknowledged(header.acknowledgement) == Err(Unsent) {
            return Err(Violation::Acknowledgement(from, header.acknowledgement));
        }
        if !is_numbered(header.tag) {
            return Ok(SequenceVerdict::Next);
        }
        match receiving.verdict(header.sequence, window) {
            SequenceVerdict::Impossible => Err(Violation::Sequence(from, header.sequence)),
            SequenceVerdict::Next => self.check_fetch_add(header).map(|()| SequenceVerdict::Next),
            verdict => Ok(verdict),
        }
    }

    /// A fetch-and-add, once it is its turn: an answer must have been asked for, and who asks must
    /// have had the answer to what it asked before. Else answers would pile up (invariant I9).
    fn check_fetch_add(&self, header: &Header) -> Result<(), Violation> {
        let from = header.source;
        let unanswered = |departure: &Departure<B>| departure.tag == Tag::FaReply;
        match header.tag {
            Tag::FaReply if !self.fetching.asked(from) => Err(Violation::Unasked(from)),
            Tag::FaRequest if self.peers[from].outgoing.any_blocked(unanswered) => {
                Err(Violation::Impatient(from))
            }
            _ => Ok(()),
        }
    }

    /// Takes what a packet acknowledges, and lets go what that lets through.
    fn take_acknowledgement(&mut self, header: &Header, out: &mut impl Actions<B>) {
        let (from, next) = (header.source, header.acknowledgement);
        let sending = &self.flow(from).sending;
        let news = sending.acknowledged(next).unwrap_or(0);
        if news > 0 {
            self.counters.acknowledgements_received += 1;
            self.free_acknowledged(from, next, news, out);
        }
        if self.settings.preset.is_optimistic() {
            self.hear_room(header, out);
        } else if news > 0 {
            let given_back = self.peers[from].outgoing.accept(news);
            debug_assert!(given_back.is_ok(), "a place in the window came back twice");
            self.drain_blocked(from, out);
        }
    }

    /// `from` has acknowledged `news` packets more, all before `next`.
    pub(crate) fn free_acknowledged(
        &mut self,
        from: Rank,
        next: u32,
        news: u16,
        out: &mut impl Actions<B>,
    ) {
        let now = self.now;
        self.retransmission.unacknowledged -= usize::from(news);
        let Ni { peers, settings, .. } = self;
        let sending = &mut peers.flow(from).sending;
        sending.round_trip.acknowledged(next, now);
        sending.note_acknowledged(news, settings);
        for _ in 0..news {
            let Some(departure) = self.flow(from).sending.pop() else { break };
            self.retransmission.taken -= self.taken_by(&departure);
            let Departure { holders, body, .. } = departure;
            match (holders, body) {
                (Some(key), _) => self.drop_holder(key, out),
                (None, Body::Buffer(buffer)) => out.free(buffer),
                _ => {}
            }
        }
        self.flow(from).sending.note_popped();
        self.ask_less(from);
        let Ni { peers, settings, .. } = self;
        let sending = &mut peers.flow(from).sending;
        sending.hurry();
        sending.deadline = (sending.len() > 0).then(|| now + sending.timeout(settings));
        if let Some(deadline) = sending.deadline {
            self.wake_by(deadline, Timer::Retransmit);
        }
    }

    /// A NACK has come.
    fn missed(&mut self, header: &Header, out: &mut impl Actions<B>) {
        self.counters.nacks_received += 1;
        if !self.settings.preset.is_optimistic() {
            self.retransmit(header.source, Some(header.sequence), out);
        }
    }

    /// Sends again what `peer` has not acknowledged: all of it on a time-out, and on a NACK what
    /// comes from the number on that the peer expects.
    fn retransmit(&mut self, peer: Rank, expected: Option<u32>, out: &mut impl Actions<B>) {
        if self.flow(peer).sending.len() == 0 {
            return;
        }
        self.wait_again(peer);
        let sending = &mut self.flow(peer).sending;
        sending.attempts = sending.attempts.saturating_add(u8::from(expected.is_none()));
        sending.round_trip.void();
        let again: Vec<_> = sending.again(expected).collect();
        self.counters.retransmissions += again.len() as u64;
        for (number, departure) in again {
            let mut header = Header::new(departure.tag, self.local, departure.tree, departure.size);
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

    /// Number of forwards that must have left before `header`'s packet may be acknowledged.
    fn forwards_before_acknowledgement(&self, header: &Header) -> u16 {
        let forward = self.settings.preset.acknowledging() == Acknowledging::Forward;
        match header.tag {
            Tag::Mcast if self.is_early(header.tree) => EARLY,
            Tag::Mcast if forward => self.children(header.tree),
            _ => 0,
        }
    }

    fn accept_number(&mut self, from: Rank, outstanding: u16) {
        self.flow(from).receiving.accept(outstanding);
    }

    /// Drops a packet for want of a buffer. An NI that retransmits tells the sender once it has
    /// one.
    fn refuse(
        &mut self,
        header: &Header,
        body: Body<B>,
        buffer: BufferOf,
        out: &mut impl Actions<B>,
    ) {
        let from = header.source;
        self.counters.no_buffer += 1;
        self.discard(from, body, buffer, out);
        if self.settings.preset.is_optimistic() {
            return self.stop(header, out);
        }
        let tells = self.reliability() == Reliability::Ni;
        if tells && !std::mem::replace(&mut self.flow(from).receiving.refused, true) {
            self.retransmission.refused.push_back(from);
        }
    }

    fn out_of_sequence(
        &mut self,
        header: &Header,
        verdict: SequenceVerdict,
        body: Body<B>,
        buffer: BufferOf,
        out: &mut impl Actions<B>,
    ) {
        let from = header.source;
        self.counters.out_of_sequence += 1;
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
        body: Body<B>,
        buffer_of: BufferOf,
        out: &mut impl Actions<B>,
    ) {
        if let Body::Buffer(buffer) = body {
            out.free(buffer);
        }
        self.vacate_if_pooled(from, &body, buffer_of, out);
    }

    fn vacate_if_pooled(
        &mut self,
        from: Rank,
        body: &Body<B>,
        buffer_of: BufferOf,
        out: &mut impl Actions<B>,
    ) {
        if buffer_of == BufferOf::Pool && matches!(body, Body::Buffer(_)) {
            self.vacate_pool(from, out);
        }
    }

    pub(crate) fn wake_by(&mut self, deadline: Nanoseconds, why: Timer) {
        let earliest = self.retransmission.earliest.get_or_insert((deadline, why));
        *earliest = (deadline, why).min(*earliest);
    }

    pub(crate) fn flow(&mut self, peer: Rank) -> &mut Flow<B> {
        self.peers.flow(peer)
    }
}

/// True if packets of this kind are numbered, and sent again if lost. The answer to a fetch-and-add
/// is: nobody would ask again. So is a farewell: who missed it would take its sender for lost.
fn is_numbered(tag: Tag) -> bool {
    tag.is_data() || matches!(tag, Tag::FaReply | Tag::Farewell)
}
