//! Accesses of this rank to memory of others.

use super::access::{Access, AccessOutcome, AccessRefused, MOST, Submission};
use super::atomic::AtomicAccess;
use super::format::{ACCESS, AccessSpan, OFFERED, PART, RemotePacket};
use crate::answers::{Answers, Bytes, Outstanding};
use crate::network::{SendSource, Sink, TaggedNetwork, lies_at};
use crate::{Result, Taken};
use slotmap::{Key, KeyData, SlotMap, new_key_type};
use std::collections::VecDeque;
use std::num::NonZero;
use weft_endpoint::Rank;

new_key_type! {
    pub(super) struct OpKey;
}

/// Bytes from which on a read is fetched: below that, one packet more costs what one copy less
/// saves.
const FETCHED_FROM: u64 = 128 * 1024;

/// Packets of writes that leave before the next look at what has arrived.
const PACKETS_AT_ONCE: usize = 8;

/// The accesses of this rank.
#[derive(Debug)]
pub(super) struct Origin<O> {
    peers: Vec<Peer>,
    pub(super) ops: SlotMap<OpKey, Op<O>>,
    /// Writes that left in part.
    leaving: VecDeque<OpKey>,
    /// Reads that it fetches.
    pub(super) fetching: VecDeque<OpKey>,
    /// Reports of fetches, and the read that ends with each.
    answers: Answers<Option<OpKey>>,
    /// True if offers of long writes carry the address of their bytes, and long reads ask for
    /// addresses.
    single_copy: bool,
    ended: VecDeque<(O, AccessOutcome)>,
}

/// State about one rank, itself included.
#[derive(Debug, Default)]
struct Peer {
    /// Accesses that have not ended.
    under_way: Outstanding<MOST>,
    /// The write that goes to it in several packets.
    leaving: Option<OpKey>,
    /// True if it could not fetch bytes that it was offered.
    is_unfetchable: bool,
    /// True if a fetch from it has failed.
    is_unreadable: bool,
    /// True if it has left the job, or is lost: it answers nothing.
    is_gone: bool,
}

/// An access.
#[derive(Debug)]
pub(super) struct Op<O> {
    op: O,
    /// The endpoint.
    from: u8,
    to: Rank,
    /// Address of its bytes, if it offers them.
    lies_at: Option<NonZero<u64>>,
    waits: Until,
}

#[derive(Clone, Copy, Debug)]
enum Until {
    /// All of a write has left.
    Left { span: AccessSpan, data: Option<u64>, sent: u64 },
    /// It is answered.
    Answered,
    /// So many bytes have come. If it may be said where they lie, nothing has yet.
    Received { received: u64, expected: u64, fetches: bool },
    /// They lie there, and this number of them was fetched.
    Fetched { lies_at: NonZero<u64>, received: u64, expected: u64 },
}

impl<O: SendSource + Sink> Origin<O> {
    /// Those of a rank in a job of `ranks`.
    pub fn new(ranks: usize) -> Self {
        Origin {
            peers: std::iter::repeat_with(Peer::default).take(ranks).collect(),
            ops: SlotMap::with_key(),
            leaving: VecDeque::new(),
            fetching: VecDeque::new(),
            answers: Answers::default(),
            single_copy: false,
            ended: VecDeque::new(),
        }
    }

    pub fn set_single_copy(&mut self, single_copy: bool) {
        self.single_copy = single_copy;
    }

    #[inline]
    pub fn has_ended(&self) -> bool {
        !self.ended.is_empty()
    }

    /// The next access that has ended.
    pub fn ended(&mut self) -> Option<(O, AccessOutcome)> {
        self.ended.pop_front()
    }

    pub fn is_busy(&self, endpoint: u8) -> bool {
        self.ops.values().any(|op| op.from == endpoint)
    }

    /// True if all have ended, and nothing is to be told of them.
    pub fn is_idle(&self) -> bool {
        self.ops.is_empty() && self.answers.is_empty()
    }

    pub fn owed(&self) -> usize {
        self.answers.len()
    }

