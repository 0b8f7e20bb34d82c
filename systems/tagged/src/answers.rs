//! Requests of one rank to another, of which the number is bounded, and the answers that this rank
//! owes others: so their number is bounded, too (I9). Messages, and accesses both ways, use them.

use crate::Result;
use crate::format::Head;
use crate::network::{SendSource, TaggedNetwork};
use std::collections::VecDeque;
use weft_endpoint::Rank;

/// Requests of one rank to one other that are not answered: `MOST` at most. At both ends: who asks
/// keeps to it, and who is asked checks that.
#[derive(Debug, Default)]
pub struct Outstanding<const MOST: u32>(u32);

impl<const MOST: u32> Outstanding<MOST> {
    /// True if one more may be asked.
    #[inline]
    pub fn has_room(&self) -> bool {
        self.0 < MOST
    }

    /// Counts one more. False if there are too many: nothing has changed then.
    #[must_use]
    pub fn ask(&mut self) -> bool {
        let has_room = self.has_room();
        self.0 += u32::from(has_room);
        has_room
    }

    /// Counts one as answered: the answer has come, or has left.
    pub fn answered(&mut self) {
        self.0 -= 1;
    }
}

/// Packets that answer others, and wait for room.
#[derive(Debug)]
pub(crate) struct Answers<G>(VecDeque<Answer<G>>);

#[derive(Debug)]
struct Answer<G> {
    to: Rank,
    head: Head,
    /// Bytes behind the head.
    bytes: Vec<u8>,
    gives: G,
}

/// Bytes that go at once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bytes<'a>(pub &'a [u8]);

impl SendSource for Bytes<'_> {
    fn length(&self) -> u64 {
        self.0.len() as u64
    }

    fn pieces(&self, offset: u64, length: usize, take: &mut dyn FnMut(&[u8])) {
        let offset = offset as usize;
        take(&self.0[offset..offset + length]);
    }
}

impl<G> Default for Answers<G> {
    fn default() -> Self {
        Answers(VecDeque::new())
    }
}

impl<G: Copy> Answers<G> {
    /// Adds one. What it `gives` its receiver the right to that one has once it has left: a peer
    /// that returns no credits is answered nothing, and so gets no further.
    pub fn push(&mut self, to: Rank, head: Head, gives: G) {
        self.push_with(to, head, Vec::new(), gives);
    }

    /// Adds one with bytes behind its head.
    pub fn push_with(&mut self, to: Rank, head: Head, bytes: Vec<u8>, gives: G) {
        self.0.push_back(Answer { to, head, bytes, gives });
    }

    #[inline(always)]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Drops those to one rank.
    pub fn forget(&mut self, to: Rank) {
        self.0.retain(|answer| answer.to != to);
    }

    /// Sends them in order, as far as there is room, and tells of each what it gave. True if any
    /// has left.
    pub fn send<N: TaggedNetwork>(
        &mut self,
        network: &mut N,
        mut left: impl FnMut(Rank, G),
    ) -> Result<bool> {
        let mut any = false;
        while let Some(Answer { to, head, bytes, gives }) = self.0.front() {
            let body = Bytes(bytes);
            let body = (!bytes.is_empty()).then_some((&body, 0, bytes.len()));
            if !network.send(*to, head.bytes(), body)? {
                break;
            }
            left(*to, *gives);
            self.0.pop_front();
            any = true;
        }
        Ok(any)
    }
}

#[cfg(test)]
mod tests;
