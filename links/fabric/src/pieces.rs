//! Memory of the program that travels in one piece, beside datagrams: from where it lies to where
//! it belongs, in whatever way the provider does that best. It tells pieces apart by tags.
//!
//! A receiver posts memory, and then has its sender told by a packet. So what is sent is awaited
//! already, as long as it is, and stored nowhere. Tags are [names](Names) that only ranks of the
//! job can make: nobody else's bytes go where the program's belong.
//!
//! Invariant: memory is lent to the transport from the time when its piece is under way until that
//! [ends](Pieces::ended), or the transport was shut down.

use crate::error::LibfabricError;
use crate::memory::ProgramMemory;
use crate::transport::{DatagramTransport, PIECES, Unsent};
use std::collections::VecDeque;
use std::time::{Duration, Instant};
use weft_datagram::seal::{Keys, Names};
use weft_link::memory::{LentMemory, Posted, PostedHead};
use weft_wire::Rank;

/// Time from a piece's beginning at one end until that at the other, and for what is behind it.
const BEGINNING_TAKES: Duration = Duration::from_micros(200);
/// Time for each 1,024 bytes of it, on slow networks: 0.5 GB/s.
const A_KIB_TAKES: Duration = Duration::from_micros(2);

/// Pieces of a rank.
pub(crate) struct Pieces {
    own: Rank,
    names: Names,
    /// By number, those that are under way, or posted and not given up.
    under_way: Box<[Option<UnderWay>]>,
    /// Sends among them.
    sends: usize,
    /// Pieces that wait until the provider takes them.
    waiting: VecDeque<Waiting>,
    /// True if some have ended of which who sleeps was not told.
    has_news: bool,
}

struct UnderWay {
    peer: Rank,
    piece: ProgramMemory,
    /// Of one that was posted.
    head: Option<PostedHead>,
    /// Time by which it should be over, unless the other end lets it wait.
    until: Instant,
    state: State,
}

impl UnderWay {
    fn new(peer: Rank, piece: ProgramMemory, head: Option<PostedHead>) -> Self {
        let until = Instant::now() + BEGINNING_TAKES + A_KIB_TAKES * (piece.bytes() >> 10) as u32;
        UnderWay { peer, piece, head, until, state: State::Begun }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Begun,
    /// It is of no use any more.
    Canceled,
    Come,
}

struct Waiting {
    to: Rank,
    tag: u64,
    piece: ProgramMemory,
}

/// Rank with which a piece failed, and how.
pub(crate) type Failure = (Rank, String);

impl Pieces {
    pub fn new(keys: &Keys) -> Self {
        Pieces {
            own: keys.own(),
            names: keys.names(),
            under_way: (0..PIECES).map(|_| None).collect(),
            sends: 0,
            waiting: VecDeque::new(),
            has_news: false,
        }
    }

    fn free_number(&self) -> Option<usize> {
        self.under_way.iter().position(Option::is_none)
    }

    /// Number of the piece posted for this.
    fn posted_number(&self, from: Rank, head: &PostedHead) -> Option<usize> {
        let is_it = |it: &UnderWay| it.peer == from && it.head.as_ref() == Some(head);
        self.under_way.iter().position(|it| it.as_ref().is_some_and(is_it))
    }

    /// Posts memory for a piece of `from`. False if that cannot be now: half of the numbers are
    /// left for sends, which are never refused.
    pub fn post(
        &mut self,
        transport: &mut impl DatagramTransport,
        from: Rank,
        posted: Posted,
    ) -> bool {
        let number = self.free_number().filter(|number| *number < PIECES / 2);
        let Some(number) = number else { return false };
        let (piece, head) = (ProgramMemory::from(posted), posted.head);
        let tag = self.names.name(from, self.own, &head);
        if !transport.post_piece(number, tag, &piece) {
            return false;
        }
        self.under_way[number] = Some(UnderWay::new(from, piece, Some(head)));
        true
    }

    /// Sends a piece to where `to` has posted memory for it.
    #[must_use]
    pub fn send(
        &mut self,
        transport: &mut impl DatagramTransport,
        to: Rank,
        head: &PostedHead,
        lent: LentMemory,
    ) -> Option<Failure> {
        let tag = self.names.name(self.own, to, head);
        self.waiting.push_back(Waiting { to, tag, piece: lent.into() });
        self.retry(transport)
    }

