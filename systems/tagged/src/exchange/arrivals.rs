//! Messages to this rank, from their first packet to their receives.

use super::inbox::{Inbox, RendezvousRequest, Stored, StoredKey};
use super::posted::{Posted, Receive};
use super::receives::{ReceiveKey, Receives};
use super::sends::SendKey;
use crate::answers::Answers;
use crate::format::{TaggedPacket, Whole, parse_whole};
use crate::matching::MessageEnvelope;
use crate::network::{Receiver, Sink, TaggedNetwork};
use crate::peer::{Intake, cost, window_of};
use crate::{Result, Taken};
use std::collections::VecDeque;
use std::num::NonZero;
use weft_endpoint::Rank;

/// Bytes that are fetched before the next look at what has arrived: some 20 microseconds.
const FETCHED_AT_ONCE: u64 = 256 * 1024;

/// The messages that come, and what their senders are answered.
#[derive(Debug)]
pub(super) struct Arrivals<D> {
    rank: Rank,
    peers: Vec<Peer>,
    pub inbox: Inbox<D>,
    pub receives: Receives<D>,
    pub answers: Answers<Gives>,
    /// Receives that have ended.
    pub received: VecDeque<(D, MessageEnvelope)>,
}

/// The right to send more that an answer gives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Gives {
    Nothing,
    /// Another request.
    Request,
    /// So much of the window.
    Window(u64),
}

/// State about one sender, this rank included.
#[derive(Debug)]
struct Peer {
    intake: Intake,
    /// The message that it sends in several packets.
    arriving: Option<Arriving>,
}

#[derive(Debug)]
struct Arriving {
    to: Target,
    number: u64,
    length: u64,
    received: u64,
}

/// Destination of the rest of a message.
#[derive(Clone, Copy, Debug)]
enum Target {
    Stored(StoredKey),
    Receive(ReceiveKey),
    Nowhere,
}

impl<D: Sink> Arrivals<D> {
    /// Those of `rank` in a job of `ranks`.
    pub fn new(rank: Rank, ranks: usize) -> Self {
        let peer = || Peer { intake: Intake::new(window_of(ranks)), arriving: None };
        Arrivals {
            rank,
            peers: std::iter::repeat_with(peer).take(ranks).collect(),
            inbox: Inbox::new(),
            receives: Receives::new(ranks),
            answers: Answers::default(),
            received: VecDeque::new(),
        }
    }

    /// Takes a packet of `from`, if it is a message that the first posted receive wants, and
    /// `receiver` too. False if not: nothing has happened then. What takes more than a few steps is
    /// found out before anything is done, and nothing is kept for it, because registers are few.
    #[inline(always)]
    pub fn take_expected(
        &mut self,
        from: Rank,
        packet: &[u8],
        receiver: &mut impl Receiver<D>,
    ) -> bool {
        let Some(Whole { to, envelope, registered, bytes }) = parse_whole(from, packet) else {
            return false;
        };
        let matcher = self.inbox.matcher(to, envelope.kind);
        let Some(first) = matcher.first_posted() else { return false };
        let Some((pattern, into)) = first else { return false };
        if !pattern.wants(&envelope) || !receiver.wants(into, envelope.length) {
            return false;
        }
        let Some(Peer { arriving: None, intake }) = self.peers.get_mut(from.index()) else {
            return false;
        };
        let Some(consumed) = intake.may_consume(envelope.length) else { return false };
        let Some((_, into)) = first.take() else { return false };
        let has_to_report = intake.received_and_consumed(consumed);
        receiver.receive(into, &envelope, bytes);
        matcher.first_posted_left();
        if has_to_report || registered.is_some() {
            answer_expected(&mut self.answers, from, intake, registered);
        }
        true
    }

    pub fn handle_whole(&mut self, whole: Whole<'_>) -> Taken {
        let Whole { to, envelope, registered, bytes } = whole;
        let (source, length) = (envelope.source.rank, envelope.length);
        self.take_eager(source, length)?;
        let Some(mut into) = self.inbox.wanted(to, &envelope) else {
            if self.inbox.is_closed(to) {
                self.consumed(source, length);
                self.placed(source, registered);
                return Ok(());
            }
            self.inbox.store(to, envelope, Stored::Bytes { bytes: bytes.to_vec(), registered });
            return Ok(());
        };
        into.place(0, bytes);
        self.received.push_back((into, envelope));
        self.consumed(source, length);
        self.placed(source, registered);
        Ok(())
    }

