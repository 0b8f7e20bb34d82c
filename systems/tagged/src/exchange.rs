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
//! Who closes an endpoint wants nothing more there: what is stored for it and what comes later is
//! dropped, and its senders are answered as if it had been received, so that their sends end. Who
//! leaves the job says so (`left`), because from then on nobody answers for it.

mod arriving;
mod awaited;
mod ending;
mod fetching;
mod leaving;
mod posted;
mod ways;

use crate::format::{Head, Packet};
use crate::matching::{Envelope, Matcher, Pattern, Position};
use crate::network::{Sink, Source};
use crate::peer::{Flow, window_of};
use crate::{Address, Kind};
use posted::{Begins, Posted, Posting};
use slotmap::{KeyData, SlotMap, new_key_type};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::num::NonZero;
use weft_endpoint::Rank;

new_key_type! {
    struct SendKey;
    struct ReceiveKey;
    struct StoredKey;
}

/// Parameters of a send, besides its bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Outgoing {
    /// To whom.
    pub to: Address,
    /// From which endpoint of this rank.
    pub from: u8,
    /// Tagged or not.
    pub kind: Kind,
    /// Its tag; 0 if it has none.
    pub tag: u64,
    /// Data for the receiver, beside the bytes.
    pub data: Option<u64>,
    /// True if it ends only when all of it is where its receive wants it.
    pub wants_done: bool,
}

/// Result of beginning a send.
#[derive(Debug)]
#[must_use = "a send may have to be tried again"]
pub enum Sending<S> {
    /// Its bytes are on their way and may change.
    Sent(S),
    /// It goes on, and ends by an [`Event`].
    Kept,
    /// Nothing happened: there is no room now.
    Again(S),
}

/// Something ended.
#[derive(Debug)]
pub enum Event<S, D> {
    /// A send that was kept.
    Sent(S),
    /// A receive. Of a message longer than its capacity the rest is lost.
    Received {
        /// Memory that has its bytes.
        into: D,
        /// Envelope of the message.
        envelope: Envelope,
    },
}

/// The matchers of all endpoints that there may be, two of each. All are there from the start, so
/// that any number that a peer names has its own.
type Matchers<D> = Box<[[Matcher<D, StoredKey>; 2]; 1 << u8::BITS]>;

/// The messages of one rank, of all of its endpoints.
#[derive(Debug)]
pub struct Exchange<S, D> {
    rank: Rank,
    peers: Vec<Peer<S>>,
    /// By endpoint; of each for tagged messages, then for untagged ones.
    matchers: Matchers<D>,
    stored: SlotMap<StoredKey, Stored>,
    receives: SlotMap<ReceiveKey, Receive<D>>,
    sends: SlotMap<SendKey, Send<S>>,
    /// Messages that were claimed, by what their claimers call them.
    claimed: BTreeMap<(u8, u64), (Envelope, StoredKey)>,
    /// Receives that are to be posted, before anything leaves.
    posting: Vec<Posting>,
    /// Receives of messages that come without a copy.
    zero_copy: VecDeque<ReceiveKey>,
    /// Packets without bytes that wait for room.
    answers: VecDeque<Answer>,
    /// Peers with a message that left in part.
    leaving: VecDeque<Rank>,
    /// Sends whose receivers want them.
    granted: VecDeque<SendKey>,
    /// Sends that are over, but for packets that have bytes of theirs where they lie.
    lent: VecDeque<SendKey>,
    /// Receives whose bytes are fetched.
    fetching: VecDeque<ReceiveKey>,
    /// Sends and receives of each endpoint that have begun and not ended.
    unended: Box<[u32; 1 << u8::BITS]>,
    /// Endpoints that are closed: what comes for them nobody receives.
    closed: BTreeSet<u8>,
    events: VecDeque<Event<S, D>>,
}

/// A packet without bytes that waits for room.
#[derive(Debug)]
struct Answer {
    to: Rank,
    head: Head,
    gives: Gives,
}

/// The right to send more that an answer gives to its receiver: it has that once the answer has
/// left. Who returns no credits is answered nothing, and so gets to nothing more (I9).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Gives {
    Nothing,
    /// Another request.
    Request,
    /// So much of the window.
    Window(u64),
}

