//! Control packets that found no frame to leave in.
//!
//! A peer that returns no credits holds frames, and what its packets are answered with waits here.
//! So nothing waits twice: of reports and complaints about one flow the latest says it all, and of
//! others one is as good as two. What is left has a bound for each peer, because it answers what
//! the peer asked: honest ones keep to it, and who passes it is told of (I9).
//!
//! Sans-IO: packets in, packets out.

use super::arrivals::UNFINISHED_LIMIT;
use super::by_rank::ByRank;
use super::ports::UNMADE_LIMIT;
use super::windows::To;
use crate::error::Error;
use crate::format::{PacketHeader, PacketKind};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, VecDeque};
use weft_endpoint::Rank;

/// Answers that are owed to one peer, at most: to each request that it may have under way, and for
/// each port that it may ask for in vain.
pub const ANSWERS_LIMIT: usize = UNFINISHED_LIMIT + UNMADE_LIMIT;

/// Control packets that wait for frames, in the order in which they leave.
#[derive(Default, Clone, Hash)]
pub struct Owed {
    order: VecDeque<Subject>,
    packets: BTreeMap<Subject, PacketHeader>,
    answers: ByRank<usize>,
}

/// Receiver, kind and port of a control packet, and the flow or the message that it is about.
type Subject = (To, PacketKind, u32, u64);

impl Owed {
    /// True if nothing waits.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// Has a packet wait, behind the others.
    ///
    /// # Errors
    /// [`Error::Unanswered`]: its receiver has asked more than a peer does.
    pub fn push(&mut self, to: To, header: PacketHeader) -> Result<(), Error> {
        if let Some(subject) = self.insert(to, header) {
            self.order.push_back(subject);
        }
        match posted(to, &header) {
            Some(from) if *self.answers.entry(from) > ANSWERS_LIMIT => {
                Err(Error::Unanswered { from, limit: ANSWERS_LIMIT })
            }
            _ => Ok(()),
        }
    }

    /// Gives the packet back that was taken and could not leave: it is the next one again.
    pub fn put_back(&mut self, to: To, header: PacketHeader) {
        if let Some(subject) = self.insert(to, header) {
            self.order.push_front(subject);
        }
    }

    /// The packet that has waited for longest.
    pub fn pop(&mut self) -> Option<(To, PacketHeader)> {
        let subject = self.order.pop_front()?;
        let header = self.packets.remove(&subject)?;
        let to = subject.0;
        if let Some(rank) = posted(to, &header) {
            *self.answers.entry(rank) -= 1;
        }
        Some((to, header))
    }

    /// Keeps a packet, or makes one that waits say what it says. Returns its place in the order if
    /// it has none yet.
    fn insert(&mut self, to: To, header: PacketHeader) -> Option<Subject> {
        let counts = matches!(header.kind, PacketKind::Window | PacketKind::Stalled);
        let about = if counts { header.bytes } else { u64::from(header.message) };
        let subject = (to, header.kind, header.port, about);
        match self.packets.entry(subject) {
            Entry::Occupied(mut waiting) => {
                // Threads may overtake each other; counts go on, on a circle.
                let ahead = header.message.wrapping_sub(waiting.get().message) as i32;
                if counts && ahead > 0 {
                    waiting.insert(header);
                }
                None
            }
            Entry::Vacant(place) => {
                place.insert(header);
                if let Some(rank) = posted(to, &header) {
                    *self.answers.entry(rank) += 1;
                }
                Some(subject)
            }
        }
    }
}

/// The rank whose question a packet answers.
fn posted(to: To, header: &PacketHeader) -> Option<Rank> {
    match (to, header.kind) {
        (To::Rank(rank), PacketKind::Grant | PacketKind::Unwanted | PacketKind::NoPort) => {
            Some(rank)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests;
