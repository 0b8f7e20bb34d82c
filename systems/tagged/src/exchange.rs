//! One rank's messages: calls and packets in, packets and events out.
//!
//! ```text
//!   sender                                receiver
//!   short, window there:   eager ───────▶ placed, or stored until a receive wants it
//!                                ◀─────── consumed (a quarter of a window at once)
//!                                ◀─────── done, when it is placed, if the sender asked for that
//!   long, or no window:  request ───────▶ placed in order with others; its envelope is stored
//!                                ◀─────── grant, when a receive wants it
//!                           part ───────▶ placed
//!                                ◀─────── done, if the sender asked for that
//!   long, fetchable:     request ───────▶ as above; then fetched out of the sender's memory
//!                                ◀─────── done
//! ```
//! Everything that arrives is taken from the network at once, so no message waits behind another in
//! the network, and two ranks that flood each other before they receive do not stop. A send that
//! finds no room for a packet changes nothing and is tried again by its caller; so whatever has
//! begun ends by packets alone.
//!
//! A rank's messages to itself take the same queues and no packets.
//!
//! It is two machines, each with state of its own, of which neither names the other: `sends`, from
//! calls until the bytes are the program's again, and `arrivals`, from packets to receives, with
//! the [answers](crate::answers) to them. Receives without messages, and messages without receives,
//! are in `inbox`; receives whose messages come are in `receives`.
//!
//! An endpoint that is closed wants nothing more: messages that are stored for it and those that
//! come later are dropped, and its senders are answered as if it had been received, so that their
//! sends end. Who leaves the job says so (`left`), because from then on nobody answers for it.

mod arrivals;
mod awaited;
mod inbox;
mod leaving;
mod parameters;
mod posted;
mod receives;
mod sends;

use crate::format::{TaggedPacket, is_one_of_several, parse, parse_whole};
use crate::matching::{MessageEnvelope, Position, ReceivePattern};
use crate::network::{Receiver, SendSource, Sink, TaggedNetwork};
use crate::{Error, Result, Tagging, Taken};
use arrivals::{Arrivals, Gives};
use inbox::{RendezvousRequest, Stored, StoredKey};
use sends::Sends;
use weft_endpoint::{Awaited, Rank};

pub use parameters::{SendParameters, Sending};

/// Something ended.
#[derive(Debug)]
pub enum ExchangeEvent<S, D> {
    /// A send that was kept.
    Sent(S),
    /// A receive. Of a message longer than its capacity the rest is lost.
    Received {
        /// Memory that has its bytes.
        into: D,
        /// Envelope of the message.
        envelope: MessageEnvelope,
    },
}

/// The messages of one rank, of all of its endpoints.
#[derive(Debug)]
pub struct Exchange<S, D> {
    rank: Rank,
    sends: Sends<S>,
    arrivals: Arrivals<D>,
}

impl<S: SendSource, D: Sink> Exchange<S, D> {
    /// The messages of `rank` in a job of `ranks`.
    pub fn new(rank: Rank, ranks: usize) -> Self {
        Exchange { rank, sends: Sends::new(rank, ranks), arrivals: Arrivals::new(rank, ranks) }
    }

    /// Chooses single copies: this rank's long messages to those for which `single_copy` is true
    /// carry the address of their bytes, and their receivers fetch them if they can. It is off at
    /// first. It is one copy in place of two, but by one core, where otherwise two share the work.
    pub fn set_single_copy(&mut self, single_copy: impl Fn(Rank) -> bool) {
        self.sends.set_single_copy(single_copy);
    }

    /// Chooses who is sent messages in a way that suits a network that [reads them where they
    /// belong](crate::TaggedNetwork::post): those for which `in_place` is true. Nobody is at first.
    pub fn set_in_place(&mut self, in_place: impl Fn(Rank) -> bool) {
        self.sends.set_in_place(in_place);
    }

    /// True if something ended.
    #[inline]
    pub fn has_event(&self) -> bool {
        !self.sends.sent.is_empty() | !self.arrivals.received.is_empty()
    }

    /// The next thing that ended: sends first.
    #[inline]
    pub fn event(&mut self) -> Option<ExchangeEvent<S, D>> {
        if let Some(source) = self.sends.sent.pop_front() {
            return Some(ExchangeEvent::Sent(source));
        }
        let (into, envelope) = self.arrivals.received.pop_front()?;
        Some(ExchangeEvent::Received { into, envelope })
    }

    /// Receives a message into `into`: one that comes, or one that is here. True if there was none,
    /// so that nothing else has happened.
    #[inline(always)]
    pub fn receive(
        &mut self,
        endpoint: u8,
        kind: Tagging,
        pattern: ReceivePattern,
        into: D,
    ) -> bool {
        let matcher = self.arrivals.inbox.matcher(endpoint, kind);
        // It is posted where it is made: what may be needed elsewhere too is made in between.
        let position = matcher.post(pattern, into);
        let is_posted = !matcher.has_unexpected();
        if !is_posted {
            self.receive_unexpected(endpoint, kind, position);
        }
        is_posted
    }

