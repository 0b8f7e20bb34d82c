//! Accesses of this rank to memory of others.

use super::format::{ACCESS, OFFERED, PART, Packet, Span};
use super::op_key;
use super::{
    Access, Answer, Asking, Atomic, Bytes, Event, FETCHED_FROM, MOST, Op, OpKey, Outcome, Refused,
    Remote, Until,
};
use crate::Result;
use crate::network::{Network, Sink, Source, lies_at};
use slotmap::Key;
use std::num::NonZero;
use weft_endpoint::Rank;

impl<O: Source + Sink, R: Source + Sink> Remote<O, R> {
    /// Writes what `op` has to a region of another rank. `data` is told to the endpoint there.
    ///
    /// # Errors
    /// Those of the network.
    pub fn write<N: Network>(
        &mut self,
        network: &mut N,
        access: &Access,
        data: Option<u64>,
        op: O,
    ) -> Result<Asking<O>> {
        let to = access.to.rank;
        let Some(span) = access.span(op.length()) else { return Ok(self.refuse(op)) };
        if !self.may_begin(to) {
            return Ok(Asking::Again(op));
        }
        if to == self.rank {
            return Ok(self.write_here(span, data, op));
        }
        let fits = head_bytes(data) as u64 + span.length() <= network.payload_to(to) as u64;
        let op = if fits { op } else { op.keep() };
        let may_offer = !fits && self.single_copy && !self.peers[to.index()].is_unfetchable;
        let lies_at = if may_offer && network.is_fetched_by(to) { lies_at(&op) } else { None };
        let key = self.begin(access, lies_at, Until::Left { span, data, sent: 0 }, op);
        match self.send_piece(network, key) {
            Ok(Some(false)) => {
                self.peers[to.index()].leaving = Some(key);
                self.leaving.push_back(key);
                Ok(Asking::Kept)
            }
            sent => self.began(key, sent.map(|sent| sent.is_some())),
        }
    }

    /// Reads from a region of another rank as many bytes as `op` has room for.
    ///
    /// # Errors
    /// Those of the network.
    pub fn read<N: Network>(
        &mut self,
        network: &mut N,
        access: &Access,
        mut op: O,
    ) -> Result<Asking<O>> {
        let to = access.to.rank;
        let Some(span) = access.span(op.capacity()) else { return Ok(self.refuse(op)) };
        if !self.may_begin(to) {
            return Ok(Asking::Again(op));
        }
        if to == self.rank {
            return Ok(self.read_here(span, op));
        }
        let fetches = self.may_fetch(network, to, &mut op);
        let waits = Until::Received { received: 0, expected: span.length(), fetches };
        let key = self.begin(access, None, waits, op);
        let head = Packet::Read { span, number: key.data().as_ffi(), fetches }.head();
        let sent = network.send::<O>(to, head.bytes(), None);
        self.began(key, sent)
    }

    /// Does `atomic` to a region of another rank, with `operands` as [`Atomic::apply`] takes them.
    /// The bytes that were there come into `op`, if it `fetches`; then its room is as long as what
    /// is accessed. All of it has to fit into a packet: [`Self::atomic_bytes`].
    ///
    /// # Errors
    /// Those of the network.
    pub fn atomic<N: Network>(
        &mut self,
        network: &mut N,
        access: &Access,
        (atomic, fetches): (Atomic, bool),
        length: u64,
        operands: &[u8],
        op: O,
    ) -> Result<Asking<O>> {
        let to = access.to.rank;
        let Some(span) = access.span(length) else { return Ok(self.refuse(op)) };
        if !self.may_begin(to) {
            return Ok(Asking::Again(op));
        }
        if to == self.rank {
            return Ok(self.atomic_here(span, (atomic, fetches), operands, op));
        }
        let expected = if fetches { length } else { 0 };
        let waits = if fetches {
            Until::Received { received: 0, expected, fetches: false }
        } else {
            Until::Answered
        };
        let key = self.begin(access, None, waits, op);
        let number = key.data().as_ffi();
        let head = Packet::Atomic { span, number, atomic, fetches, operands: &[] }.head();
        let body = Some((&Bytes(operands), 0, operands.len()));
        let sent = network.send(to, head.bytes(), body);
        self.began(key, sent)
    }

    /// Bytes that one atomic access may have, with packets of `payload` bytes.
    pub fn atomic_bytes(payload: usize, atomic: Atomic) -> usize {
        let room = payload - ACCESS.max(PART);
        room / atomic.operation.operands().max(1)
    }

    fn may_begin(&self, to: Rank) -> bool {
        let peer = &self.peers[to.index()];
        peer.outstanding < MOST && peer.leaving.is_none()
    }

