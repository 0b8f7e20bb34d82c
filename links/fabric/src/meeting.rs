//! Meeting: all ranks tell one another where on the fabric they are, over the sockets that the
//! launcher, or a process manager, has told them of.
//!
//! Each sends every other its *card*, sealed with keys of the job that are for nothing else, and
//! says whether it has the other's, until all have both. The last word may be lost, and who said it
//! be gone on with its work: so it goes on answering from there, as long as it has its link.
//!
//! Ranks that end say so here, too: providers may throw away what has arrived over a connection, if
//! something was sent there after the other end was closed.

use crate::error::FabricError;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io::ErrorKind;
use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant};
use weft_datagram::seal::{FrameKind, Keys, Seals};
use weft_wire::{Rank, envelope};

/// Time between two rounds of asking at first, and at last.
const ASK_FIRST: Duration = Duration::from_millis(1);
const ASK_LAST: Duration = Duration::from_millis(50);
/// Time that a rank which knows all others waits to hear that these know it.
const STAY: Duration = Duration::from_millis(200);
/// Bytes of the longest card.
const CARD_BYTES_MAX: usize = 1024;
/// Cards that are taken in one look, for each rank.
const TAKEN_AT_ONCE: usize = 4;

/// Place of a rank on the fabric.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Card {
    /// Name of the provider.
    pub provider: String,
    /// Address of the endpoint.
    pub address: Vec<u8>,
}

impl Card {
    /// The card, and whether its sender has that of the receiver.
    pub(crate) fn emit(&self, has_other: bool) -> Vec<u8> {
        let length = u8::try_from(self.provider.len()).unwrap_or(u8::MAX);
        let name = &self.provider.as_bytes()[..length.into()];
        [&[u8::from(has_other), length], name, &self.address].concat()
    }

    /// A card in these bytes, and whether its sender has that of the receiver.
    pub(crate) fn parse(bytes: &[u8]) -> Option<(Card, bool)> {
        let ([has_other @ (0 | 1), length], rest) = bytes.split_first_chunk()? else { return None };
        let (name, address) = rest.split_at_checked((*length).into())?;
        let provider = String::from_utf8(name.to_vec()).ok()?;
        Some((Card { provider, address: address.to_vec() }, *has_other == 1))
    }
}

/// A rank's part in the meeting.
pub struct Meeting {
    socket: UdpSocket,
    peers: Vec<SocketAddr>,
    seals: Seals,
    own: Rank,
    card: Card,
    cards: Vec<Option<Card>>,
    /// By rank: it has this one's card.
    has_own: Vec<bool>,
    /// Ranks that have said goodbye.
    gone: Vec<Rank>,
}

/// Meets all other ranks. `peers` says where their sockets are; `keys` are for this use only.
/// Returns the cards by rank, and what goes on answering those who missed something.
///
/// # Errors
/// Some did not come within the limit, or the system refused.
pub fn meet(
    socket: UdpSocket,
    peers: Vec<SocketAddr>,
    keys: Keys,
    card: Card,
    limit: Duration,
) -> Result<(Vec<Card>, Meeting), FabricError> {
    socket.set_nonblocking(true)?;
    let (own, ranks) = (keys.own(), peers.len());
    let mut cards = vec![None; ranks];
    let mut has_own = vec![false; ranks];
    cards[own.index()] = Some(card.clone());
    has_own[own.index()] = true;
    let seals = Seals::new(keys, ranks as u16);
    let mut meeting = Meeting { socket, peers, seals, own, card, cards, has_own, gone: Vec::new() };
    meeting.run(limit)?;
    let cards = meeting.cards.iter().flatten().cloned().collect();
    Ok((cards, meeting))
}

