//! Packets of other ranks.

use super::posted::{Begins, Posting};
use super::{
    Answer, Arriving, Asked, Event, Exchange, Gives, Peer, Posted, Receive, Stored, Target, Until,
};
use super::{kind_index, receive_key, send_key};
use crate::format::{Packet, Whole, is_one_of_several, parse, parse_whole};
use crate::matching::Envelope;
use crate::network::{Network, Receiver, Sink, Source};
use crate::peer::Flow;
use crate::{Error, Result};
use std::collections::VecDeque;
use std::num::NonZero;
use weft_endpoint::Rank;

impl<S: Source, D: Sink> Exchange<S, D> {
    /// Takes one packet of `from`. Of what ended [`Self::event`] tells. Where the network has read
    /// bytes where they belong, the packet need not have them.
    ///
    /// # Errors
    /// [`Error::Violation`] if no peer sends that; nothing has changed then.
    pub fn arrive<N: Network>(&mut self, network: &mut N, from: Rank, packet: &[u8]) -> Result<()> {
        let outcome = match parse(from, packet) {
            Some(Packet::First { to, envelope, number, bytes }) => {
                self.handle_first(network, to, envelope, number, bytes)
            }
            Some(Packet::More { number, offset, bytes }) => {
                self.handle_more(network, from, (number, offset), bytes)
            }
            Some(Packet::Part { own, offset, bytes }) => {
                self.handle_part(network, from, (own, offset), bytes)
            }
            _ => return self.arrive_inside(from, packet).map(drop),
        };
        outcome.map_err(|what| Error::Violation { from, what })
    }

    /// Does what [`Self::arrive`] does, for who holds the network's lock. False if that takes the
    /// network, as the bytes of long messages do: nothing has happened then.
    ///
    /// # Errors
    /// Those of [`Self::arrive`].
    pub fn arrive_inside(&mut self, from: Rank, packet: &[u8]) -> Result<bool> {
        if is_one_of_several(packet) && parse(from, packet).is_some() {
            return Ok(false);
        }
        let outcome = match parse_whole(from, packet) {
            Some(whole) => self.handle_whole(whole),
            None => self.handle_other(from, packet),
        };
        outcome.map(|()| true).map_err(|what| Error::Violation { from, what })
    }

    /// Takes one packet of `from` if it goes the way of most: a message that the first posted
    /// receive wants, and `receiver` too, which gets both. Of that no [event](Self::event) tells.
    /// False if it goes the way of [others](Self::arrive): nothing has happened then. What takes
    /// more than a few steps is found out before anything is done, and nothing is kept for it,
    /// because registers are few.
    #[inline(always)]
    pub fn arrive_expected(
        &mut self,
        from: Rank,
        packet: &[u8],
        receiver: &mut impl Receiver<D>,
    ) -> bool {
        let Some(Whole { to, envelope, registered, bytes }) = parse_whole(from, packet) else {
            return false;
        };
        let matcher = &mut self.matchers[usize::from(to)][kind_index(envelope.kind)];
        let Some(first) = matcher.first_posted() else { return false };
        let Some((pattern, into)) = first else { return false };
        if !pattern.wants(&envelope) || !receiver.wants(into, envelope.length) {
            return false;
        }
        let Some(Peer { arriving: None, flow, .. }) = self.peers.get_mut(from.index()) else {
            return false;
        };
        let Some(consumed) = flow.may_consume(envelope.length) else { return false };
        let Some((_, into)) = first.take() else { return false };
        let has_to_report = flow.received_and_consumed(consumed);
        receiver.receive(into, &envelope, bytes);
        matcher.first_posted_left();
        if has_to_report || registered.is_some() {
            answer_expected(&mut self.answers, from, flow, registered);
        }
        true
    }

