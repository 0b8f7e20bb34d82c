//! Regions of this rank, and accesses to them: of others, and of this rank itself.

use super::access::{AccessOutcome, AccessRefused, AccessRights, Accessed, MOST, OwedAnswer};
use super::atomic::{AtomicAccess, AtomicOperation};
use super::format::{AccessSpan, PART, RemotePacket};
use super::regions::Regions;
use crate::answers::{Answers, Outstanding};
use crate::network::{SendSource, Sink, TaggedNetwork};
use crate::{Address, Result, Taken};
use std::collections::{BTreeMap, VecDeque};
use std::num::NonZero;
use weft_endpoint::Rank;

/// Packets of reads that leave before the next look at what has arrived.
const PACKETS_AT_ONCE: usize = 8;

const READS: AccessRights = AccessRights { read: true, write: false };
const WRITES: AccessRights = AccessRights { read: false, write: true };

/// One packet of a write.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    pub from: Rank,
    /// From its first byte to the end of the write.
    pub span: AccessSpan,
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

/// Regions of this rank, and answers that it owes to their accesses.
#[derive(Debug)]
pub(super) struct Target<R> {
    pub regions: Regions<R>,
    peers: Vec<Peer>,
    answers: Answers<Ends>,
    serving: VecDeque<Serving>,
    /// True if those whose long writes come are to offer them.
    single_copy: bool,
    accessed: VecDeque<Accessed>,
}

/// State about one rank.
#[derive(Debug)]
struct Peer {
    /// Its accesses that were not answered.
    unanswered: Outstanding<MOST>,
    /// Of the write that comes from it in several packets: the bytes, and whether they were all
    /// placed.
    received: u64,
    outcome: AccessOutcome,
    /// True if a fetch from it was tried.
    is_tried: bool,
    /// Its reads that it fetches, by their numbers.
    offered_reads: BTreeMap<u64, Offered>,
}

/// End of an access, when its answer has left.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Ends {
    /// It is answered.
    Access,
    /// The read with this number may be fetched: before that nobody can have done so.
    Nothing { told: u64 },
}

/// A read that is being answered.
#[derive(Clone, Copy, Debug)]
struct Serving {
    to: Rank,
    number: u64,
    span: AccessSpan,
    sent: u64,
    serial: u64,
}

/// A read whose origin fetches the bytes.
#[derive(Clone, Copy, Debug)]
struct Offered {
    serving: Serving,
    /// True if their address has left.
    is_told: bool,
}

impl<R: SendSource + Sink> Target<R> {
    /// That of a rank in a job of `ranks`.
    pub fn new(ranks: usize) -> Self {
        let peer = || Peer {
            unanswered: Outstanding::default(),
            received: 0,
            outcome: Ok(()),
            is_tried: false,
            offered_reads: BTreeMap::new(),
        };
        Target {
            regions: Regions::new(),
            peers: std::iter::repeat_with(peer).take(ranks).collect(),
            answers: Answers::default(),
            serving: VecDeque::new(),
            single_copy: false,
            accessed: VecDeque::new(),
        }
    }

    pub fn set_single_copy(&mut self, single_copy: bool) {
        self.single_copy = single_copy;
    }

    #[inline]
    pub fn has_accessed(&self) -> bool {
        !self.accessed.is_empty()
    }

    /// The next access that the program has not been told of.
    #[inline]
    pub fn accessed(&mut self) -> Option<Accessed> {
        self.accessed.pop_front()
    }

    /// Answers that wait for room or to be fetched.
    pub fn owed(&self) -> usize {
        let offered: usize = self.peers.iter().map(|peer| peer.offered_reads.len()).sum();
        self.answers.len() + self.serving.len() + offered
    }

    #[inline]
    pub fn has_to_transmit(&self) -> bool {
        (self.answers.len() | self.serving.len()) > 0
    }