    /// A receive was posted that may want messages that are here.
    #[inline(never)]
    fn receive_unexpected(&mut self, endpoint: u8, kind: Tagging, position: Position) {
        let Some((pattern, mut into)) =
            self.arrivals.inbox.matcher(endpoint, kind).take_back(position)
        else {
            return;
        };
        while let Some(position) =
            self.arrivals.inbox.matcher(endpoint, kind).find_unexpected(&pattern)
        {
            let length = self
                .arrivals
                .inbox
                .matcher(endpoint, kind)
                .unexpected(position)
                .map(|found| found.length);
            let (part, more) = match into.split(length.unwrap_or(0)) {
                None => (into, None),
                Some((part, last)) => (part, (!last).then_some(into)),
            };
            if let Some((envelope, key)) =
                self.arrivals.inbox.matcher(endpoint, kind).take_unexpected(position)
            {
                self.take_stored(endpoint, (envelope, key), part);
            }
            match more {
                None => return,
                Some(rest) => into = rest,
            }
        }
        self.arrivals.inbox.matcher(endpoint, kind).post(pattern, into);
    }

    /// The first unexpected message that such a receive would get; it stays where it is.
    pub fn peek(
        &mut self,
        endpoint: u8,
        kind: Tagging,
        pattern: &ReceivePattern,
    ) -> Option<MessageEnvelope> {
        self.arrivals.inbox.peek(endpoint, kind, pattern)
    }

    /// Does what [`Self::peek`] does, and puts the message by: only [`Self::receive_claimed`] and
    /// [`Self::discard_claimed`] get it, by this number, which is the caller's and of no message
    /// claimed already.
    pub fn claim(
        &mut self,
        endpoint: u8,
        kind: Tagging,
        pattern: &ReceivePattern,
        number: u64,
    ) -> Option<MessageEnvelope> {
        let message = self.arrivals.inbox.take_first(endpoint, kind, pattern)?;
        self.arrivals.inbox.claim(endpoint, number, message);
        Some(message.0)
    }

    /// True if this endpoint has claimed a message by this number.
    pub fn has_claimed(&self, endpoint: u8, number: u64) -> bool {
        self.arrivals.inbox.has_claimed(endpoint, number)
    }

    /// Receives the message that was claimed. Gives `into` back if none was.
    ///
    /// # Errors
    /// `into`, if there is no such message.
    pub fn receive_claimed(
        &mut self,
        endpoint: u8,
        number: u64,
        into: D,
    ) -> std::result::Result<(), D> {
        match self.arrivals.inbox.take_claimed(endpoint, number) {
            None => Err(into),
            Some(message) => {
                self.take_stored(endpoint, message, into);
                Ok(())
            }
        }
    }

    /// Drops the message that was claimed. Returns its envelope.
    pub fn discard_claimed(&mut self, endpoint: u8, number: u64) -> Option<MessageEnvelope> {
        let message = self.arrivals.inbox.take_claimed(endpoint, number)?;
        self.discard_stored(message);
        Some(message.0)
    }

    /// Drops the first unexpected message that such a receive would get. Returns its
    /// envelope.
    pub fn discard(
        &mut self,
        endpoint: u8,
        kind: Tagging,
        pattern: &ReceivePattern,
    ) -> Option<MessageEnvelope> {
        let message = self.arrivals.inbox.take_first(endpoint, kind, pattern)?;
        self.discard_stored(message);
        Some(message.0)
    }

    /// Takes back the first posted receive of which `is_it` says so. One that has a message already
    /// goes on.
    pub fn cancel(&mut self, endpoint: u8, is_it: impl Fn(&D) -> bool) -> Option<D> {
        self.arrivals.inbox.cancel(endpoint, is_it)
    }

    /// True if as many messages wait at `to` for their receives as may: none is sent there until
    /// one of them is received.
    pub fn is_full(&self, to: Rank) -> bool {
        !self.sends.requests(to).has_room()
    }

    /// Messages that are here and that no receive has asked for.
    #[inline(always)]
    pub fn unexpected_count(&self) -> usize {
        self.arrivals.inbox.count()
    }

    /// Bytes of unexpected messages that are stored here, for tests of the bound.
    pub fn unexpected_bytes(&self) -> usize {
        self.arrivals.inbox.bytes()
    }

    /// A receive gets an unexpected message.
    fn take_stored(&mut self, to: u8, message: (MessageEnvelope, StoredKey), into: D) {
        if let Some((own, mut into)) = self.arrivals.take_stored(to, message, into) {
            self.sends.end_own(own, |source| copy(source, &mut into));
            self.arrivals.received.push_back((into, message.0));
        }
    }

