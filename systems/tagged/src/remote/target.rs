//! Accesses of others, and of this rank itself, to memory of this rank.

use super::format::{PART, Packet, Span};
use super::{
    Accessed, Answer, Asking, Atomic, Event, MOST, Offered, Op, OpKey, Outcome, Owed, Refused,
    Remote, Rights, Serving, Until,
};
use crate::network::{Network, Sink, Source};
use crate::{Address, Result};
use slotmap::Key;
use std::num::NonZero;
use weft_endpoint::Rank;

const READS: Rights = Rights { read: true, write: false };
const WRITES: Rights = Rights { read: false, write: true };

/// One packet of a write.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    pub from: Rank,
    /// From its first byte to the end of the write.
    pub span: Span,
    pub number: u64,
    pub data: Option<u64>,
    /// Its own bytes.
    pub length: u64,
}

impl Piece {
    fn is_last(&self) -> bool {
        self.length == self.span.length()
    }
}

impl<O: Source + Sink, R: Source + Sink> Remote<O, R> {
    /// Answers a write that had data with it, because the program can be told of another.
    pub fn answer(&mut self, owed: Owed) {
        self.answer_to(owed.to, owed.number, Ok(()));
    }

    pub(super) fn handle_write<N: Network>(
        &mut self,
        network: &mut N,
        piece: &Piece,
        bytes: &[u8],
    ) -> std::result::Result<(), &'static str> {
        self.handle_piece(piece)?;
        let peer = &mut self.peers[piece.from.index()];
        if self.single_copy && !piece.is_last() && !std::mem::replace(&mut peer.is_tried, true) {
            // If that succeeds, the next one of its long writes is offered.
            network.fetch(piece.from, 0, &mut []);
        }
        let placed = Self::find(&mut self.regions, &piece.span, WRITES)
            .map(|(region, start)| region.memory.place(start, bytes));
        self.piece_placed(piece, placed);
        Ok(())
    }

    pub(super) fn handle_offer<N: Network>(
        &mut self,
        network: &mut N,
        piece: &Piece,
        lies_at: NonZero<u64>,
    ) -> std::result::Result<(), &'static str> {
        self.handle_piece(piece)?;
        let found = Self::find(&mut self.regions, &piece.span, WRITES);
        let placed = found.and_then(|(region, start)| {
            let length = piece.length as usize;
            let fetched = match region.memory.room(start, length) {
                Some(room) => network.fetch(piece.from, lies_at.get(), room),
                None => {
                    let mut bytes = vec![0; length];
                    let fetched = network.fetch(piece.from, lies_at.get(), &mut bytes);
                    if fetched {
                        region.memory.place(start, &bytes);
                    }
                    fetched
                }
            };
            fetched.then_some(()).ok_or(Refused::Unfetchable)
        });
        self.piece_placed(piece, placed);
        Ok(())
    }

    /// Counts a piece of a write; with the last one the write will have to be answered.
    fn handle_piece(&mut self, piece: &Piece) -> std::result::Result<(), &'static str> {
        if piece.is_last() { self.count_unanswered(piece.from) } else { Ok(()) }
    }

    /// A piece of a write is there, or was refused.
    fn piece_placed(&mut self, piece: &Piece, placed: Outcome) {
        let &Piece { from, span, number, data, length } = piece;
        let peer = &mut self.peers[from.index()];
        peer.received = peer.received.saturating_add(length);
        peer.outcome = peer.outcome.and(placed);
        if piece.is_last() {
            let length = std::mem::take(&mut peer.received);
            let outcome = std::mem::replace(&mut peer.outcome, Ok(()));
            self.written(from, &span, (length, data), number, outcome);
        }
    }

    /// All of a write is there, or was refused.
    fn written(
        &mut self,
        from: Rank,
        span: &Span,
        (length, data): (u64, Option<u64>),
        number: u64,
        outcome: Outcome,
    ) {
        let data = data.map(|data| (data, Owed { to: from, number }));
        if outcome.is_ok() {
            self.tell(from, span, true, length, data);
        }
        if outcome.is_err() || data.is_none() {
            self.answer_to(from, number, outcome);
        }
    }

    pub(super) fn handle_read(
        &mut self,
        from: Rank,
        span: Span,
        number: u64,
        fetches: bool,
    ) -> std::result::Result<(), &'static str> {
        if self.peers[from.index()].offered_reads.contains_key(&number) {
            return Err("two reads with one number");
        }
        self.count_unanswered(from)?;
        let found = Self::find(&mut self.regions, &span, READS).map(|(region, start)| {
            let lies_at = fetches.then(|| region.memory.lies_at()).flatten();
            let lies_at = lies_at.and_then(|at| NonZero::new(at + start));
            (lies_at, Serving { to: from, number, span, sent: 0, serial: region.serial })
        });
        match found {
            Ok(_) if span.length() == 0 => self.answer_to(from, number, Ok(())),
            Ok((Some(lies_at), serving)) => {
                let read = Offered { serving, is_told: false };
                self.peers[from.index()].offered_reads.insert(number, read);
                self.answers.push_back(Answer::Address { to: from, number, lies_at });
            }
            Ok((None, serving)) => self.serving.push_back(serving),
            Err(refused) => self.answer_to(from, number, Err(refused)),
        }
        Ok(())
    }

    /// A read was fetched, or could not be and has to be sent.
    pub(super) fn handle_fetched(
        &mut self,
        from: Rank,
        number: u64,
        all: bool,
    ) -> std::result::Result<(), &'static str> {
        let peer = &mut self.peers[from.index()];
        if !peer.offered_reads.get(&number).is_some_and(|read| read.is_told) {
            return Err("the fetch of what was not offered");
        }
        let Some(Offered { serving, .. }) = peer.offered_reads.remove(&number) else {
            return Ok(());
        };
        if all {
            self.served(&serving);
        } else {
            self.serving.push_back(serving);
        }
        Ok(())
    }

    /// Nothing more is owed to a read.
    fn served(&mut self, serving: &Serving) {
        let Serving { to, span, .. } = serving;
        self.peers[to.index()].unanswered -= 1;
        self.tell(*to, span, false, span.length(), None);
    }

    /// Sends the next part of what a read wants. Returns the rest of it; `None` if there is no
    /// room.
    pub(super) fn serve<N: Network>(
        &mut self,
        network: &mut N,
        serving: Serving,
    ) -> Result<Option<Option<Serving>>> {
        let Serving { to, number, span, sent, serial } = serving;
        let found = Self::find(&mut self.regions, &span, READS);
        let Some((region, start)) = found.ok().filter(|(region, _)| region.serial == serial) else {
            // It was concealed meanwhile.
            self.answer_to(to, number, Err(Refused::NoRegion));
            return Ok(Some(None));
        };
        let length = (span.length() - sent).min((network.payload_to(to) - PART) as u64);
        let head = Packet::Part { number, bytes: &[] }.head();
        let body = Some((&region.memory, start + sent, length as usize));
        if !network.send(to, head.bytes(), body)? {
            return Ok(None);
        }
        let sent = sent + length;
        if sent < span.length() {
            return Ok(Some(Some(Serving { sent, ..serving })));
        }
        self.served(&serving);
        Ok(Some(None))
    }

    pub(super) fn handle_atomic(
        &mut self,
        from: Rank,
        span: Span,
        number: u64,
        (atomic, fetches): (Atomic, bool),
        (operands, most): (&[u8], usize),
    ) -> std::result::Result<(), &'static str> {
        // One that only reads has no operands, whose length would be checked by the packet's.
        if span.length() > most as u64 {
            return Err("an atomic access whose answer does not fit into a packet");
        }
        self.count_unanswered(from)?;
        match self.operate(from, &span, (atomic, fetches), operands) {
            Ok(bytes) if fetches && !bytes.is_empty() => {
                self.answers.push_back(Answer::Stood { to: from, number, bytes });
            }
            other => self.answer_to(from, number, other.map(drop)),
        }
        Ok(())
    }

    /// Does an atomic access. Returns the bytes that were there before.
    fn operate(
        &mut self,
        from: Rank,
        span: &Span,
        (atomic, fetches): (Atomic, bool),
        operands: &[u8],
    ) -> std::result::Result<Vec<u8>, Refused> {
        let writes = atomic.operation != super::atomic::Operation::Read;
        let (region, start) =
            Self::find(&mut self.regions, span, Rights { read: fetches, write: writes })?;
        let length = span.length() as usize;
        let mut before = Vec::with_capacity(length);
        region.memory.pieces(start, length, &mut |bytes| before.extend_from_slice(bytes));
        if writes {
            let mut after = before.clone();
            atomic.apply(&mut after, operands);
            region.memory.place(start, &after);
        }
        self.tell(from, span, writes, span.length(), None);
        Ok(before)
    }

    pub(super) fn write_here(&mut self, span: Span, data: Option<u64>, op: O) -> Asking<O> {
        let placed = Self::find(&mut self.regions, &span, WRITES).map(|(region, start)| {
            let mut at = start;
            op.pieces(0, span.length() as usize, &mut |bytes| {
                region.memory.place(at, bytes);
                at += bytes.len() as u64;
            });
        });
        let key = self.begin_here(&span, op);
        let number = key.data().as_ffi();
        self.written(self.rank, &span, (span.length(), data), number, placed);
        Asking::Kept
    }

    pub(super) fn read_here(&mut self, span: Span, mut op: O) -> Asking<O> {
        let read = Self::find(&mut self.regions, &span, READS).map(|(region, start)| {
            let mut at = 0;
            region.memory.pieces(start, span.length() as usize, &mut |bytes| {
                op.place(at, bytes);
                at += bytes.len() as u64;
            });
        });
        if read.is_ok() {
            self.tell(self.rank, &span, false, span.length(), None);
        }
        let key = self.begin_here(&span, op);
        self.end(key, read);
        Asking::Kept
    }

    pub(super) fn atomic_here(
        &mut self,
        span: Span,
        atomic: (Atomic, bool),
        operands: &[u8],
        mut op: O,
    ) -> Asking<O> {
        let outcome = self.operate(self.rank, &span, atomic, operands).map(|before| {
            if atomic.1 {
                op.place(0, &before);
            }
        });
        let key = self.begin_here(&span, op);
        self.end(key, outcome);
        Asking::Kept
    }

    fn begin_here(&mut self, span: &Span, op: O) -> OpKey {
        self.peers[self.rank.index()].outstanding += 1;
        let (from, to, lies_at, waits) = (span.from, self.rank, None, Until::Answered);
        self.ops.insert(Op { op, from, to, lies_at, waits })
    }

    /// A peer's access will have to be answered.
    fn count_unanswered(&mut self, from: Rank) -> std::result::Result<(), &'static str> {
        let peer = &mut self.peers[from.index()];
        if peer.unanswered >= MOST || from == self.rank {
            return Err("more remote accesses than it may have under way");
        }
        peer.unanswered += 1;
        Ok(())
    }

    fn tell(
        &mut self,
        from: Rank,
        span: &Span,
        writes: bool,
        length: u64,
        data: Option<(u64, Owed)>,
    ) {
        let from = Address { rank: from, endpoint: span.from };
        let accessed = Accessed { to: span.to, from, key: span.key, writes, length, data };
        self.events.push_back(Event::Accessed(accessed));
    }
}