    /// Sends those that wait, as far as the provider takes them. Whom one has not got to, if any.
    #[must_use]
    pub fn retry(&mut self, transport: &mut impl DatagramTransport) -> Option<Failure> {
        while let Some(&Waiting { to, tag, piece }) = self.waiting.front() {
            let number = self.free_number()?;
            let refused = match transport.send_piece(number, to, tag, &piece) {
                Ok(()) => None,
                Err(Unsent::Full) => return None,
                Err(Unsent::Failed(refusal)) => Some((to, refusal.to_string())),
            };
            self.waiting.pop_front();
            if refused.is_some() {
                self.has_news = true;
                return refused;
            }
            self.sends += 1;
            self.under_way[number] = Some(UnderWay::new(to, piece, None));
        }
        None
    }

    /// Takes in the end of a piece. With whom it has failed, if it has: one that came is as long as
    /// the memory that was posted for it.
    #[must_use]
    pub fn ended(
        &mut self,
        number: usize,
        outcome: Result<usize, LibfabricError>,
    ) -> Option<Failure> {
        self.has_news = true;
        let it = self.under_way.get_mut(number)?;
        let UnderWay { peer, piece, head, state, .. } = it.as_mut()?;
        let why = match outcome {
            _ if *state == State::Canceled => None,
            Err(refusal) => Some(refusal.to_string()),
            Ok(bytes) if head.is_some() && bytes != piece.bytes() => {
                Some(format!("{bytes} bytes came where {} belong", piece.bytes()))
            }
            Ok(_) if head.is_some() => {
                *state = State::Come;
                return None;
            }
            Ok(_) => None,
        };
        let failure = why.map(|why| (*peer, why));
        self.sends -= usize::from(head.is_none());
        *it = None;
        failure
    }

    /// Number of bytes that are there of the memory posted for this: all, or none.
    pub fn posted(&self, from: Rank, head: &PostedHead) -> usize {
        let it = self.posted_number(from, head).and_then(|number| self.under_way[number].as_ref());
        it.filter(|it| it.state == State::Come).map_or(0, |it| it.piece.bytes())
    }

    /// Gives up what was posted for this: how many bytes are there. Where some may still come, the
    /// error is its number, to be canceled.
    pub fn unpost(&mut self, from: Rank, head: &PostedHead) -> Result<usize, usize> {
        let Some(number) = self.posted_number(from, head) else { return Ok(0) };
        let it = &mut self.under_way[number];
        if let Some(it) = it.take_if(|it| it.state == State::Come) {
            return Ok(it.piece.bytes());
        }
        if let Some(it) = it {
            it.state = State::Canceled;
        }
        Err(number)
    }

    /// True if the transport has some of this memory to send.
    pub fn has_lent(&self, lent: LentMemory) -> bool {
        let has = |piece: &ProgramMemory| piece.overlaps(lent);
        let is_sent = |it: &UnderWay| it.head.is_none() && has(&it.piece);
        self.waiting.iter().any(|it| has(&it.piece))
            || self.sends > 0 && self.under_way.iter().flatten().any(is_sent)
    }

    /// True if some should be on their way.
    pub fn carries(&self) -> bool {
        let mut begun = self.under_way.iter().flatten().filter(|it| it.state == State::Begun);
        let now = Instant::now();
        begun.any(|it| now < it.until)
    }

    /// True if pieces are being sent, or wait for that.
    #[inline]
    pub fn has_sends(&self) -> bool {
        self.sends > 0 || self.is_stuck()
    }

    /// True if pieces wait until the provider takes more.
    #[inline]
    pub fn is_stuck(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// True if some have ended of which who sleeps was not told.
    #[inline]
    pub fn has_news(&self) -> bool {
        self.has_news
    }

    /// Does what [`Self::has_news`] does, once: who asks looks what has ended.
    pub fn take_news(&mut self) -> bool {
        std::mem::take(&mut self.has_news)
    }

    /// The transport was shut down: nobody has any of it any more.
    pub fn end_all(&mut self) {
        self.waiting.clear();
        self.sends = 0;
        self.under_way.fill_with(|| None);
        self.has_news = true;
    }
}

#[cfg(test)]
mod tests;