    pub fn handle_first<N: TaggedNetwork>(
        &mut self,
        network: &mut N,
        to: u8,
        envelope: MessageEnvelope,
        number: u64,
        bytes: &[u8],
    ) -> Taken {
        let (source, received) = (envelope.source.rank, bytes.len() as u64);
        if received >= envelope.length {
            return Err("a first packet with all of its message");
        }
        self.take_eager(source, envelope.length)?;
        let target = match self.inbox.wanted(to, &envelope) {
            Some(mut into) => {
                into.place(0, bytes);
                let receive = Receive::unasked(to, into, envelope, received);
                Target::Receive(self.receives.begin(network, receive, number))
            }
            None if self.inbox.is_closed(to) => Target::Nowhere,
            None => {
                let mut stored = Vec::with_capacity(envelope.length as usize);
                stored.extend_from_slice(bytes);
                let stored = Stored::Bytes { bytes: stored, registered: None };
                Target::Stored(self.inbox.store(to, envelope, stored))
            }
        };
        let arriving = Arriving { to: target, number, length: envelope.length, received };
        self.peers[source.index()].arriving = Some(arriving);
        Ok(())
    }

    /// Counts a message that comes unasked.
    fn take_eager(&mut self, source: Rank, length: u64) -> Taken {
        let peer = &mut self.peers[source.index()];
        if peer.arriving.is_some() {
            return Err("a message in the middle of another");
        }
        let has_window = peer.intake.received(length);
        has_window.then_some(()).ok_or("a message that there was no window for")
    }

