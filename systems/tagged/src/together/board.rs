//! Barriers and small all-reduces of a team whose ranks share memory: one addition, and watching a word.
//!
//! A team has some of the fetch-and-add variables of its leader. One counts arrivals and is never put back: the meeting with number `k` is
//! over when it has grown by the size of the team times `k`. Two sets of the others take turns: there each member has some words for what it
//! brings. Nobody comes back to a set before all have left it, because to get there it has to pass the other one, which all
//! have to reach; so what is in a set does not change from the last arrival until the last member has read it; and words become another team's when all have left.

use std::sync::Arc;
use weft_packet::{Rank, SharedWords};

/// Variables of a rank that its teams may have: Weft's own, from this one on, which the layer of messages has in programs that have one.
const FIRST: u16 = 32;
/// How many.
const WORDS: u16 = 32;
/// Words that a member brings at most.
const MOST_WIDTH: u16 = 4;
/// Words that one team takes at most.
const MOST_OF_ONE: u16 = 24;

/// Which words of its leader a team has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// The first, which counts.
    pub first: u16,
    /// Words that each member brings; 0 if none can.
    pub width: u16,
    /// What the count was before.
    pub base: u64,
}

/// The words of a rank that its teams have or may have.
#[derive(Debug, Default)]
pub struct Words {
    taken: u32,
    /// Words of teams that not all members have left yet: some may still read there.
    left: Vec<(Place, usize, u64)>,
}

impl Words {
    /// Takes words for a team of so many members: with room for what they bring, or for the count alone, if that is there.
    pub fn take(&mut self, words: &dyn SharedWords, leader: Rank, members: usize) -> Option<Place> {
        let Words { taken, left } = self;
        left.retain(|&(place, members, last)| {
            let is_last = words.load(leader, place.first) == last;
            *taken &= if is_last { !place.mask(members) } else { u32::MAX };
            !is_last
        });
        let sets = u16::try_from(members).ok()?.checked_mul(2)?;
        let width = ((MOST_OF_ONE - 1) / sets.max(1)).min(MOST_WIDTH);
        [width, 0].into_iter().find_map(|width| {
            let count = 1 + sets * width;
            let is_free = |first: &u16| self.taken & mask(*first, count) == 0;
            let first = (0..=WORDS - count).find(is_free)?;
            self.taken |= mask(first, count);
            let first = FIRST + first;
            Some(Place { first, width, base: words.load(leader, first) })
        })
    }

    /// Gives the words of a team of so many members back, once the count is `last`; at once, if none has used them.
    pub fn give_back(&mut self, place: Place, members: usize, last: Option<u64>) {
        match last {
            Some(last) => self.left.push((place, members, last)),
            None => self.taken &= !place.mask(members),
        }
    }
}

impl Place {
    fn mask(self, members: usize) -> u32 {
        mask(self.first - FIRST, 1 + self.width * 2 * members as u16)
    }
}

fn mask(first: u16, count: u16) -> u32 {
    (((1_u64 << count) - 1) << first) as u32
}

/// A team's words, as one of its members uses them.
pub struct Counters {
    words: Arc<dyn SharedWords>,
    leader: Rank,
    place: Place,
    size: usize,
    me: usize,
    passed: u64,
}

/// One meeting of all members.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Meeting {
    set: u16,
    full: u64,
}

impl Counters {
    /// Those of a team of `size`, of which this is member `me`. `None` if these words cannot be.
    pub fn new(
        words: &Arc<dyn SharedWords>,
        leader: Rank,
        place: Place,
        (size, me): (usize, usize),
    ) -> Option<Self> {
        let count = size.checked_mul(2 * usize::from(place.width))?.checked_add(1)?;
        let first = usize::from(place.first.checked_sub(FIRST)?);
        let fits = place.width <= MOST_WIDTH && first + count <= usize::from(WORDS);
        fits.then(|| Counters { words: Arc::clone(words), leader, place, size, me, passed: 0 })
    }

    /// Bytes that a member can bring.
    pub fn room(&self) -> usize {
        usize::from(self.place.width) * 8
    }

    /// Arrives, bringing `bytes`, for which there is [room](Self::room).
    pub fn arrive(&mut self, bytes: &[u8]) -> Meeting {
        let set = (self.passed % 2) as u16;
        self.passed += 1;
        let full = self.place.base.wrapping_add(self.passed.wrapping_mul(self.size as u64));
        for (word, bytes) in bytes.chunks(8).enumerate() {
            let index = self.index(set, self.me, word);
            // Nobody else writes there.
            let before = self.words.load(self.leader, index);
            self.words.fetch_add(self.leader, index, word_of(bytes).wrapping_sub(before));
        }
        let before = self.words.fetch_add(self.leader, self.place.first, 1);
        if before.wrapping_add(1) == full {
            self.words.wake_sleepers();
        }
        Meeting { set, full }
    }

    /// Leaves for good. What the count is once all have left.
    pub fn leave(self) -> u64 {
        self.words.fetch_add(self.leader, self.place.first, 1);
        self.place.base.wrapping_add((self.passed + 1).wrapping_mul(self.size as u64))
    }

    /// Whether all have arrived. Some may have arrived at the next one already.
    #[inline]
    pub fn is_over(&self, meeting: Meeting) -> bool {
        let count = self.words.load(self.leader, self.place.first);
        count.wrapping_sub(meeting.full) < 1 << 63
    }

    /// What a member has brought to a meeting that is over: the bytes that there is room for.
    pub fn brought(&self, meeting: Meeting, member: usize, into: &mut [u8]) {
        for (word, bytes) in into.chunks_mut(8).enumerate() {
            let found = self.words.load(self.leader, self.index(meeting.set, member, word));
            let length = bytes.len();
            bytes.copy_from_slice(&found.to_le_bytes()[..length]);
        }
    }

    fn index(&self, set: u16, member: usize, word: usize) -> u16 {
        let before = usize::from(set) * self.size + member;
        self.place.first + 1 + (before * usize::from(self.place.width) + word) as u16
    }
}

fn word_of(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(word)
}

#[cfg(test)]
mod tests;