    /// Takes a packet that is no whole message.
    #[inline(never)]
    fn handle_other(&mut self, from: Rank, packet: &[u8]) -> Result<(), &'static str> {
        match parse(from, packet) {
            Some(Packet::Request { to, envelope, number, lies_at, wants_done }) => {
                self.handle_request(to, envelope, Asked { number, lies_at, wants_done })
            }
            Some(Packet::Grant { number, own, length, zero_copy }) => {
                self.handle_grant(from, number, own, (length, zero_copy))
            }
            Some(Packet::Done { number }) => self.handle_done(from, number),
            Some(Packet::Consumed { amount }) => {
                match self.peers[from.index()].flow.reported(amount) {
                    true => Ok(()),
                    false => Err("that it consumed what was never sent"),
                }
            }
            Some(Packet::Left) => {
                self.give_up(from);
                Ok(())
            }
            _ => Err("a packet that is none"),
        }
    }

    /// The receive that was posted for this message.
    pub(super) fn wanted(&mut self, to: u8, envelope: &Envelope) -> Option<D> {
        let matcher = self.matcher(to, envelope.kind);
        let (position, into) = matcher.find_posted(envelope)?;
        match into.split(envelope.length) {
            None => matcher.take_posted(position),
            Some((part, is_last)) => {
                if is_last {
                    matcher.drop_posted(position);
                }
                Some(part)
            }
        }
    }

    pub(super) fn store(&mut self, to: u8, envelope: Envelope, stored: Stored) -> super::StoredKey {
        let key = self.stored.insert(stored);
        self.matcher(to, envelope.kind).store(envelope, key);
        key
    }

    fn handle_whole(&mut self, whole: Whole<'_>) -> Result<(), &'static str> {
        let Whole { to, envelope, registered, bytes } = whole;
        let (source, length) = (envelope.source.rank, envelope.length);
        let peer = &mut self.peers[source.index()];
        if peer.arriving.is_some() {
            return Err("a message in the middle of another");
        }
        if !peer.flow.received_eager(length) {
            return Err("a message that there was no window for");
        }
        let Some(mut into) = self.wanted(to, &envelope) else {
            if self.is_closed(to) {
                self.consumed(source, length);
                self.placed(source, registered);
                return Ok(());
            }
            self.store(to, envelope, Stored::Bytes { bytes: bytes.to_vec(), registered });
            return Ok(());
        };
        into.place(0, bytes);
        self.events.push_back(Event::Received { into, envelope });
        self.consumed(source, length);
        self.placed(source, registered);
        Ok(())
    }

    fn handle_first<N: Network>(
        &mut self,
        network: &mut N,
        to: u8,
        envelope: Envelope,
        number: u64,
        bytes: &[u8],
    ) -> Result<(), &'static str> {
        let (source, received) = (envelope.source.rank, bytes.len() as u64);
        let peer = &mut self.peers[source.index()];
        if peer.arriving.is_some() {
            return Err("a message in the middle of another");
        }
        if received >= envelope.length {
            return Err("a first packet with all of its message");
        }
        if !peer.flow.received_eager(envelope.length) {
            return Err("a message that there was no window for");
        }
        let target = match self.wanted(to, &envelope) {
            Some(mut into) => {
                into.place(0, bytes);
                let (expected, asked, fetched_from) = (envelope.length, None, None);
                let posted = Posted::NEVER;
                let receive =
                    Receive { to, into, envelope, expected, received, posted, asked, fetched_from };
                let key = self.insert_receive(receive);
                self.post_begun(network, key, number);
                Target::Receive(key)
            }
            None if self.is_closed(to) => Target::Nowhere,
            None => {
                let mut stored = Vec::with_capacity(envelope.length as usize);
                stored.extend_from_slice(bytes);
                let stored = Stored::Bytes { bytes: stored, registered: None };
                Target::Stored(self.store(to, envelope, stored))
            }
        };
        let arriving = Arriving { to: target, number, length: envelope.length, received };
        self.peers[source.index()].arriving = Some(arriving);
        Ok(())
    }

    fn handle_more<N: Network>(
        &mut self,
        network: &mut N,
        from: Rank,
        (number, offset): (u64, u64),
        bytes: &[u8],
    ) -> Result<(), &'static str> {
        let peer = &mut self.peers[from.index()];
        let Some(arriving) = peer.arriving.as_mut().filter(|it| it.number == number) else {
            return Err("the rest of a message that did not begin");
        };
        let (length, target) = (arriving.length, arriving.to);
        if offset != arriving.received {
            return Err("what is not the next of a message");
        }
        let received = offset + bytes.len() as u64;
        if bytes.is_empty() || received > length {
            return Err("more of a message than there is");
        }
        arriving.received = received;
        if received == length {
            peer.arriving = None;
        }
        match target {
            Target::Stored(key) => {
                if let Some(Stored::Bytes { bytes: stored, .. }) = self.stored.get_mut(key) {
                    stored.extend_from_slice(bytes);
                }
            }
            Target::Receive(key) => {
                if let Some(receive) = self.receives.get_mut(key) {
                    receive.take(network, bytes, received);
                }
                if received == length {
                    self.end_receive(key);
                }
            }
            Target::Nowhere if received == length => self.consumed(from, length),
            Target::Nowhere => {}
        }
        Ok(())
    }

    pub(super) fn end_receive(&mut self, key: super::ReceiveKey) {
        let Some(receive) = self.remove_receive(key) else { return };
        let Receive { into, envelope, asked, fetched_from, .. } = receive;
        let source = envelope.source.rank;
        match asked {
            None => self.consumed(source, envelope.length),
            Some(Asked { number, wants_done, .. }) if wants_done || fetched_from.is_some() => {
                // What was fetched had no other answer.
                let gives = if fetched_from.is_some() { Gives::Request } else { Gives::Nothing };
                self.answer(source, Packet::Done { number }, gives);
            }
            Some(_) => {}
        }
        self.events.push_back(Event::Received { into, envelope });
    }

    fn handle_request(
        &mut self,
        to: u8,
        envelope: Envelope,
        asked: Asked,
    ) -> Result<(), &'static str> {
        let peer = &mut self.peers[envelope.source.rank.index()];
        if peer.arriving.is_some() {
            return Err("a message in the middle of another");
        }
        if !peer.flow.received_request() {
            return Err("more requests than it may have");
        }
        match self.wanted(to, &envelope) {
            Some(into) => self.grant(to, envelope, asked, into),
            None if self.is_closed(to) => self.refuse(envelope.source.rank, asked),
            None => {
                self.store(to, envelope, Stored::Asking(asked));
            }
        }
        Ok(())
    }

    /// Has as much of the message come as fits into `into`: fetches it, or sends an answer.
    pub(super) fn grant(&mut self, to: u8, envelope: Envelope, asked: Asked, mut into: D) {
        let source = envelope.source.rank;
        let expected = envelope.length.min(into.capacity());
        if expected == 0 {
            self.refuse(source, asked);
            self.events.push_back(Event::Received { into, envelope });
            return;
        }
        let peer = &self.peers[source.index()];
        let fetched_from = asked
            .lies_at
            .filter(|_| !peer.is_unfetchable && into.room(0, expected as usize).is_some());
        let (received, number, asked) = (0, asked.number, Some(asked));
        let posted = Posted::NEVER;
        let receive =
            Receive { to, into, envelope, expected, received, posted, asked, fetched_from };
        let key = self.insert_receive(receive);
        if fetched_from.is_some() {
            self.fetching.push_back(key);
        } else {
            self.posting.push(Posting { key, begins: Begins::Granted(number) });
        }
    }

    /// Answers that no bytes are wanted.
    pub(super) fn refuse(&mut self, source: Rank, asked: Asked) {
        let grant = Packet::Grant { number: asked.number, own: 0, length: 0, zero_copy: false };
        self.answer(source, grant, Gives::Request);
        if asked.wants_done {
            self.answer(source, Packet::Done { number: asked.number }, Gives::Nothing);
        }
    }

    fn handle_grant(
        &mut self,
        from: Rank,
        number: u64,
        own: u64,
        (length, zero_copy): (u64, bool),
    ) -> Result<(), &'static str> {
        let key = send_key(number);
        let Some(send) = self.sends.get_mut(key).filter(|send| send.to == from) else {
            return Err("an answer that was not asked for");
        };
        if send.waits != Until::Granted || length > send.source.length() || from == self.rank {
            return Err("an answer that does not fit its request");
        }
        self.peers[from.index()].flow.was_answered();
        if length > 0 {
            send.waits = Until::AllLeft { own, length, sent: 0, zero_copy };
            self.granted.push_back(key);
        } else if send.wants_done {
            send.waits = Until::Done;
        } else {
            self.end_send(key);
        }
        Ok(())
    }

    fn handle_part<N: Network>(
        &mut self,
        network: &mut N,
        from: Rank,
        (own, offset): (u64, u64),
        bytes: &[u8],
    ) -> Result<(), &'static str> {
        let key = receive_key(own);
        let is_its = |receive: &&mut Receive<D>| {
            receive.envelope.source.rank == from
                && receive.asked.is_some()
                && receive.fetched_from.is_none()
        };
        let Some(receive) = self.receives.get_mut(key).filter(is_its) else {
            return Err("a part of a message that nobody wants");
        };
        if offset != receive.received {
            return Err("what is not the next of a message");
        }
        let received = offset + bytes.len() as u64;
        if bytes.is_empty() || received > receive.expected {
            return Err("more of a message than is wanted");
        }
        receive.take(network, bytes, received);
        if received == receive.expected {
            self.end_receive(key);
        }
        Ok(())
    }

    fn handle_done(&mut self, from: Rank, number: u64) -> Result<(), &'static str> {
        let key = send_key(number);
        match self.sends.get(key).filter(|send| send.to == from) {
            Some(send) if send.waits == Until::Done => {}
            // It was fetched.
            Some(send) if send.waits == Until::Granted && send.was_offered => {
                self.peers[from.index()].flow.was_answered();
            }
            _ => return Err("the end of a message that did not leave"),
        }
        self.end_sent(key);
        Ok(())
    }

    /// Ends a send that is over, or has it wait for its bytes.
    pub(super) fn end_sent(&mut self, key: super::SendKey) {
        match self.sends.get_mut(key) {
            Some(send) if send.is_lent => {
                send.waits = Until::Back;
                self.lent.push_back(key);
            }
            _ => self.end_send(key),
        }
    }

    pub(super) fn end_send(&mut self, key: super::SendKey) {
        if let Some(send) = self.remove_send(key) {
            self.events.push_back(Event::Sent(send.source));
        }
    }
}

/// Tells the sender of an expected message what it may have to hear.
#[inline(never)]
fn answer_expected(
    answers: &mut VecDeque<Answer>,
    to: Rank,
    flow: &mut Flow,
    registered: Option<NonZero<u64>>,
) {
    let report = flow.to_report();
    let report = report.map(|amount| (Packet::Consumed { amount }, Gives::Window(amount)));
    let done = registered.map(|number| (Packet::Done { number: number.get() }, Gives::Nothing));
    let both = report.into_iter().chain(done);
    answers.extend(both.map(|(packet, gives)| Answer { to, head: packet.head(), gives }));
}