    pub fn handle_more<N: TaggedNetwork>(
        &mut self,
        network: &mut N,
        from: Rank,
        (number, offset): (u64, u64),
        bytes: &[u8],
    ) -> Taken {
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
            Target::Stored(key) => self.inbox.append(key, bytes),
            Target::Receive(key) => {
                if let Some(receive) = self.receives.all.get_mut(key) {
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

    pub fn handle_request(
        &mut self,
        to: u8,
        envelope: MessageEnvelope,
        asked: RendezvousRequest,
    ) -> Taken {
        let peer = &mut self.peers[envelope.source.rank.index()];
        if peer.arriving.is_some() {
            return Err("a message in the middle of another");
        }
        if !peer.intake.requests.ask() {
            return Err("more requests than it may have");
        }
        match self.inbox.wanted(to, &envelope) {
            Some(into) => self.grant(to, envelope, asked, into),
            None if self.inbox.is_closed(to) => self.refuse(envelope.source.rank, asked),
            None => drop(self.inbox.store(to, envelope, Stored::Rendezvous(asked))),
        }
        Ok(())
    }

    /// Has as much of the message come as fits into `into`: fetches it, or sends an answer.
    fn grant(&mut self, to: u8, envelope: MessageEnvelope, asked: RendezvousRequest, into: D) {
        let expected = envelope.length.min(into.capacity());
        if expected == 0 {
            self.refuse(envelope.source.rank, asked);
            self.received.push_back((into, envelope));
            return;
        }
        let (received, posted, asked) = (0, Posted::NEVER, Some(asked));
        let receive =
            Receive { to, into, envelope, expected, received, posted, asked, fetched_from: None };
        self.receives.begin_asked(receive);
    }

    /// Answers that no bytes are wanted.
    fn refuse(&mut self, source: Rank, asked: RendezvousRequest) {
        let grant =
            TaggedPacket::Grant { number: asked.number, own: 0, length: 0, zero_copy: false };
        self.answers.push(source, grant.head(), Gives::Request);
        if asked.wants_done {
            let done = TaggedPacket::Done { number: asked.number };
            self.answers.push(source, done.head(), Gives::Nothing);
        }
    }

    pub fn handle_part<N: TaggedNetwork>(
        &mut self,
        network: &mut N,
        from: Rank,
        (own, offset): (u64, u64),
        bytes: &[u8],
    ) -> Taken {
        let Some((key, receive)) = self.receives.granted(from, own) else {
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

    fn end_receive(&mut self, key: ReceiveKey) {
        let Some(receive) = self.receives.remove(key) else { return };
        let Receive { into, envelope, asked, fetched_from, .. } = receive;
        let source = envelope.source.rank;
        match asked {
            None => self.consumed(source, envelope.length),
            Some(RendezvousRequest { number, wants_done, .. })
                if wants_done || fetched_from.is_some() =>
            {
                // A message that was fetched had no other answer.
                let gives = if fetched_from.is_some() { Gives::Request } else { Gives::Nothing };
                self.answers.push(source, TaggedPacket::Done { number }.head(), gives);
            }
            Some(_) => {}
        }
        self.received.push_back((into, envelope));
    }

    /// A receive gets a message that is stored. Gives `into` back, if that is a send of this rank
    /// itself.
    pub fn take_stored(
        &mut self,
        to: u8,
        (envelope, key): (MessageEnvelope, StoredKey),
        mut into: D,
    ) -> Option<(SendKey, D)> {
        let source = envelope.source.rank;
        match self.inbox.take(key)? {
            Stored::Bytes { bytes, registered } => {
                into.place(0, &bytes);
                if bytes.len() as u64 == envelope.length {
                    self.consumed(source, envelope.length);
                    self.placed(source, registered);
                    self.received.push_back((into, envelope));
                } else if let Some(arriving) = &mut self.peers[source.index()].arriving {
                    let receive = Receive::unasked(to, into, envelope, bytes.len() as u64);
                    let key = self.receives.begin_later(receive, arriving.number);
                    arriving.to = Target::Receive(key);
                }
                None
            }
            Stored::Rendezvous(asked) => {
                self.grant(to, envelope, asked, into);
                None
            }
            Stored::Own(send) => Some((send, into)),
        }
    }

    /// Drops a message that is stored. Returns a send of this rank itself, if it is one.
    pub fn discard_stored(
        &mut self,
        (envelope, key): (MessageEnvelope, StoredKey),
    ) -> Option<SendKey> {
        let source = envelope.source.rank;
        match self.inbox.take(key)? {
            Stored::Bytes { bytes, registered } if bytes.len() as u64 == envelope.length => {
                self.consumed(source, envelope.length);
                self.placed(source, registered);
            }
            Stored::Bytes { .. } => {
                // Nor is the rest of it for anybody.
                if let Some(arriving) = &mut self.peers[source.index()].arriving {
                    arriving.to = Target::Nowhere;
                }
            }
            Stored::Rendezvous(asked) => self.refuse(source, asked),
            Stored::Own(send) => return Some(send),
        }
        None
    }

    /// True if this rank may send itself a message of this length that nobody has asked for: it is
    /// counted then.
    pub fn keeps_own(&mut self, length: u64) -> bool {
        let intake = &mut self.peers[self.rank.index()].intake;
        intake.may_consume(length).is_some() && intake.received(length)
    }

    /// Counts a message as consumed that was received eagerly.
    #[inline]
    fn consumed(&mut self, source: Rank, length: u64) {
        let intake = &mut self.peers[source.index()].intake;
        if source == self.rank {
            intake.has_reported(cost(length));
        } else if let Some(amount) = intake.consumed(length) {
            self.answers.push(
                source,
                TaggedPacket::Consumed { amount }.head(),
                Gives::Window(amount),
            );
        }
    }

    /// A message is where it belongs, or nobody wants it: tells its sender, if that wants to know.
    #[inline]
    fn placed(&mut self, source: Rank, registered: Option<NonZero<u64>>) {
        if let Some(number) = registered {
            self.answers.push(
                source,
                TaggedPacket::Done { number: number.get() }.head(),
                Gives::Nothing,
            );
        }
    }

    /// Fetches some of what there is to fetch, posts what is to be posted, and sends answers, as
    /// far as there is room. True if there was any of that.
    pub fn transmit<N: TaggedNetwork>(&mut self, network: &mut N) -> Result<bool> {
        // First, so that what it ends is answered at once.
        let mut any = self.fetch(network);
        for key in self.receives.came_without_copy(network) {
            self.end_receive(key);
            any = true;
        }
        let (answers, peers) = (&mut self.answers, &mut self.peers);
        self.receives.post_waiting(network, |to, head| answers.push(to, head, Gives::Request));
        let answered = answers.send(network, |to, gives| {
            let intake = &mut peers[to.index()].intake;
            match gives {
                Gives::Nothing => {}
                Gives::Request => intake.requests.answered(),
                Gives::Window(amount) => intake.has_reported(amount),
            }
        })?;
        Ok(any | answered)
    }

    /// Fetches some of the messages that are fetched, in turn. True if there are any.
    fn fetch<N: TaggedNetwork>(&mut self, network: &mut N) -> bool {
        let (mut left, mut any) = (FETCHED_AT_ONCE, false);
        while left > 0
            && let Some((length, ended)) = self.receives.fetch(network, left)
        {
            left -= length;
            any = true;
            ended.into_iter().for_each(|key| self.end_receive(key));
        }
        any
    }
}

/// Tells the sender of an expected message what it may have to hear.
#[inline(never)]
fn answer_expected(
    answers: &mut Answers<Gives>,
    to: Rank,
    intake: &mut Intake,
    registered: Option<NonZero<u64>>,
) {
    if let Some(amount) = intake.to_report() {
        answers.push(to, TaggedPacket::Consumed { amount }.head(), Gives::Window(amount));
    }
    if let Some(number) = registered {
        answers.push(to, TaggedPacket::Done { number: number.get() }.head(), Gives::Nothing);
    }
}