    pub fn give_up(&mut self, on: Rank) {
        let over = self.ops.iter().filter(|(_, op)| op.to == on);
        for key in over.map(|(key, _)| key).collect::<Vec<_>>() {
            self.end(key, Err(AccessRefused::NoRegion));
        }
        let peer = &mut self.peers[on.index()];
        (peer.leaving, peer.is_gone) = (None, true);
    }

    /// The span of an access of this many bytes that may begin. Otherwise there is no room for it
    /// now, or no region is so large.
    pub fn may_begin(
        &mut self,
        access: &Access,
        length: u64,
        op: O,
    ) -> std::result::Result<(AccessSpan, O), Submission<O>> {
        let Access { to, from, key, offset } = *access;
        let Some(end) = offset.checked_add(length) else {
            self.end_at_once(op, Err(AccessRefused::Beyond));
            return Err(Submission::Kept);
        };
        let peer = &self.peers[to.rank.index()];
        if peer.is_gone {
            self.end_at_once(op, Err(AccessRefused::NoRegion));
            return Err(Submission::Kept);
        }
        match peer.under_way.has_room() && peer.leaving.is_none() {
            true => Ok((AccessSpan { to: to.endpoint, from, key, offset, end }, op)),
            false => Err(Submission::Again(op)),
        }
    }

    pub fn write<N: TaggedNetwork>(
        &mut self,
        network: &mut N,
        access: &Access,
        (span, data): (AccessSpan, Option<u64>),
        op: O,
    ) -> Result<Submission<O>> {
        let to = access.to.rank;
        let fits = head_bytes(data) as u64 + span.length() <= network.payload_to(to) as u64;
        let op = if fits { op } else { op.keep() };
        let may_offer = !fits && self.single_copy && !self.peers[to.index()].is_unfetchable;
        let lies_at = if may_offer && network.is_fetched_by(to) { lies_at(&op) } else { None };
        let key = self.begin((access.from, to), lies_at, Until::Left { span, data, sent: 0 }, op);
        match self.send_piece(network, key) {
            Ok(Some(false)) => {
                self.peers[to.index()].leaving = Some(key);
                self.leaving.push_back(key);
                Ok(Submission::Kept)
            }
            sent => self.began(key, sent.map(|sent| sent.is_some())),
        }
    }

    pub fn read<N: TaggedNetwork>(
        &mut self,
        network: &mut N,
        access: &Access,
        span: AccessSpan,
        mut op: O,
    ) -> Result<Submission<O>> {
        let to = access.to.rank;
        let fetches = self.may_fetch(network, to, &mut op);
        let waits = Until::Received { received: 0, expected: span.length(), fetches };
        let key = self.begin((access.from, to), None, waits, op);
        let head = RemotePacket::Read { span, number: key.data().as_ffi(), fetches }.head();
        let sent = network.send::<O>(to, head.bytes(), None);
        self.began(key, sent)
    }

    pub fn atomic<N: TaggedNetwork>(
        &mut self,
        network: &mut N,
        access: &Access,
        (span, atomic, fetches): (AccessSpan, AtomicAccess, bool),
        operands: &[u8],
        op: O,
    ) -> Result<Submission<O>> {
        let (to, expected) = (access.to.rank, span.length());
        let waits = match fetches {
            true => Until::Received { received: 0, expected, fetches: false },
            false => Until::Answered,
        };
        let key = self.begin((access.from, to), None, waits, op);
        let number = key.data().as_ffi();
        let head = RemotePacket::Atomic { span, number, atomic, fetches, operands: &[] }.head();
        let body = Some((&Bytes(operands), 0, operands.len()));
        let sent = network.send(to, head.bytes(), body);
        self.began(key, sent)
    }

    fn begin(
        &mut self,
        (from, to): (u8, Rank),
        lies_at: Option<NonZero<u64>>,
        waits: Until,
        op: O,
    ) -> OpKey {
        let has_room = self.peers[to.index()].under_way.ask();
        debug_assert!(has_room, "whoever begins has asked for room");
        self.ops.insert(Op { op, from, to, lies_at, waits })
    }