impl Meeting {
    fn run(&mut self, limit: Duration) -> Result<(), FabricError> {
        let start = Instant::now();
        let (mut every, mut ask_at) = (ASK_FIRST, start);
        let mut complete_since = None;
        loop {
            self.take_in();
            let now = Instant::now();
            if self.cards.iter().all(Option::is_some) {
                let since = *complete_since.get_or_insert(now);
                if self.has_own.iter().all(|has| *has) || now - since >= STAY {
                    // Those who wait for this word need not ask again.
                    self.ask(|_| true);
                    return Ok(());
                }
            }
            if now - start >= limit {
                return Err(self.missed(limit));
            }
            if now >= ask_at {
                self.ask(|lacks| lacks);
                ask_at = now + every;
                every = (2 * every).min(ASK_LAST);
            }
            let left = ask_at.saturating_duration_since(Instant::now());
            let left = Timespec { tv_sec: 0, tv_nsec: i64::from(left.subsec_nanos()) };
            // Interrupted or not: it looks.
            let _ = poll(&mut [PollFd::new(&self.socket, PollFlags::IN)], Some(&left));
        }
    }

    /// Sends the card to those of whom `wanted` says so, given whether something is missing there.
    fn ask(&mut self, wanted: impl Fn(bool) -> bool) {
        let own = self.own;
        for to in (0..self.peers.len() as u16).map(Rank).filter(|to| *to != own) {
            let lacks = self.cards[to.index()].is_none() || !self.has_own[to.index()];
            if wanted(lacks) {
                self.tell(to);
            }
        }
    }

    fn tell(&mut self, to: Rank) {
        let contents = self.card.emit(self.cards[to.index()].is_some());
        // What is not sent is sent again.
        self.send(to, FrameKind::CARD, &contents);
    }

    /// Tells a rank that this one ends in good order.
    pub(crate) fn say_goodbye(&mut self, to: Rank) {
        self.send(to, FrameKind::GOODBYE, &[]);
    }

    fn send(&mut self, to: Rank, kind: FrameKind, contents: &[u8]) {
        let trailer = self.seals.protection().trailer_bytes();
        let mut frame = vec![0; envelope::SIZE + contents.len() + trailer];
        frame[envelope::SIZE..envelope::SIZE + contents.len()].copy_from_slice(contents);
        self.seals.sealer(to).seal(kind, &mut frame);
        let _ = self.socket.send_to(&frame, self.peers[to.index()]);
    }

    /// Ranks that have said goodbye since the last time.
    pub(crate) fn gone(&mut self) -> std::vec::Drain<'_, Rank> {
        self.gone.drain(..)
    }

    /// Takes in what others have said, and answers those who lack something.
    pub(crate) fn take_in(&mut self) {
        let mut bytes = [0; CARD_BYTES_MAX];
        for _ in 0..TAKEN_AT_ONCE * self.peers.len() {
            let count = match self.socket.recv(&mut bytes) {
                Ok(count) => count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                // What the network says of a datagram that left.
                Err(_) => continue,
            };
            let Ok(opened) = self.seals.open(&mut bytes[..count]) else { continue };
            let from = opened.source;
            if opened.kind == FrameKind::GOODBYE {
                self.gone.push(from);
            }
            let card = Card::parse(&bytes[opened.contents.clone()]);
            let Some((card, has_own)) = card.filter(|_| opened.kind == FrameKind::CARD) else {
                continue;
            };
            // The first word counts: an address does not change.
            self.cards[from.index()].get_or_insert(card);
            self.has_own[from.index()] |= has_own;
            if !has_own {
                self.tell(from);
            }
        }
    }

    fn missed(&self, limit: Duration) -> FabricError {
        let missing = (0..).zip(&self.cards).filter(|(_, card)| card.is_none());
        let missing: Vec<u16> = missing.map(|(rank, _)| rank).collect();
        let first = missing.first().copied().unwrap_or_default();
        let who = match missing.len() {
            0 | 1 => format!("rank {first}"),
            many => format!("rank {first} and {} more", many - 1),
        };
        FabricError::Missed(who, limit.as_secs())
    }
}

#[cfg(test)]
mod tests;