    fn discard_stored(&mut self, message: (MessageEnvelope, StoredKey)) {
        if let Some(own) = self.arrivals.discard_stored(message) {
            self.sends.end_own(own, |_| ());
        }
    }

    /// Sends a message. Never blocks. `to` is a rank of the job.
    ///
    /// # Errors
    /// Those of the network.
    pub fn send<N: TaggedNetwork>(
        &mut self,
        network: &mut N,
        message: &SendParameters,
        source: S,
    ) -> Result<Sending<S>> {
        match message.to.rank == self.rank {
            true => Ok(self.send_here(message, source)),
            false => self.sends.send(network, message, source),
        }
    }

    /// Sends a message of a few bytes of which nobody wants to hear more, to another rank, if that
    /// may be done at once. False if not: nothing has happened then, and [`Self::send`] may do it.
    #[inline(always)]
    pub fn send_short<N: TaggedNetwork>(
        &mut self,
        network: &mut N,
        message: &SendParameters,
        bytes: &[u8],
    ) -> bool {
        self.sends.send_short(network, message, bytes)
    }

    /// A message of this rank to itself.
    fn send_here(&mut self, message: &SendParameters, source: S) -> Sending<S> {
        let (to, length) = (message.to.endpoint, source.length());
        let envelope = self.sends.envelope(message, length);
        let Arrivals { inbox, received, .. } = &mut self.arrivals;
        if let Some(mut into) = inbox.wanted(to, &envelope) {
            copy(&source, &mut into);
            received.push_back((into, envelope));
            return Sending::Sent(source);
        }
        if inbox.is_closed(to) {
            return Sending::Sent(source);
        }
        if self.arrivals.keeps_own(length) {
            let mut bytes = Vec::with_capacity(length as usize);
            source.pieces(0, length as usize, &mut |piece| bytes.extend_from_slice(piece));
            self.arrivals.inbox.store(to, envelope, Stored::Bytes { bytes, registered: None });
            return Sending::Sent(source);
        }
        match self.sends.keep_own(message.from, source) {
            Err(source) => Sending::Again(source),
            Ok(key) => {
                self.arrivals.inbox.store(to, envelope, Stored::Own(key));
                Sending::Kept
            }
        }
    }

    /// Takes one packet of `from`. Of what ended [`Self::event`] tells. Where the network has read
    /// bytes where they belong, the packet need not have them.
    ///
    /// # Errors
    /// [`Error::Violation`] if no peer sends that; nothing has changed then.
    pub fn arrive<N: TaggedNetwork>(
        &mut self,
        network: &mut N,
        from: Rank,
        packet: &[u8],
    ) -> Result<()> {
        let arrivals = &mut self.arrivals;
        let outcome = match parse(from, packet) {
            Some(TaggedPacket::First { to, envelope, number, bytes }) => {
                arrivals.handle_first(network, to, envelope, number, bytes)
            }
            Some(TaggedPacket::More { number, offset, bytes }) => {
                arrivals.handle_more(network, from, (number, offset), bytes)
            }
            Some(TaggedPacket::Part { own, offset, bytes }) => {
                arrivals.handle_part(network, from, (own, offset), bytes)
            }
            _ => return self.arrive_inside(from, packet).map(drop),
        };
        outcome.map_err(|what| Error::Violation { from, what })
    }

    /// Does what [`Self::arrive`] does, inside the network's lock. False if that takes the
    /// network, as the bytes of long messages do: nothing has happened then.
    ///
    /// # Errors
    /// Those of [`Self::arrive`].
    pub fn arrive_inside(&mut self, from: Rank, packet: &[u8]) -> Result<bool> {
        if is_one_of_several(packet) && parse(from, packet).is_some() {
            return Ok(false);
        }
        let outcome = match parse_whole(from, packet) {
            Some(whole) => self.arrivals.handle_whole(whole),
            None => self.handle_other(from, packet),
        };
        outcome.map(|()| true).map_err(|what| Error::Violation { from, what })
    }

    /// Takes one packet of `from` if it goes the way of most: a message that the first posted
    /// receive wants, and `receiver` too, which gets both. Of that no [event](Self::event) tells.
    /// False if it goes the way of [others](Self::arrive): nothing has happened then.
    #[inline(always)]
    pub fn arrive_expected(
        &mut self,
        from: Rank,
        packet: &[u8],
        receiver: &mut impl Receiver<D>,
    ) -> bool {
        self.arrivals.take_expected(from, packet, receiver)
    }

