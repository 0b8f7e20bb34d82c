//! Packets to other ranks.

use super::{
    Answer, Event, Exchange, Gives, Leaving, Outgoing, Peer, Send, SendKey, Sending, Stored, Until,
    copy,
};
use crate::format::{EAGER, FIRST, MORE, PART, Packet, REGISTERED, Whole, part_head, short_head};
use crate::matching::Envelope;
use crate::network::{Network, Parted, Sink, Source, lies_at};
use crate::peer::EAGER_BYTES;
use crate::{Address, Result};
use slotmap::Key;
use std::num::NonZero;
use std::ops::RangeInclusive;
use weft_endpoint::Rank;

/// Lengths of eager messages that leave in two halves at least: while the receiver copies the first
/// one, the second is under way. Of shorter ones a second packet costs more than that; longer ones
/// are several packets anyway.
const HALVED: RangeInclusive<u64> = 48 * 1024..=96 * 1024;
/// Bytes in the first packet of an eager message whose others are read where they belong, longer
/// than those that leave in halves: its receiver has to know it before they come.
const FIRST_OF_PLACED: usize = 2048;
/// Bytes from which on a part leaves by itself: its receiver copies it while the next is filled.
const LONG_PART: usize = 16 * 1024;
/// Packets of granted messages that leave before the next look at what has arrived.
const PARTS_AT_ONCE: usize = 8;

/// True if an eager message of this length to that rank leaves in several packets.
#[inline]
fn is_parted<N: Network>(network: &N, to: Rank, length: u64) -> bool {
    HALVED.contains(&length) || EAGER + length as usize > network.payload_to(to)
}

impl<S: Source> Peer<S> {
    /// True if a message of these bytes may be sent eagerly, and is not better fetched.
    #[inline]
    fn may_send<B: Source>(&self, source: &B) -> bool {
        self.flow.may_send(source.length()) && !(self.single_copy && lies_at(source).is_some())
    }

    /// True if a message of these bytes may be sent eagerly because it leaves from where they lie.
    fn may_send_in_place<B: Source>(&self, source: &B, message: &Outgoing) -> bool {
        let length = source.length();
        self.in_place
            && !message.wants_done
            && length > EAGER_BYTES
            && self.flow.may_send_in_place(length)
            && source.lies_at().is_some()
    }
}

impl<S: Source, D: Sink> Exchange<S, D> {
    /// Sends a message. Never blocks. `to` is a rank of the job.
    ///
    /// # Errors
    /// Those of the network.
    pub fn send<N: Network>(
        &mut self,
        network: &mut N,
        message: &Outgoing,
        source: S,
    ) -> Result<Sending<S>> {
        if self.send_eagerly(network, message, &source)? {
            return Ok(Sending::Sent(source));
        }
        let (to, length) = (message.to.rank, source.length());
        let envelope = self.envelope(message, length);
        if to == self.rank {
            return Ok(self.send_here(message.to.endpoint, envelope, source));
        }
        if self.has_left(to) {
            return Ok(Sending::Sent(source));
        }
        let peer = &mut self.peers[to.index()];
        if peer.leaving.is_some() {
            return Ok(Sending::Again(source));
        }
        if peer.may_send_in_place(&source, message) {
            return self.send_first(network, message.to, envelope, source.keep(), true);
        }
        let is_registered =
            message.wants_done && REGISTERED + length as usize <= network.payload_to(to);
        if message.wants_done != is_registered || !peer.may_send(&source) {
            return self.ask(network, message, envelope, source);
        }
        if is_registered {
            return self.register(network, message, envelope, source);
        }
        if is_parted(network, to, length) {
            return self.send_first(network, message.to, envelope, source, false);
        }
        // There was no room for its packet.
        Ok(Sending::Again(source))
    }

    /// Sends a message of a few bytes of which nobody wants to hear more, to another rank, if that
    /// may be done at once. False if not: nothing has happened then, and [`Self::send`] may do it.
    #[inline(always)]
    pub fn send_short<N: Network>(
        &mut self,
        network: &mut N,
        message: &Outgoing,
        bytes: &[u8],
    ) -> bool {
        let (to, length) = (message.to, bytes.len() as u64);
        if to.rank == self.rank || message.wants_done {
            return false;
        }
        let head = short_head(to.endpoint, &self.envelope(message, length));
        let peer = &mut self.peers[to.rank.index()];
        if peer.leaving.is_some()
            || !peer.flow.may_send(length)
            || !network.send_short(to.rank, head, bytes)
        {
            return false;
        }
        peer.flow.sent(length);
        true
    }