    /// Keeps a write of `rank` to itself until it is answered. Returns its number.
    pub fn keep_own(&mut self, rank: Rank, span: &AccessSpan, op: O) -> u64 {
        self.begin((span.from, rank), None, Until::Answered, op).data().as_ffi()
    }

    /// Notes the result of sending the one packet of an access.
    fn began(&mut self, key: OpKey, sent: Result<bool>) -> Result<Submission<O>> {
        if let Ok(true) = sent {
            return Ok(Submission::Kept);
        }
        // Nothing of it has left.
        let Some(Op { op, to, .. }) = self.ops.remove(key) else {
            unreachable!("it was put there by the caller")
        };
        self.peers[to.index()].under_way.answered();
        sent.map(|_| Submission::Again(op))
    }

    /// Ends an access that has not begun.
    pub fn end_at_once(&mut self, op: O, outcome: AccessOutcome) {
        self.ended.push_back((op, outcome));
    }

    pub fn end(&mut self, key: OpKey, outcome: AccessOutcome) {
        if let Some(Op { op, to, .. }) = self.ops.remove(key) {
            self.peers[to.index()].under_way.answered();
            self.end_at_once(op, outcome);
        }
    }

    #[inline]
    pub fn has_to_transmit(&self) -> bool {
        (self.answers.len() | self.leaving.len() | self.fetching.len()) > 0
    }

    /// Sends pieces of writes, as far as there is room. True if there were any.
    pub fn transmit<N: TaggedNetwork>(&mut self, network: &mut N) -> Result<bool> {
        let mut any = false;
        for _ in 0..PACKETS_AT_ONCE {
            let Some(key) = self.leaving.pop_front() else { break };
            match self.send_piece(network, key)? {
                None => {
                    self.leaving.push_front(key);
                    break;
                }
                Some(all) if !all => self.leaving.push_back(key),
                Some(_) => {}
            }
            any = true;
        }
        Ok(any)
    }

    /// Operation under way to `from` with this number.
    fn op_of(&mut self, from: Rank, number: u64) -> Option<(OpKey, &mut Op<O>)> {
        let key = op_key(number);
        self.ops.get_mut(key).filter(|op| op.to == from).map(|op| (key, op))
    }

    /// Sends the next packet of a write. True if it was the last; `None` if there is no room.
    fn send_piece<N: TaggedNetwork>(
        &mut self,
        network: &mut N,
        key: OpKey,
    ) -> Result<Option<bool>> {
        let Some(op) = self.ops.get_mut(key) else { return Ok(Some(true)) };
        let Until::Left { span, data, sent } = op.waits else { return Ok(Some(true)) };
        let piece = AccessSpan { offset: span.offset + sent, ..span };
        let number = key.data().as_ffi();
        let (head, length, body) = match op.lies_at {
            Some(start) => {
                let lies_at = start.saturating_add(sent);
                (RemotePacket::Offer { span: piece, number, lies_at, data }, piece.offered(), None)
            }
            None => {
                let room = network.payload_to(op.to) - head_bytes(data);
                let length = piece.length().min(room as u64);
                let body = Some((&op.op, sent, length as usize));
                (RemotePacket::Write { span: piece, number, data, bytes: &[] }, length, body)
            }
        };
        if !network.send(op.to, head.head().bytes(), body)? {
            return Ok(None);
        }
        let sent = sent + length;
        if sent < span.length() {
            op.waits = Until::Left { span, data, sent };
            return Ok(Some(false));
        }
        op.waits = Until::Answered;
        self.peers[op.to.index()].leaving = None;
        Ok(Some(true))
    }

    pub fn handle_part(&mut self, from: Rank, number: u64, bytes: &[u8]) -> Taken {
        let Some((key, op)) = self.op_of(from, number) else {
            return Err("what was not asked for");
        };
        let Until::Received { received, expected, .. } = op.waits else {
            return Err("bytes to one who writes or fetches");
        };
        let now = received + bytes.len() as u64;
        if bytes.is_empty() || now > expected {
            return Err("more than was asked for");
        }
        op.op.place(received, bytes);
        op.waits = Until::Received { received: now, expected, fetches: false };
        if now == expected {
            self.end(key, Ok(()));
        }
        Ok(())
    }