    /// Sends answers, and parts of what reads want. Whether there were any, and whether there is
    /// room for more.
    pub fn transmit<N: TaggedNetwork>(&mut self, network: &mut N) -> Result<(bool, bool)> {
        let peers = &mut self.peers;
        let mut any = self.answers.send(network, |to, ends| {
            let peer = &mut peers[to.index()];
            match ends {
                Ends::Access => peer.unanswered.answered(),
                Ends::Nothing { told } => {
                    if let Some(read) = peer.offered_reads.get_mut(&told) {
                        read.is_told = true;
                    }
                }
            }
        })?;
        if !self.answers.is_empty() {
            return Ok((any, false));
        }
        for _ in 0..PACKETS_AT_ONCE {
            let Some(serving) = self.serving.pop_front() else { break };
            match self.serve(network, serving)? {
                None => {
                    self.serving.push_front(serving);
                    return Ok((any, false));
                }
                Some(rest) => self.serving.extend(rest),
            }
            any = true;
        }
        Ok((any, true))
    }

    /// Answers a write that had data with it, because the program can be told of another.
    pub fn answer(&mut self, owed: OwedAnswer) {
        self.answer_to(owed.to, owed.number, Ok(()));
    }

    /// Answers an access.
    fn answer_to(&mut self, to: Rank, number: u64, outcome: AccessOutcome) {
        self.answers.push(to, RemotePacket::Ended { number, outcome }.head(), Ends::Access);
    }

    pub fn handle_write<N: TaggedNetwork>(
        &mut self,
        network: &mut N,
        piece: &Piece,
        bytes: &[u8],
    ) -> Taken {
        self.handle_piece(piece)?;
        let peer = &mut self.peers[piece.from.index()];
        if self.single_copy && !piece.is_last() && !std::mem::replace(&mut peer.is_tried, true) {
            // If that succeeds, the next one of its long writes is offered.
            network.fetch(piece.from, 0, &mut []);
        }
        let found = self.regions.find(&piece.span, WRITES);
        let placed = found.map(|(region, start)| region.memory.place(start, bytes));
        self.piece_placed(piece, placed);
        Ok(())
    }