    /// Sends a message of which nobody wants to hear more, to another rank, if it fits into one
    /// packet and may go at once.
    fn send_eagerly<N: Network, B: Source>(
        &mut self,
        network: &mut N,
        message: &Outgoing,
        source: &B,
    ) -> Result<bool> {
        let (to, length) = (message.to, source.length());
        if to.rank == self.rank || message.wants_done {
            return Ok(false);
        }
        let envelope = self.envelope(message, length);
        let peer = &mut self.peers[to.rank.index()];
        if peer.leaving.is_some() || is_parted(network, to.rank, length) || !peer.may_send(source) {
            return Ok(false);
        }
        let whole = Whole { to: to.endpoint, envelope, registered: None, bytes: &[] };
        let head = Packet::Whole(whole).head();
        let body = Some((source, 0, length as usize));
        let sent = network.send_at_once(to.rank, head.bytes(), body)?;
        if sent {
            peer.flow.sent(length);
        }
        Ok(sent)
    }

    #[inline(always)]
    fn envelope(&self, message: &Outgoing, length: u64) -> Envelope {
        let &Outgoing { from, kind, tag, data, .. } = message;
        let source = Address { rank: self.rank, endpoint: from };
        Envelope { kind, source, tag, data, length }
    }

    /// A message of this rank to itself.
    fn send_here(&mut self, to: u8, envelope: Envelope, source: S) -> Sending<S> {
        if let Some(mut into) = self.wanted(to, &envelope) {
            copy(&source, &mut into);
            self.events.push_back(Event::Received { into, envelope });
            return Sending::Sent(source);
        }
        if self.is_closed(to) {
            return Sending::Sent(source);
        }
        let own = self.rank;
        let flow = &mut self.peers[own.index()].flow;
        if flow.may_send(envelope.length) {
            flow.sent(envelope.length);
            let mut stored = Vec::with_capacity(envelope.length as usize);
            source
                .pieces(0, envelope.length as usize, &mut |bytes| stored.extend_from_slice(bytes));
            self.store(to, envelope, Stored::Bytes { bytes: stored, registered: None });
            return Sending::Sent(source);
        }
        if !flow.may_ask() {
            return Sending::Again(source);
        }
        flow.asks();
        let key = self.insert_send(Send {
            source: source.keep(),
            from: envelope.source.endpoint,
            to: own,
            was_offered: false,
            wants_done: false,
            is_lent: false,
            waits: Until::Granted,
        });
        self.store(to, envelope, Stored::Own(key));
        Sending::Kept
    }

    /// A message whose sender wants to know when it is there.
    fn register<N: Network>(
        &mut self,
        network: &mut N,
        message: &Outgoing,
        envelope: Envelope,
        source: S,
    ) -> Result<Sending<S>> {
        let (rank, to, length) = (message.to.rank, message.to.endpoint, envelope.length);
        let packet_of = |number, _| {
            let registered = NonZero::new(number);
            Packet::Whole(Whole { to, envelope, registered, bytes: &[] })
        };
        let began =
            self.begin(network, message, source, (Until::Done, length as usize), packet_of)?;
        if let Sending::Kept = began {
            self.peers[rank.index()].flow.sent(length);
        }
        Ok(began)
    }

    /// Asks whether the message may come.
    fn ask<N: Network>(
        &mut self,
        network: &mut N,
        message: &Outgoing,
        envelope: Envelope,
        source: S,
    ) -> Result<Sending<S>> {
        let (rank, to, wants_done) = (message.to.rank, message.to.endpoint, message.wants_done);
        if !self.peers[rank.index()].flow.may_ask() {
            return Ok(Sending::Again(source));
        }
        let packet_of =
            |number, lies_at| Packet::Request { to, envelope, number, lies_at, wants_done };
        let began = self.begin(network, message, source, (Until::Granted, 0), packet_of)?;
        if let Sending::Kept = began {
            self.peers[rank.index()].flow.asks();
        }
        Ok(began)
    }