    pub fn handle_address(&mut self, from: Rank, number: u64, lies_at: NonZero<u64>) -> Taken {
        let Some((key, op)) = self.op_of(from, number) else {
            return Err("where what was not asked for lies");
        };
        let Until::Received { expected, fetches: true, .. } = op.waits else {
            return Err("an address to one who did not ask for it");
        };
        if lies_at.checked_add(expected).is_none() {
            return Err("bytes that lie nowhere");
        }
        op.waits = Until::Fetched { lies_at, received: 0, expected };
        self.fetching.push_back(key);
        Ok(())
    }

    /// True if a read may be answered with the address of its bytes: they go to one place, and are
    /// worth a system call.
    fn may_fetch<N: TaggedNetwork>(&self, network: &mut N, from: Rank, op: &mut O) -> bool {
        let length = op.capacity();
        self.single_copy
            && length >= FETCHED_FROM
            && !self.peers[from.index()].is_unreadable
            && op.room(0, length as usize).is_some()
            && network.fetch(from, 0, &mut [])
    }

    /// Fetches some of the reads that are fetched, in turn, and tells of those that are over. True
    /// if there are any.
    pub fn fetch<N: TaggedNetwork>(&mut self, network: &mut N) -> Result<bool> {
        let mut left = OFFERED;
        let any = !self.fetching.is_empty();
        while left > 0
            && let Some(key) = self.fetching.pop_front()
        {
            left -= self.fetch_piece(network, key, left);
        }
        let mut over = Vec::new();
        let told = self.answers.send(network, |_, key| over.extend(key))?;
        over.into_iter().for_each(|key| self.end(key, Ok(())));
        Ok(any | told)
    }

    /// Fetches up to `most` bytes. How many it were.
    fn fetch_piece<N: TaggedNetwork>(&mut self, network: &mut N, key: OpKey, most: u64) -> u64 {
        let Some(op) = self.ops.get_mut(key) else { return 0 };
        let Until::Fetched { lies_at, received, expected } = op.waits else { return 0 };
        let (from, length) = (op.to, most.min(expected - received));
        let room = op.op.room(received, length as usize);
        let is_there = room.is_some_and(|room| network.fetch(from, lies_at.get() + received, room));
        let now = received + length;
        if is_there && now < expected {
            op.waits = Until::Fetched { lies_at, received: now, expected };
            self.fetching.push_back(key);
            return length;
        }
        if !is_there {
            // All of it is sent, then.
            op.waits = Until::Received { received: 0, expected, fetches: false };
            self.peers[from.index()].is_unreadable = true;
        }
        let head = RemotePacket::Fetched { number: key.data().as_ffi(), all: is_there }.head();
        self.answers.push(from, head, is_there.then_some(key));
        if is_there { length } else { 0 }
    }

    pub fn handle_ended(&mut self, from: Rank, number: u64, outcome: AccessOutcome) -> Taken {
        let Some((key, op)) = self.op_of(from, number) else {
            return Err("the end of what did not begin");
        };
        let unfetchable = outcome == Err(AccessRefused::Unfetchable);
        let fits = match op.waits {
            Until::Answered => op.lies_at.is_some() || !unfetchable,
            Until::Left { .. } | Until::Fetched { .. } => false,
            Until::Received { expected, .. } => !unfetchable && (outcome.is_err() || expected == 0),
        };
        if !fits {
            return Err("the end of what goes on");
        }
        self.peers[from.index()].is_unfetchable |= unfetchable;
        self.end(key, outcome);
        Ok(())
    }
}

/// Bytes that one atomic access may have, with packets of `payload` bytes.
pub fn atomic_bytes(payload: usize, atomic: AtomicAccess) -> usize {
    let room = payload - ACCESS.max(PART);
    room / atomic.operation.operands().max(1)
}

/// Bytes of a write's packets before those of the program.
fn head_bytes(data: Option<u64>) -> usize {
    ACCESS + if data.is_some() { size_of::<u64>() } else { 0 }
}

pub(super) fn op_key(number: u64) -> OpKey {
    KeyData::from_ffi(number).into()
}