/// State about one rank, itself included.
#[derive(Debug)]
struct Peer<S> {
    flow: Flow,
    /// The message that it sends in several packets.
    arriving: Option<Arriving>,
    /// The message that goes to it in several packets.
    leaving: Option<Leaving<S>>,
    /// True if a fetch from it has failed.
    is_unfetchable: bool,
    /// True if long messages to it carry the address of their bytes.
    single_copy: bool,
    /// True if the network to it reads bytes where they belong.
    in_place: bool,
    /// Number of the next message to it that leaves in several packets.
    next: u64,
    /// Sends to it that have not ended, and receives from it whose messages come.
    sending: u32,
    coming: u32,
    /// True if it has left the job: it receives nothing any more.
    has_left: bool,
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

#[derive(Debug)]
struct Leaving<S> {
    /// The endpoint.
    from: u8,
    number: u64,
    source: S,
    sent: u64,
    /// Its packets leave from where its bytes lie, as far as the network does that.
    in_place: bool,
    /// Some did.
    is_lent: bool,
}

/// An unexpected message.
#[derive(Debug)]
enum Stored {
    /// These bytes have come, all of them or some; what the sender wants to hear when they are
    /// placed.
    Bytes { bytes: Vec<u8>, registered: Option<NonZero<u64>> },
    /// Its sender asked.
    Asking(Asked),
    /// It is this rank's own.
    Own(SendKey),
}

/// A receive whose message is not all here.
#[derive(Debug)]
struct Receive<D> {
    /// The endpoint.
    to: u8,
    into: D,
    envelope: Envelope,
    /// Bytes that come.
    expected: u64,
    received: u64,
    /// The network's share in placing its bytes.
    posted: Posted,
    /// The sender's request, if there was one: it is answered at the end.
    asked: Option<Asked>,
    /// Address of its bytes in the sender's process, if they are fetched.
    fetched_from: Option<NonZero<u64>>,
}

#[derive(Clone, Copy, Debug)]
struct Asked {
    number: u64,
    /// Address of its bytes in its process, if they can be fetched.
    lies_at: Option<NonZero<u64>>,
    wants_done: bool,
}

/// A send that asked.
#[derive(Debug)]
struct Send<S> {
    source: S,
    /// The endpoint.
    from: u8,
    to: Rank,
    /// True if its receiver was given the address of its bytes.
    was_offered: bool,
    wants_done: bool,
    /// True if packets leave from where its bytes lie.
    is_lent: bool,
    waits: Until,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Until {
    Granted,
    AllLeft {
        own: u64,
        length: u64,
        sent: u64,
        /// The receiver has memory for all of them at once.
        zero_copy: bool,
    },
    Done,
    /// The network has its bytes back.
    Back,
}

impl<S: Source, D: Sink> Exchange<S, D> {
    /// The messages of `rank` in a job of `ranks`.
    pub fn new(rank: Rank, ranks: usize) -> Self {
        let window = window_of(ranks);
        let peer = || Peer {
            flow: Flow::new(window),
            arriving: None,
            leaving: None,
            is_unfetchable: false,
            single_copy: false,
            in_place: false,
            next: 0,
            sending: 0,
            coming: 0,
            has_left: false,
        };
        Exchange {
            rank,
            peers: std::iter::repeat_with(peer).take(ranks).collect(),
            matchers: Box::new(std::array::from_fn(|_| Default::default())),
            stored: SlotMap::with_key(),
            receives: SlotMap::with_key(),
            sends: SlotMap::with_key(),
            claimed: BTreeMap::new(),
            posting: Vec::new(),
            zero_copy: VecDeque::new(),
            answers: VecDeque::new(),
            leaving: VecDeque::new(),
            granted: VecDeque::new(),
            lent: VecDeque::new(),
            fetching: VecDeque::new(),
            unended: Box::new([0; 1 << u8::BITS]),
            closed: BTreeSet::new(),
            events: VecDeque::new(),
        }
    }

    /// True if something ended.
    #[inline]
    pub fn has_event(&self) -> bool {
        !self.events.is_empty()
    }

    /// The next thing that ended.
    #[inline]
    pub fn event(&mut self) -> Option<Event<S, D>> {
        self.events.pop_front()
    }