    /// Sends one packet, with so many bytes, of a message that is kept until more is heard of it.
    /// What it says has its number, and where its bytes lie if they may be fetched.
    fn begin<N: Network>(
        &mut self,
        network: &mut N,
        message: &Outgoing,
        source: S,
        (waits, length): (Until, usize),
        packet_of: impl FnOnce(u64, Option<NonZero<u64>>) -> Packet<'static>,
    ) -> Result<Sending<S>> {
        let &Outgoing { to, from, wants_done, .. } = message;
        let source = source.keep();
        let may_offer = self.peers[to.rank.index()].single_copy && waits == Until::Granted;
        let lies_at = if may_offer { lies_at(&source) } else { None };
        let was_offered = lies_at.is_some();
        let (to, is_lent) = (to.rank, false);
        let send = Send { source, from, to, was_offered, wants_done, is_lent, waits };
        let key = self.insert_send(send);
        let head = packet_of(key.data().as_ffi(), lies_at).head();
        let body = self.sends.get(key).map(|send| (&send.source, 0, length));
        let sent = network.send(to, head.bytes(), body.filter(|_| length > 0));
        if let Ok(true) = sent {
            return Ok(Sending::Kept);
        }
        let Some(send) = self.remove_send(key) else { unreachable!("it was put there above") };
        sent.map(|_| Sending::Again(send.source))
    }

    /// Sends the first packet of a message, and as much of the rest as there is room for.
    fn send_first<N: Network>(
        &mut self,
        network: &mut N,
        to: Address,
        envelope: Envelope,
        source: S,
        in_place: bool,
    ) -> Result<Sending<S>> {
        let (length, peer) = (envelope.length as usize, &mut self.peers[to.rank.index()]);
        let most = match length as u64 {
            halved if HALVED.contains(&halved) => length / 2,
            longer if peer.in_place && longer > *HALVED.end() => FIRST_OF_PLACED,
            _ => length - 1,
        };
        let (room, number) = ((network.payload_to(to.rank) - FIRST).min(most), peer.next);
        let head = Packet::First { to: to.endpoint, envelope, number, bytes: &[] }.head();
        if !network.send(to.rank, head.bytes(), Some((&source, 0, room)))? {
            return Ok(Sending::Again(source));
        }
        peer.next += 1;
        peer.flow.sent(envelope.length);
        let (from, sent) = (envelope.source.endpoint, room as u64);
        let mut leaving = Leaving { from, number, source, sent, in_place, is_lent: false };
        if leaving.go_on(network, to.rank)? {
            return Ok(match leaving.is_lent {
                true => {
                    self.wait_for_lent(to.rank, leaving);
                    Sending::Kept
                }
                false => Sending::Sent(leaving.source),
            });
        }
        if !in_place {
            leaving.source = leaving.source.keep();
        }
        self.peers[to.rank.index()].leaving = Some(leaving);
        self.unended[usize::from(from)] += 1;
        self.leaving.push_back(to.rank);
        Ok(Sending::Kept)
    }

    /// A message has left, but for packets that have bytes of it where they lie.
    pub(super) fn wait_for_lent(&mut self, to: Rank, leaving: Leaving<S>) {
        let Leaving { from, source, .. } = leaving;
        let (was_offered, wants_done, is_lent, waits) = (false, false, true, Until::Back);
        let send = Send { source, from, to, was_offered, wants_done, is_lent, waits };
        let key = self.insert_send(send);
        self.lent.push_back(key);
    }

    /// True if packets without bytes wait for room.
    #[inline(always)]
    pub fn has_answers(&self) -> bool {
        !self.answers.is_empty()
    }

    /// True if something waits for room.
    #[inline]
    pub fn has_to_transmit(&self) -> bool {
        // Six loads, and one branch: this is asked at each look.
        let waiting = self.answers.len() | self.leaving.len() | self.granted.len();
        let waiting = waiting | self.posting.len();
        (waiting | self.fetching.len() | self.lent.len()) > 0
    }