    fn begin(
        &mut self,
        access: &Access,
        lies_at: Option<NonZero<u64>>,
        waits: Until,
        op: O,
    ) -> OpKey {
        let to = access.to.rank;
        self.peers[to.index()].outstanding += 1;
        self.ops.insert(Op { op, from: access.from, to, lies_at, waits })
    }

    /// Notes the result of sending the one packet of an access.
    fn began(&mut self, key: OpKey, sent: Result<bool>) -> Result<Asking<O>> {
        match sent {
            Ok(true) => Ok(Asking::Kept),
            Ok(false) => Ok(self.take_back(key)),
            Err(error) => {
                let _ = self.take_back(key);
                Err(error)
            }
        }
    }

    /// Nothing of it has left.
    fn take_back(&mut self, key: OpKey) -> Asking<O> {
        let Some(Op { op, to, .. }) = self.ops.remove(key) else {
            unreachable!("it was put there by the caller")
        };
        self.peers[to.index()].outstanding -= 1;
        Asking::Again(op)
    }

    /// No region is so large.
    fn refuse(&mut self, op: O) -> Asking<O> {
        self.events.push_back(Event::Ended { op, outcome: Err(Refused::Beyond) });
        Asking::Kept
    }

    /// Sends the next packet of a write. True if it was the last; `None` if there is no room.
    pub(super) fn send_piece<N: Network>(
        &mut self,
        network: &mut N,
        key: OpKey,
    ) -> Result<Option<bool>> {
        let Some(op) = self.ops.get_mut(key) else { return Ok(Some(true)) };
        let Until::Left { span, data, sent } = op.waits else { return Ok(Some(true)) };
        let piece = Span { offset: span.offset + sent, ..span };
        let number = key.data().as_ffi();
        let (head, length, body) = match op.lies_at {
            Some(start) => {
                let lies_at = start.saturating_add(sent);
                (Packet::Offer { span: piece, number, lies_at, data }, piece.offered(), None)
            }
            None => {
                let room = network.payload_to(op.to) - head_bytes(data);
                let length = piece.length().min(room as u64);
                let body = Some((&op.op, sent, length as usize));
                (Packet::Write { span: piece, number, data, bytes: &[] }, length, body)
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

    pub(super) fn handle_part(
        &mut self,
        from: Rank,
        number: u64,
        bytes: &[u8],
    ) -> std::result::Result<(), &'static str> {
        let key = op_key(number);
        let Some(op) = self.ops.get_mut(key).filter(|op| op.to == from && from != self.rank) else {
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

    pub(super) fn handle_address(
        &mut self,
        from: Rank,
        number: u64,
        lies_at: NonZero<u64>,
    ) -> std::result::Result<(), &'static str> {
        let key = op_key(number);
        let Some(op) = self.ops.get_mut(key).filter(|op| op.to == from && from != self.rank) else {
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
    fn may_fetch<N: Network>(&self, network: &mut N, from: Rank, op: &mut O) -> bool {
        let length = op.capacity();
        self.single_copy
            && length >= FETCHED_FROM
            && !self.peers[from.index()].is_unreadable
            && op.room(0, length as usize).is_some()
            && network.fetch(from, 0, &mut [])
    }

    /// Fetches some of the reads that are fetched, in turn. True if there are any.
    pub(super) fn fetch<N: Network>(&mut self, network: &mut N) -> bool {
        let mut left = OFFERED;
        let any = !self.fetching.is_empty();
        while left > 0
            && let Some(key) = self.fetching.pop_front()
        {
            left -= self.fetch_piece(network, key, left);
        }
        any
    }

    /// Fetches up to `most` bytes. How many it were.
    fn fetch_piece<N: Network>(&mut self, network: &mut N, key: OpKey, most: u64) -> u64 {
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
        let number = key.data().as_ffi();
        self.answers.push_back(Answer::Fetched { to: from, number, all: is_there });
        if is_there { length } else { 0 }
    }

    pub(super) fn handle_ended(
        &mut self,
        from: Rank,
        number: u64,
        outcome: Outcome,
    ) -> std::result::Result<(), &'static str> {
        let key = op_key(number);
        let Some(op) = self.ops.get(key).filter(|op| op.to == from && from != self.rank) else {
            return Err("the end of what did not begin");
        };
        let unfetchable = outcome == Err(Refused::Unfetchable);
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

impl Access {
    /// The span of so many bytes; `None` if no region is so large.
    fn span(&self, length: u64) -> Option<Span> {
        let Access { to, from, key, offset } = *self;
        let end = offset.checked_add(length)?;
        Some(Span { to: to.endpoint, from, key, offset, end })
    }
}

/// Bytes of a write's packets before those of the program.
fn head_bytes(data: Option<u64>) -> usize {
    ACCESS + if data.is_some() { size_of::<u64>() } else { 0 }
}
