//! Accesses of others, and of this rank itself, to memory of this rank.

use super::format::{PART, Says, Span};
use super::{
    Accessed, Answer, Asking, Atomic, Event, MOST, Op, OpKey, Outcome, Owed, Refused, Remote,
    Rights, Serving, Until,
};
use crate::network::{Network, Sink, Source};
use crate::{Address, Result};
use slotmap::Key;
use weft_packet::Rank;

const READS: Rights = Rights { read: true, write: false };
const WRITES: Rights = Rights { read: false, write: true };

impl<O: Source + Sink, R: Source + Sink> Remote<O, R> {
    /// Answers a write that had data with it, because the program can be told of another.
    pub fn answer(&mut self, owed: Owed) {
        self.answer_to(owed.to, owed.number, Ok(()));
    }

    pub(super) fn write_came(
        &mut self,
        from: Rank,
        span: Span,
        number: u64,
        data: Option<u64>,
        bytes: &[u8],
    ) -> std::result::Result<(), &'static str> {
        let last = bytes.len() as u64 == span.length();
        if last {
            self.came(from)?;
        }
        let placed = self.place(&span, bytes);
        let peer = &mut self.peers[from.index()];
        peer.came = peer.came.saturating_add(bytes.len() as u64);
        peer.outcome = peer.outcome.and(placed);
        if !last {
            return Ok(());
        }
        let length = std::mem::take(&mut peer.came);
        let outcome = std::mem::replace(&mut peer.outcome, Ok(()));
        self.written(from, &span, (length, data), number, outcome);
        Ok(())
    }

    /// Places bytes of a write that goes on to the end of `span`.
    fn place(&mut self, span: &Span, bytes: &[u8]) -> Outcome {
        let (region, start) = Self::find(&mut self.regions, span, WRITES)?;
        region.memory.place(start, bytes);
        Ok(())
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

    pub(super) fn read_came(
        &mut self,
        from: Rank,
        span: Span,
        number: u64,
    ) -> std::result::Result<(), &'static str> {
        self.came(from)?;
        match Self::find(&mut self.regions, &span, READS).map(|(region, _)| region.serial) {
            Ok(serial) if span.length() > 0 => {
                self.serving.push_back(Serving { to: from, number, span, went: 0, serial });
            }
            other => self.answer_to(from, number, other.map(drop)),
        }
        Ok(())
    }

    /// Sends the next part of what a read wants. What is left of it then; `None` if there is no room.
    pub(super) fn serve<N: Network>(
        &mut self,
        network: &mut N,
        serving: Serving,
    ) -> Result<Option<Option<Serving>>> {
        let Serving { to, number, span, went, serial } = serving;
        let found = Self::find(&mut self.regions, &span, READS);
        let Some((region, start)) = found.ok().filter(|(region, _)| region.serial == serial) else {
            // It was concealed meanwhile.
            self.answer_to(to, number, Err(Refused::NoRegion));
            return Ok(Some(None));
        };
        let length = (span.length() - went).min((network.payload() - PART) as u64);
        let head = Says::Part { number, bytes: &[] }.head();
        let body = Some((&region.memory, start + went, length as usize));
        if !network.send(to, head.bytes(), body)? {
            return Ok(None);
        }
        let went = went + length;
        if went < span.length() {
            return Ok(Some(Some(Serving { went, ..serving })));
        }
        self.peers[to.index()].unanswered -= 1;
        self.tell(to, &span, false, span.length(), None);
        Ok(Some(None))
    }

    pub(super) fn atomic_came(
        &mut self,
        from: Rank,
        span: Span,
        number: u64,
        (atomic, fetches): (Atomic, bool),
        operands: &[u8],
    ) -> std::result::Result<(), &'static str> {
        self.came(from)?;
        match self.operate(from, &span, (atomic, fetches), operands) {
            Ok(bytes) if fetches && !bytes.is_empty() => {
                self.answers.push_back(Answer::Fetched { to: from, number, bytes });
            }
            other => self.answer_to(from, number, other.map(drop)),
        }
        Ok(())
    }

    /// Does an atomic access. What stood there before.
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
        self.ops.insert(Op { op, from: span.from, to: self.rank, waits: Until::Answered })
    }

    /// A peer's access will have to be answered.
    fn came(&mut self, from: Rank) -> std::result::Result<(), &'static str> {
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