    /// Receives a message into `into`: one that comes, or one that is here. True if there was none,
    /// so that nothing else has happened.
    #[inline(always)]
    pub fn receive(&mut self, endpoint: u8, kind: Kind, pattern: Pattern, into: D) -> bool {
        let matcher = self.matcher(endpoint, kind);
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
    fn receive_unexpected(&mut self, endpoint: u8, kind: Kind, position: Position) {
        let Some((pattern, mut into)) = self.matcher(endpoint, kind).take_back(position) else {
            return;
        };
        while let Some(position) = self.matcher(endpoint, kind).find_unexpected(&pattern) {
            let length =
                self.matcher(endpoint, kind).unexpected(position).map(|found| found.length);
            let (part, more) = match into.split(length.unwrap_or(0)) {
                None => (into, None),
                Some((part, last)) => (part, (!last).then_some(into)),
            };
            if let Some((envelope, key)) = self.matcher(endpoint, kind).take_unexpected(position) {
                self.take_stored(endpoint, envelope, key, part);
            }
            match more {
                None => return,
                Some(rest) => into = rest,
            }
        }
        self.matcher(endpoint, kind).post(pattern, into);
    }

    /// The first unexpected message that such a receive would get; it stays where it is.
    pub fn peek(&mut self, endpoint: u8, kind: Kind, pattern: &Pattern) -> Option<Envelope> {
        let matcher = self.matcher(endpoint, kind);
        let position = matcher.find_unexpected(pattern)?;
        matcher.unexpected(position).copied()
    }

    /// Does what [`Self::peek`] does, and puts the message by: only [`Self::receive_claimed`] and
    /// [`Self::discard_claimed`] get it, by this number, which is the caller's and of no message
    /// claimed already.
    pub fn claim(
        &mut self,
        endpoint: u8,
        kind: Kind,
        pattern: &Pattern,
        number: u64,
    ) -> Option<Envelope> {
        let matcher = self.matcher(endpoint, kind);
        let position = matcher.find_unexpected(pattern)?;
        let (envelope, key) = matcher.take_unexpected(position)?;
        self.claimed.insert((endpoint, number), (envelope, key));
        Some(envelope)
    }

    /// True if this endpoint has claimed a message by this number.
    pub fn has_claimed(&self, endpoint: u8, number: u64) -> bool {
        self.claimed.contains_key(&(endpoint, number))
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
        match self.claimed.remove(&(endpoint, number)) {
            None => Err(into),
            Some((envelope, key)) => {
                self.take_stored(endpoint, envelope, key, into);
                Ok(())
            }
        }
    }

    /// Drops the message that was claimed. Returns its envelope.
    pub fn discard_claimed(&mut self, endpoint: u8, number: u64) -> Option<Envelope> {
        let (envelope, key) = self.claimed.remove(&(endpoint, number))?;
        self.discard_stored(&envelope, key);
        Some(envelope)
    }

    /// Drops the first unexpected message that such a receive would get. Returns its
    /// envelope.
    pub fn discard(&mut self, endpoint: u8, kind: Kind, pattern: &Pattern) -> Option<Envelope> {
        let matcher = self.matcher(endpoint, kind);
        let position = matcher.find_unexpected(pattern)?;
        let (envelope, key) = matcher.take_unexpected(position)?;
        self.discard_stored(&envelope, key);
        Some(envelope)
    }

    /// Takes back the first posted receive of which `is_it` says so. One that has a message already
    /// goes on.
    pub fn cancel(&mut self, endpoint: u8, is_it: impl Fn(&D) -> bool) -> Option<D> {
        self.matchers[usize::from(endpoint)].iter_mut().find_map(|matcher| matcher.cancel(&is_it))
    }

    /// True if as many messages wait at `to` for their receives as may: none is sent there until
    /// one of them is received.
    pub fn is_full(&self, to: Rank) -> bool {
        !self.peers[to.index()].flow.may_ask()
    }

    /// Messages that are here and that no receive has asked for.
    #[inline(always)]
    pub fn unexpected_count(&self) -> usize {
        self.stored.len()
    }

    /// Bytes of unexpected messages that are stored here, for those who watch the bound.
    pub fn unexpected_bytes(&self) -> usize {
        let bytes = |stored: &Stored| match stored {
            Stored::Bytes { bytes, .. } => bytes.len(),
            _ => 0,
        };
        self.stored.values().map(bytes).sum()
    }

    #[inline]
    fn matcher(&mut self, endpoint: u8, kind: Kind) -> &mut Matcher<D, StoredKey> {
        &mut self.matchers[usize::from(endpoint)][kind_index(kind)]
    }

    /// A receive gets an unexpected message.
    fn take_stored(&mut self, to: u8, envelope: Envelope, key: StoredKey, mut into: D) {
        let source = envelope.source.rank;
        match self.stored.remove(key) {
            Some(Stored::Bytes { bytes, registered }) => {
                into.place(0, &bytes);
                if bytes.len() as u64 == envelope.length {
                    self.consumed(source, envelope.length);
                    self.placed(source, registered);
                    self.events.push_back(Event::Received { into, envelope });
                    return;
                }
                let (expected, received) = (envelope.length, bytes.len() as u64);
                let (asked, fetched_from) = (None, None);
                let posted = Posted::NEVER;
                let receive =
                    Receive { to, into, envelope, expected, received, posted, asked, fetched_from };
                let key = self.insert_receive(receive);
                if let Some(arriving) = &mut self.peers[source.index()].arriving {
                    arriving.to = Target::Receive(key);
                    self.posting.push(Posting { key, begins: Begins::Unasked(arriving.number) });
                }
            }
            Some(Stored::Asking(asked)) => self.grant(to, envelope, asked, into),
            Some(Stored::Own(send)) => {
                if let Some(send) = self.remove_send(send) {
                    copy(&send.source, &mut into);
                    self.peers[source.index()].flow.was_answered();
                    self.events.push_back(Event::Sent(send.source));
                }
                self.events.push_back(Event::Received { into, envelope });
            }
            None => {}
        }
    }

    fn discard_stored(&mut self, envelope: &Envelope, key: StoredKey) {
        let source = envelope.source.rank;
        match self.stored.remove(key) {
            Some(Stored::Bytes { bytes, registered }) if bytes.len() as u64 == envelope.length => {
                self.consumed(source, envelope.length);
                self.placed(source, registered);
            }
            Some(Stored::Bytes { .. }) => self.redirect(source, Target::Nowhere),
            Some(Stored::Asking(asked)) => self.refuse(source, asked),
            Some(Stored::Own(send)) => {
                if let Some(send) = self.remove_send(send) {
                    self.peers[source.index()].flow.was_answered();
                    self.events.push_back(Event::Sent(send.source));
                }
            }
            None => {}
        }
    }

    /// The rest of what arrives from `source` goes elsewhere.
    fn redirect(&mut self, source: Rank, to: Target) {
        if let Some(arriving) = &mut self.peers[source.index()].arriving {
            arriving.to = to;
        }
    }

    /// Counts a message as consumed that was received eagerly.
    #[inline]
    fn consumed(&mut self, source: Rank, length: u64) {
        let flow = &mut self.peers[source.index()].flow;
        if source == self.rank {
            let known = flow.reported(crate::peer::cost(length));
            debug_assert!(known, "what this rank has sent itself was taken from its window");
        } else if let Some(amount) = flow.consumed(length) {
            self.answer(source, Packet::Consumed { amount }, Gives::Window(amount));
        }
    }

    /// A message is where it belongs, or nobody wants it: tells its sender, if that wants to know.
    #[inline]
    fn placed(&mut self, source: Rank, registered: Option<NonZero<u64>>) {
        if let Some(number) = registered {
            self.answer(source, Packet::Done { number: number.get() }, Gives::Nothing);
        }
    }

    #[inline(never)]
    fn answer(&mut self, to: Rank, packet: Packet<'_>, gives: Gives) {
        self.answers.push_back(Answer { to, head: packet.head(), gives });
    }
}

/// The index of a kind of messages.
#[inline(always)]
fn kind_index(kind: Kind) -> usize {
    usize::from(kind == Kind::Untagged)
}

/// Copies a message of this rank to itself.
fn copy<S: Source, D: Sink>(source: &S, into: &mut D) {
    let length = source.length().min(into.capacity());
    let mut at = 0;
    source.pieces(0, length as usize, &mut |bytes| {
        into.place(at, bytes);
        at += bytes.len() as u64;
    });
}

fn send_key(number: u64) -> SendKey {
    KeyData::from_ffi(number).into()
}

fn receive_key(number: u64) -> ReceiveKey {
    KeyData::from_ffi(number).into()
}

#[cfg(test)]
mod tests;
