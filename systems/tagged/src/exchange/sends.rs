//! Messages of this rank, from their calls until their bytes are the program's again.

use super::leaving::{Leaving, is_parted, most_first};
use super::parameters::{SendParameters, Sending};
use crate::answers::Outstanding;
use crate::format::{FIRST, PART, REGISTERED, TaggedPacket, Whole, part_head, short_head};
use crate::matching::MessageEnvelope;
use crate::network::{Parted, SendSource, TaggedNetwork, lies_at};
use crate::peer::{EAGER_BYTES, MOST_REQUESTS, Window, window_of};
use crate::{Address, Result, Taken};
use slotmap::{Key, KeyData, SlotMap, new_key_type};
use std::collections::VecDeque;
use std::num::NonZero;
use weft_endpoint::Rank;

new_key_type! {
    pub(super) struct SendKey;
}

/// Packets of granted messages that leave before the next look at what has arrived.
const PARTS_AT_ONCE: usize = 8;

/// The messages that a rank sends, of all of its endpoints.
#[derive(Debug)]
pub(super) struct Sends<S> {
    rank: Rank,
    peers: Vec<Peer<S>>,
    /// Those that asked, or wait to hear more.
    pub all: SlotMap<SendKey, Send<S>>,
    /// Peers with a message that left in part.
    leaving: VecDeque<Rank>,
    /// Those whose receivers want them.
    pub granted: VecDeque<SendKey>,
    /// Those that are over, but for packets that have bytes of theirs where they lie.
    lent: VecDeque<SendKey>,
    /// Those of each endpoint that have begun and not ended.
    unended: Box<[u32; 1 << u8::BITS]>,
    /// Those that have ended after their calls.
    pub sent: VecDeque<S>,
}

/// State about one receiver, this rank included.
#[derive(Debug)]
struct Peer<S> {
    window: Window,
    /// The message that goes to it in several packets.
    leaving: Option<Leaving<S>>,
    /// True if long messages to it carry the address of their bytes.
    single_copy: bool,
    /// True if the network to it reads bytes where they belong.
    in_place: bool,
    /// Number of the next message to it that leaves in several packets.
    next: u64,
    /// Sends to it that have not ended.
    sending: u32,
    /// True if it has left the job: it receives nothing any more.
    has_left: bool,
}