    /// Takes a packet that is no whole message.
    #[inline(never)]
    fn handle_other(&mut self, from: Rank, packet: &[u8]) -> Taken {
        match parse(from, packet) {
            Some(TaggedPacket::Request { to, envelope, number, lies_at, wants_done }) => {
                let asked = RendezvousRequest { number, lies_at, wants_done };
                self.arrivals.handle_request(to, envelope, asked)
            }
            Some(TaggedPacket::Grant { number, own, length, zero_copy }) => {
                self.sends.handle_grant(from, number, own, (length, zero_copy))
            }
            Some(TaggedPacket::Done { number }) => self.sends.handle_done(from, number),
            Some(TaggedPacket::Consumed { amount }) => self.sends.handle_consumed(from, amount),
            Some(TaggedPacket::Left) => {
                self.give_up(from);
                Ok(())
            }
            _ => Err("a packet that is none"),
        }
    }

    /// True if packets without bytes wait for room.
    #[inline(always)]
    pub fn has_answers(&self) -> bool {
        !self.arrivals.answers.is_empty()
    }

    /// True if something waits for room.
    #[inline]
    pub fn has_to_transmit(&self) -> bool {
        let Arrivals { answers, receives, .. } = &self.arrivals;
        // Six loads, and one branch: this is asked at each look.
        (answers.len() | receives.waiting() | self.sends.waiting()) > 0
    }

    /// Sends what waits for room, as far as there is some, and fetches some of what there is to
    /// fetch. True if there was any of that.
    ///
    /// # Errors
    /// Those of the network.
    pub fn transmit<N: TaggedNetwork>(&mut self, network: &mut N) -> Result<bool> {
        let any = self.arrivals.transmit(network)?;
        // Messages leave when all answers have.
        Ok(any | (!self.has_answers() && self.sends.transmit(network)?))
    }

    /// True if messages are to come without a copy: of those no packet tells.
    #[inline]
    pub fn awaits_zero_copy(&self) -> bool {
        self.arrivals.receives.awaits_zero_copy()
    }

    /// True if messages are to come without a copy, or may have left so and not be gone.
    pub fn may_carry(&self) -> bool {
        self.awaits_zero_copy() || self.sends.has_lent()
    }

    /// Has the network write into no receive any more: nothing is taken from it from here on.
    pub fn call_off<N: TaggedNetwork>(&mut self, network: &mut N) {
        self.arrivals.receives.call_off(network);
    }

    /// Object of the wait of a program that does nothing else; `None` if nothing is under way. Any
    /// of that may be what it wants.
    pub fn awaited(&self) -> Option<Awaited> {
        awaited::of(&self.sends, &self.arrivals)
    }

    /// Nothing is received at an endpoint any more: takes back its posted receives, and drops the
    /// messages for it that are here and those that come, until it is [opened](Self::open). Their
    /// senders are answered as if they had been received. Receives that have begun go on.
    pub fn close(&mut self, endpoint: u8) -> Vec<D> {
        let (posted, messages) = self.arrivals.inbox.close(endpoint);
        messages.into_iter().for_each(|message| self.discard_stored(message));
        posted
    }

    /// Has what comes for an endpoint from now on wait there for its receive, as at all those that
    /// were never closed.
    pub fn open(&mut self, endpoint: u8) {
        self.arrivals.inbox.open(endpoint);
    }

    /// True if sends and receives of an endpoint go on that have begun: they use the program's
    /// memory.
    pub fn is_busy(&self, endpoint: u8) -> bool {
        self.sends.is_busy(endpoint) || self.arrivals.receives.is_busy(endpoint)
    }

    /// True if everything that was begun here has been sent: sends that wait for their receivers
    /// have not.
    pub fn is_idle(&self) -> bool {
        !self.has_answers() && self.arrivals.receives.waiting() == 0 && self.sends.is_idle()
    }

    /// This rank leaves the job: says so to `others`, but for those that have left before. To be
    /// called when everything that was begun has ended.
    pub fn leave(&mut self, others: impl IntoIterator<Item = Rank>) {
        for other in others {
            if other != self.rank && !self.has_left(other) {
                self.arrivals.answers.push(other, TaggedPacket::Left.head(), Gives::Nothing);
            }
        }
    }

    /// True if it is known of a rank that it has left the job.
    pub fn has_left(&self, rank: Rank) -> bool {
        self.sends.has_left(rank)
    }

    /// Ends all sends to a rank that has left the job, because nobody receives them, and drops what
    /// it was to hear.
    pub fn give_up(&mut self, on: Rank) {
        if self.sends.give_up(on) {
            self.arrivals.answers.forget(on);
        }
    }
}

/// Copies a message of this rank to itself.
fn copy<S: SendSource, D: Sink>(source: &S, into: &mut D) {
    let length = source.length().min(into.capacity());
    let mut at = 0;
    source.pieces(0, length as usize, &mut |bytes| {
        into.place(at, bytes);
        at += bytes.len() as u64;
    });
}

#[cfg(test)]
mod tests;