    pub fn handle_offer<N: TaggedNetwork>(
        &mut self,
        network: &mut N,
        piece: &Piece,
        lies_at: NonZero<u64>,
    ) -> Taken {
        self.handle_piece(piece)?;
        let found = self.regions.find(&piece.span, WRITES);
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
            fetched.then_some(()).ok_or(AccessRefused::Unfetchable)
        });
        self.piece_placed(piece, placed);
        Ok(())
    }

    /// Counts a piece of a write; with the last one the write will have to be answered.
    fn handle_piece(&mut self, piece: &Piece) -> Taken {
        if piece.is_last() { self.count_unanswered(piece.from) } else { Ok(()) }
    }

    /// A piece of a write is there, or was refused.
    fn piece_placed(&mut self, piece: &Piece, placed: AccessOutcome) {
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
        span: &AccessSpan,
        (length, data): (u64, Option<u64>),
        number: u64,
        outcome: AccessOutcome,
    ) {
        let data = data.map(|data| (data, OwedAnswer { to: from, number }));
        if outcome.is_ok() {
            self.tell(from, span, true, length, data);
        }
        if outcome.is_err() || data.is_none() {
            self.answer_to(from, number, outcome);
        }
    }

    pub fn handle_read(
        &mut self,
        from: Rank,
        span: AccessSpan,
        number: u64,
        fetches: bool,
    ) -> Taken {
        if self.peers[from.index()].offered_reads.contains_key(&number) {
            return Err("two reads with one number");
        }
        self.count_unanswered(from)?;
        let found = self.regions.find(&span, READS).map(|(region, start)| {
            let lies_at = fetches.then(|| region.memory.lies_at()).flatten();
            let lies_at = lies_at.and_then(|at| NonZero::new(at + start));
            (lies_at, Serving { to: from, number, span, sent: 0, serial: region.serial })
        });
        match found {
            Ok(_) if span.length() == 0 => self.answer_to(from, number, Ok(())),
            Ok((Some(lies_at), serving)) => {
                let read = Offered { serving, is_told: false };
                self.peers[from.index()].offered_reads.insert(number, read);
                let head = RemotePacket::Address { number, lies_at }.head();
                self.answers.push(from, head, Ends::Nothing { told: number });
            }
            Ok((None, serving)) => self.serving.push_back(serving),
            Err(refused) => self.answer_to(from, number, Err(refused)),
        }
        Ok(())
    }

    /// A read was fetched, or could not be and has to be sent.
    pub fn handle_fetched(&mut self, from: Rank, number: u64, all: bool) -> Taken {
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
        self.peers[to.index()].unanswered.answered();
        self.tell(*to, span, false, span.length(), None);
    }

    /// Sends the next part of what a read wants. Returns the rest of it; `None` if there is no
    /// room.
    fn serve<N: TaggedNetwork>(
        &mut self,
        network: &mut N,
        serving: Serving,
    ) -> Result<Option<Option<Serving>>> {
        let Serving { to, number, span, sent, serial } = serving;
        let found = self.regions.find(&span, READS);
        let Some((region, start)) = found.ok().filter(|(region, _)| region.serial == serial) else {
            // It was concealed meanwhile.
            self.answer_to(to, number, Err(AccessRefused::NoRegion));
            return Ok(Some(None));
        };
        let length = (span.length() - sent).min((network.payload_to(to) - PART) as u64);
        let head = RemotePacket::Part { number, bytes: &[] }.head();
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

    pub fn handle_atomic(
        &mut self,
        from: Rank,
        span: AccessSpan,
        number: u64,
        (atomic, fetches): (AtomicAccess, bool),
        (operands, most): (&[u8], usize),
    ) -> Taken {
        // One that only reads has no operands, whose length would be checked by the packet's.
        if span.length() > most as u64 {
            return Err("an atomic access whose answer does not fit into a packet");
        }
        self.count_unanswered(from)?;
        match self.operate(from, &span, (atomic, fetches), operands) {
            Ok(bytes) if fetches && !bytes.is_empty() => {
                let head = RemotePacket::Part { number, bytes: &[] }.head();
                self.answers.push_with(from, head, bytes, Ends::Access);
            }
            other => self.answer_to(from, number, other.map(drop)),
        }
        Ok(())
    }

    /// Does an atomic access. Returns the bytes that were there before.
    pub fn operate(
        &mut self,
        from: Rank,
        span: &AccessSpan,
        (atomic, fetches): (AtomicAccess, bool),
        operands: &[u8],
    ) -> std::result::Result<Vec<u8>, AccessRefused> {
        let writes = atomic.operation != AtomicOperation::Read;
        let (region, start) =
            self.regions.find(span, AccessRights { read: fetches, write: writes })?;
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

    /// Places the bytes of a write to this rank itself.
    pub fn write_here(&mut self, span: &AccessSpan, op: &impl SendSource) -> AccessOutcome {
        self.regions.find(span, WRITES).map(|(region, start)| {
            let mut at = start;
            op.pieces(0, span.length() as usize, &mut |bytes| {
                region.memory.place(at, bytes);
                at += bytes.len() as u64;
            });
        })
    }

    /// Reads from this rank itself, which is `rank`.
    pub fn read_here(
        &mut self,
        rank: Rank,
        span: &AccessSpan,
        op: &mut impl Sink,
    ) -> AccessOutcome {
        let read = self.regions.find(span, READS).map(|(region, start)| {
            let mut at = 0;
            region.memory.pieces(start, span.length() as usize, &mut |bytes| {
                op.place(at, bytes);
                at += bytes.len() as u64;
            });
        });
        if read.is_ok() {
            self.tell(rank, span, false, span.length(), None);
        }
        read
    }

    /// Counts a peer's access, which will have to be answered.
    fn count_unanswered(&mut self, from: Rank) -> Taken {
        let counted = self.peers[from.index()].unanswered.ask();
        counted.then_some(()).ok_or("more remote accesses than it may have under way")
    }

    /// Tells the program of an access.
    pub fn tell(
        &mut self,
        from: Rank,
        span: &AccessSpan,
        writes: bool,
        length: u64,
        data: Option<(u64, OwedAnswer)>,
    ) {
        let from = Address { rank: from, endpoint: span.from };
        let accessed = Accessed { to: span.to, from, key: span.key, writes, length, data };
        self.accessed.push_back(accessed);
    }
}