/// A send that asked.
#[derive(Debug)]
pub(super) struct Send<S> {
    source: S,
    /// The endpoint.
    from: u8,
    to: Rank,
    /// True if its receiver was given the address of its bytes.
    was_offered: bool,
    wants_done: bool,
    /// True if packets leave from where its bytes lie.
    is_lent: bool,
    pub waits: Until,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Until {
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

impl<S: SendSource> Peer<S> {
    /// True if a message of these bytes may be sent eagerly, and is not better fetched.
    #[inline]
    fn may_send<B: SendSource>(&self, source: &B) -> bool {
        self.window.may_send(source.length()) && !(self.single_copy && lies_at(source).is_some())
    }

    /// True if a message of these bytes may be sent eagerly because it leaves from where they lie.
    fn may_send_in_place<B: SendSource>(&self, source: &B, message: &SendParameters) -> bool {
        let length = source.length();
        self.in_place
            && !message.wants_done
            && length > EAGER_BYTES
            && self.window.may_send_in_place(length)
            && source.lies_at().is_some()
    }
}

impl<S: SendSource> Sends<S> {
    /// Those of `rank` in a job of `ranks`.
    pub fn new(rank: Rank, ranks: usize) -> Self {
        let peer = || Peer {
            window: Window::new(window_of(ranks)),
            leaving: None,
            single_copy: false,
            in_place: false,
            next: 0,
            sending: 0,
            has_left: false,
        };
        Sends {
            rank,
            peers: std::iter::repeat_with(peer).take(ranks).collect(),
            all: SlotMap::with_key(),
            leaving: VecDeque::new(),
            granted: VecDeque::new(),
            lent: VecDeque::new(),
            unended: Box::new([0; 1 << u8::BITS]),
            sent: VecDeque::new(),
        }
    }

    /// Chooses those whose long messages carry the address of their bytes.
    pub fn set_single_copy(&mut self, single_copy: impl Fn(Rank) -> bool) {
        for (rank, peer) in (0..).map(Rank).zip(&mut self.peers) {
            peer.single_copy = single_copy(rank);
        }
    }

    /// Chooses those to whom the network reads bytes where they belong.
    pub fn set_in_place(&mut self, in_place: impl Fn(Rank) -> bool) {
        for (rank, peer) in (0..).map(Rank).zip(&mut self.peers) {
            peer.in_place = in_place(rank);
        }
    }

    /// The requests to a rank that were not answered.
    pub fn requests(&self, to: Rank) -> &Outstanding<MOST_REQUESTS> {
        &self.peers[to.index()].window.requests
    }

    /// The number of those to each rank that go on.
    pub fn sending(&self) -> impl Iterator<Item = u32> {
        self.peers.iter().map(|peer| peer.sending)
    }

    pub fn is_busy(&self, endpoint: u8) -> bool {
        self.unended[usize::from(endpoint)] > 0
    }

    /// True if none goes on, nor waits for its receiver.
    pub fn is_idle(&self) -> bool {
        self.leaving.is_empty() && self.all.is_empty()
    }

    pub fn has_left(&self, rank: Rank) -> bool {
        self.peers[rank.index()].has_left
    }

    /// True if the network may have bytes where they lie.
    pub fn has_lent(&self) -> bool {
        !self.lent.is_empty()
    }

    /// More than 0 if some wait for room.
    #[inline]
    pub fn waiting(&self) -> usize {
        self.leaving.len() | self.granted.len() | self.lent.len()
    }

    /// Sends a message to another rank.
    pub fn send<N: TaggedNetwork>(
        &mut self,
        network: &mut N,
        message: &SendParameters,
        source: S,
    ) -> Result<Sending<S>> {
        if self.send_eagerly(network, message, &source)? {
            return Ok(Sending::Sent(source));
        }
        let (to, length) = (message.to.rank, source.length());
        if self.has_left(to) {
            return Ok(Sending::Sent(source));
        }
        let envelope = self.envelope(message, length);
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
    pub fn send_short<N: TaggedNetwork>(
        &mut self,
        network: &mut N,
        message: &SendParameters,
        bytes: &[u8],
    ) -> bool {
        let (to, length) = (message.to, bytes.len() as u64);
        if to.rank == self.rank || message.wants_done {
            return false;
        }
        let head = short_head(to.endpoint, &self.envelope(message, length));
        let peer = &mut self.peers[to.rank.index()];
        if peer.leaving.is_some()
            || !peer.window.may_send(length)
            || !network.send_short(to.rank, head, bytes)
        {
            return false;
        }
        peer.window.sent(length);
        true
    }

    /// Sends a message of which nobody wants to hear more, if it fits into one
    /// packet and may go at once.
    fn send_eagerly<N: TaggedNetwork, B: SendSource>(
        &mut self,
        network: &mut N,
        message: &SendParameters,
        source: &B,
    ) -> Result<bool> {
        let (to, length) = (message.to, source.length());
        if message.wants_done {
            return Ok(false);
        }
        let envelope = self.envelope(message, length);
        let peer = &mut self.peers[to.rank.index()];
        if peer.leaving.is_some() || is_parted(network, to.rank, length) || !peer.may_send(source) {
            return Ok(false);
        }
        let whole = Whole { to: to.endpoint, envelope, registered: None, bytes: &[] };
        let head = TaggedPacket::Whole(whole).head();
        let body = Some((source, 0, length as usize));
        let sent = network.send_at_once(to.rank, head.bytes(), body)?;
        if sent {
            peer.window.sent(length);
        }
        Ok(sent)
    }

    #[inline(always)]
    pub fn envelope(&self, message: &SendParameters, length: u64) -> MessageEnvelope {
        let &SendParameters { from, kind, tag, data, .. } = message;
        let source = Address { rank: self.rank, endpoint: from };
        MessageEnvelope { kind, source, tag, data, length }
    }

    /// Keeps a message of this rank to itself until it is received, if it may ask.
    pub fn keep_own(&mut self, from: u8, source: S) -> std::result::Result<SendKey, S> {
        if !self.peers[self.rank.index()].window.requests.ask() {
            return Err(source);
        }
        let (source, to, was_offered) = (source.keep(), self.rank, false);
        let (wants_done, is_lent, waits) = (false, false, Until::Granted);
        Ok(self.insert(Send { source, from, to, was_offered, wants_done, is_lent, waits }))
    }

    /// Ends a message of this rank to itself, which `take` may take the bytes of.
    pub fn end_own(&mut self, key: SendKey, take: impl FnOnce(&S)) {
        if let Some(send) = self.all.get(key) {
            take(&send.source);
            self.peers[self.rank.index()].window.requests.answered();
            self.end(key);
        }
    }

    /// A message whose sender wants to know when it is there.
    fn register<N: TaggedNetwork>(
        &mut self,
        network: &mut N,
        message: &SendParameters,
        envelope: MessageEnvelope,
        source: S,
    ) -> Result<Sending<S>> {
        let (rank, to, length) = (message.to.rank, message.to.endpoint, envelope.length);
        let packet_of = |number, _| {
            let registered = NonZero::new(number);
            TaggedPacket::Whole(Whole { to, envelope, registered, bytes: &[] })
        };
        let began =
            self.begin(network, message, source, (Until::Done, length as usize), packet_of)?;
        if let Sending::Kept = began {
            self.peers[rank.index()].window.sent(length);
        }
        Ok(began)
    }

    /// Asks whether the message may come.
    fn ask<N: TaggedNetwork>(
        &mut self,
        network: &mut N,
        message: &SendParameters,
        envelope: MessageEnvelope,
        source: S,
    ) -> Result<Sending<S>> {
        let (rank, to, wants_done) = (message.to.rank, message.to.endpoint, message.wants_done);
        if !self.peers[rank.index()].window.requests.has_room() {
            return Ok(Sending::Again(source));
        }
        let packet_of =
            |number, lies_at| TaggedPacket::Request { to, envelope, number, lies_at, wants_done };
        let began = self.begin(network, message, source, (Until::Granted, 0), packet_of)?;
        if let Sending::Kept = began {
            let asked = self.peers[rank.index()].window.requests.ask();
            debug_assert!(asked, "there was room above");
        }
        Ok(began)
    }

    /// Sends one packet, with so many bytes, of a message that is kept until more is heard of it.
    /// What it says has its number, and where its bytes lie if they may be fetched.
    fn begin<N: TaggedNetwork>(
        &mut self,
        network: &mut N,
        message: &SendParameters,
        source: S,
        (waits, length): (Until, usize),
        packet_of: impl FnOnce(u64, Option<NonZero<u64>>) -> TaggedPacket<'static>,
    ) -> Result<Sending<S>> {
        let &SendParameters { to, from, wants_done, .. } = message;
        let source = source.keep();
        let may_offer = self.peers[to.rank.index()].single_copy && waits == Until::Granted;
        let lies_at = if may_offer { lies_at(&source) } else { None };
        let was_offered = lies_at.is_some();
        let (to, is_lent) = (to.rank, false);
        let send = Send { source, from, to, was_offered, wants_done, is_lent, waits };
        let key = self.insert(send);
        let head = packet_of(key.data().as_ffi(), lies_at).head();
        let body = self.all.get(key).map(|send| (&send.source, 0, length));
        let sent = network.send(to, head.bytes(), body.filter(|_| length > 0));
        if let Ok(true) = sent {
            return Ok(Sending::Kept);
        }
        let Some(send) = self.remove(key) else { unreachable!("it was put there above") };
        sent.map(|_| Sending::Again(send.source))
    }

    /// Sends the first packet of a message, and as much of the rest as there is room for.
    fn send_first<N: TaggedNetwork>(
        &mut self,
        network: &mut N,
        to: Address,
        envelope: MessageEnvelope,
        source: S,
        in_place: bool,
    ) -> Result<Sending<S>> {
        let peer = &mut self.peers[to.rank.index()];
        let most = most_first(envelope.length, peer.in_place);
        let (room, number) = ((network.payload_to(to.rank) - FIRST).min(most), peer.next);
        let head = TaggedPacket::First { to: to.endpoint, envelope, number, bytes: &[] }.head();
        if !network.send(to.rank, head.bytes(), Some((&source, 0, room)))? {
            return Ok(Sending::Again(source));
        }
        peer.next += 1;
        peer.window.sent(envelope.length);
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
    fn wait_for_lent(&mut self, to: Rank, leaving: Leaving<S>) {
        let Leaving { from, source, .. } = leaving;
        let (was_offered, wants_done, is_lent, waits) = (false, false, true, Until::Back);
        let send = Send { source, from, to, was_offered, wants_done, is_lent, waits };
        let key = self.insert(send);
        self.lent.push_back(key);
    }

    /// Sends on what has begun, as far as there is room. True if there was any.
    pub fn transmit<N: TaggedNetwork>(&mut self, network: &mut N) -> Result<bool> {
        let mut any = false;
        for _ in 0..self.leaving.len() {
            let Some(to) = self.leaving.pop_front() else { break };
            let Some(leaving) = &mut self.peers[to.index()].leaving else { continue };
            let before = leaving.sent;
            let ended = leaving.go_on(network, to)?;
            any |= leaving.sent > before;
            match ended {
                false => self.leaving.push_back(to),
                true => self.end_leaving(to),
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
    fn end_lent<N: TaggedNetwork>(&mut self, network: &mut N) -> bool {
        let before = self.lent.len();
        for _ in 0..before {
            let Some(key) = self.lent.pop_front() else { break };
            match self.all.get(key) {
                Some(send) if !network.has_back(&send.source) => self.lent.push_back(key),
                _ => self.end(key),
            }
        }
        self.lent.len() < before
    }

    /// Sends a message that is wanted: all of it, or its next part. True if that was the last;
    /// `None` if there is no room.
    fn send_part<N: TaggedNetwork>(
        &mut self,
        network: &mut N,
        key: SendKey,
    ) -> Result<Option<bool>> {
        let Some(send) = self.all.get_mut(key) else { return Ok(Some(true)) };
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
            let head = TaggedPacket::Part { own, offset: sent, bytes: &[] }.head();
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

    /// The receiver of a message that asked wants this much of it.
    pub fn handle_grant(
        &mut self,
        from: Rank,
        number: u64,
        own: u64,
        (length, zero_copy): (u64, bool),
    ) -> Taken {
        let key = send_key(number);
        let Some(send) = self.all.get_mut(key).filter(|send| send.to == from) else {
            return Err("an answer that was not asked for");
        };
        if send.waits != Until::Granted || length > send.source.length() || from == self.rank {
            return Err("an answer that does not fit its request");
        }
        self.peers[from.index()].window.requests.answered();
        if length > 0 {
            send.waits = Until::AllLeft { own, length, sent: 0, zero_copy };
            self.granted.push_back(key);
        } else if send.wants_done {
            send.waits = Until::Done;
        } else {
            self.end(key);
        }
        Ok(())
    }

    /// All of a message is where its receive wants it.
    pub fn handle_done(&mut self, from: Rank, number: u64) -> Taken {
        let key = send_key(number);
        match self.all.get(key).filter(|send| send.to == from) {
            Some(send) if send.waits == Until::Done => {}
            // It was fetched.
            Some(send) if send.waits == Until::Granted && send.was_offered => {
                self.peers[from.index()].window.requests.answered();
            }
            _ => return Err("the end of a message that did not leave"),
        }
        self.end_sent(key);
        Ok(())
    }

    /// So much of what was sent eagerly is consumed.
    pub fn handle_consumed(&mut self, from: Rank, amount: u64) -> Taken {
        let fits = self.peers[from.index()].window.reported(amount);
        fits.then_some(()).ok_or("that it consumed what was never sent")
    }

    /// Ends all sends to a rank that has left, as nobody receives them. False if that was known.
    pub fn give_up(&mut self, on: Rank) -> bool {
        if std::mem::replace(&mut self.peers[on.index()].has_left, true) {
            return false;
        }
        self.end_leaving(on);
        let is_over = |send: &Send<S>| send.to == on && send.waits != Until::Back;
        let over = self.all.iter().filter(|(_, send)| is_over(send));
        for key in over.map(|(key, _)| key).collect::<Vec<_>>() {
            self.end_sent(key);
        }
        true
    }

    /// Ends the message that goes to a rank in several packets, if there is one, or has it wait for
    /// its bytes.
    fn end_leaving(&mut self, to: Rank) {
        let Some(leaving) = self.peers[to.index()].leaving.take() else { return };
        self.unended[usize::from(leaving.from)] -= 1;
        match leaving.is_lent {
            true => self.wait_for_lent(to, leaving),
            false => self.sent.push_back(leaving.source),
        }
    }

    /// Ends a send that is over, or has it wait for its bytes.
    fn end_sent(&mut self, key: SendKey) {
        match self.all.get_mut(key) {
            Some(send) if send.is_lent => {
                send.waits = Until::Back;
                self.lent.push_back(key);
            }
            _ => self.end(key),
        }
    }

    fn end(&mut self, key: SendKey) {
        if let Some(send) = self.remove(key) {
            self.sent.push_back(send.source);
        }
    }

    fn insert(&mut self, send: Send<S>) -> SendKey {
        self.unended[usize::from(send.from)] += 1;
        self.peers[send.to.index()].sending += 1;
        self.all.insert(send)
    }

    fn remove(&mut self, key: SendKey) -> Option<Send<S>> {
        let send = self.all.remove(key)?;
        self.unended[usize::from(send.from)] -= 1;
        self.peers[send.to.index()].sending -= 1;
        Some(send)
    }
}

fn send_key(number: u64) -> SendKey {
    KeyData::from_ffi(number).into()
}