    /// Sends what waits for room, as far as there is some, and fetches some of what there is to
    /// fetch. True if there was any of that.
    ///
    /// # Errors
    /// Those of the network.
    pub fn transmit<N: Network>(&mut self, network: &mut N) -> Result<bool> {
        // First, so that what it ends is answered at once.
        let mut any = self.fetch(network) | self.end_zero_copy(network);
        self.post_waiting(network);
        while let Some(&Answer { to, ref head, gives }) = self.answers.front() {
            if !network.send::<S>(to, head.bytes(), None)? {
                return Ok(any);
            }
            self.answers.pop_front();
            let flow = &mut self.peers[to.index()].flow;
            match gives {
                Gives::Nothing => {}
                Gives::Request => flow.has_answered(),
                Gives::Window(amount) => flow.has_reported(amount),
            }
            any = true;
        }
        for _ in 0..self.leaving.len() {
            let Some(to) = self.leaving.pop_front() else { break };
            let peer = &mut self.peers[to.index()];
            let Some(leaving) = &mut peer.leaving else { continue };
            let before = leaving.sent;
            let ended = leaving.go_on(network, to)?;
            any |= leaving.sent > before;
            if !ended {
                self.leaving.push_back(to);
            } else {
                self.end_leaving(to);
            }
        }
        for _ in 0..PARTS_AT_ONCE {
            let Some(key) = self.granted.pop_front() else { break };
            match self.send_part(network, key)? {
                None => {
                    self.granted.push_front(key);
                    break;
                }
                Some(ended) if !ended => self.granted.push_back(key),
                Some(_) => {}
            }
            any = true;
        }
        Ok(any | self.end_lent(network))
    }

    /// Ends sends whose bytes the network has back. True if there were any.
    fn end_lent<N: Network>(&mut self, network: &mut N) -> bool {
        let before = self.lent.len();
        for _ in 0..before {
            let Some(key) = self.lent.pop_front() else { break };
            match self.sends.get(key) {
                Some(send) if !network.has_back(&send.source) => self.lent.push_back(key),
                _ => self.end_send(key),
            }
        }
        self.lent.len() < before
    }

    /// Sends a message that is wanted: all of it, or its next part. True if that was the last;
    /// `None` if there is no room.
    fn send_part<N: Network>(&mut self, network: &mut N, key: SendKey) -> Result<Option<bool>> {
        let Some(send) = self.sends.get_mut(key) else { return Ok(Some(true)) };
        let Until::AllLeft { own, length, sent, zero_copy } = send.waits else {
            return Ok(Some(true));
        };
        let source = &send.source;
        let sent = if zero_copy
            && network.send_zero_copy(send.to, &part_head(own), source, length as usize)
        {
            send.is_lent = true;
            length
        } else {
            let room = ((network.payload_to(send.to) - PART) as u64).min(length - sent);
            let head = Packet::Part { own, offset: sent, bytes: &[] }.head();
            let (body, sent) = ((source, sent, room as usize), sent + room);
            match network.send_part(send.to, head.bytes(), body, sent == length)? {
                Parted::NoRoom => return Ok(None),
                Parted::Copied => {}
                Parted::Lent => send.is_lent = true,
            }
            sent
        };
        if sent < length {
            send.waits = Until::AllLeft { own, length, sent, zero_copy: false };
            return Ok(Some(false));
        }
        send.waits = Until::Done;
        if !send.wants_done {
            self.end_sent(key);
        }
        Ok(Some(true))
    }
}

impl<S: Source> Leaving<S> {
    /// Sends on; whether that was all.
    fn go_on<N: Network>(&mut self, network: &mut N, to: Rank) -> Result<bool> {
        let length = self.source.length();
        while self.sent < length {
            let room = ((network.payload_to(to) - MORE) as u64).min(length - self.sent) as usize;
            let head = Packet::More { number: self.number, offset: self.sent, bytes: &[] }.head();
            let body = (&self.source, self.sent, room);
            let is_last = self.sent + room as u64 == length;
            if is_last || room >= LONG_PART {
                network.hold_nothing();
            }
            let parted = match self.in_place {
                true => network.send_part(to, head.bytes(), body, is_last)?,
                false if network.send(to, head.bytes(), Some(body))? => Parted::Copied,
                false => Parted::NoRoom,
            };
            match parted {
                Parted::NoRoom => return Ok(false),
                Parted::Copied => {}
                Parted::Lent => self.is_lent = true,
            }
            self.sent += room as u64;
        }
        Ok(true)
    }
}
