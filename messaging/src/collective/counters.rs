//! Barriers and small all-reduces where ranks share memory: one addition, and watching a word.
//!
//! A team has two sets of words that take turns. In each, one word of its first member counts
//! arrivals, and every member has some of its own for its values. Nobody comes back to a set before
//! all have left it: to get there it has to pass the other, which all have to reach. So what is in a
//! set does not change from the last arrival until the last member has read it.
//!
//! An arrival adds 1, and above that a number that stands for what its member has begun. If those
//! differ, the sum is not what each member expects.

use super::operations::Members;
use super::signature::Signature;
use crate::Result;
use crate::engine::Engine;
use std::sync::Arc;
use weft_node::biased::Biased;
use weft_packet::{Packets, Rank, SharedWords};

/// The variables of each rank that counters use: the index of the first, and the words of values, for
/// each team that has some, in the order of creation. The first is the team of all.
const PLACES: [(u16, usize); 4] = [(54, MOST_WORDS), (50, 1), (46, 1), (42, 1)];

/// Words of values at most.
const MOST_WORDS: usize = 4;

/// A value of all bytes that one member brings.
pub(super) type Value = [u64; MOST_WORDS];

/// What a team has in shared memory.
pub(super) struct Counters {
    words: Arc<dyn SharedWords>,
    home: Rank,
    me: Rank,
    first: u16,
    width: usize,
    sets: Biased<Sets>,
}

#[derive(Default)]
struct Sets {
    passed: usize,
    /// What the count of each set is once all have arrived.
    full: [u64; 2],
    /// What is in this member's words of each set.
    mine: [Value; 2],
}

/// A turn at one set of words.
struct Turn {
    set: usize,
    arrival: u64,
    full: u64,
    /// What to add to this member's words.
    changes: Value,
}

impl Counters {
    /// Those of team `number`, if ranks share memory and there is room.
    pub fn new(packets: &Packets, members: &Members, number: u16) -> Option<Self> {
        let words = Arc::clone(packets.shared_words()?);
        let &(first, width) = PLACES.get(usize::from(number))?;
        let (home, me) = (members.rank(0), packets.rank());
        let sets = Biased::new(Sets::default());
        Some(Counters { words, home, me, first, width, sets })
    }

    /// Bytes that a member can bring.
    pub fn room(&self) -> usize {
        self.width * size_of::<u64>()
    }

    /// Arrives with `value`, of `words` words, and waits for all. Returns whether all have begun the
    /// same. What they brought stays where it is until this member comes again.
    pub fn meet(
        &self,
        engine: &Arc<Engine>,
        members: &Members,
        signature: Signature,
        (value, words): (Value, usize),
        failed: impl Fn() -> Option<crate::Error>,
    ) -> Result<Option<Set<'_>>> {
        let Turn { set, arrival, full, changes } = self.turn(members, signature, value);
        for (word, &change) in changes[..words].iter().enumerate() {
            self.words.fetch_add(self.me, self.value_word(set, word), change);
        }
        let before = self.words.fetch_add(self.home, self.first + set as u16, arrival);
        let count = || self.words.load(self.home, self.first + set as u16);
        if arrivals(before.wrapping_add(arrival)) == arrivals(full) {
            self.words.wake_sleepers();
        } else {
            let mut idle = 0_u32;
            engine.watch(|_| {
                if arrivals(count()) == arrivals(full) {
                    return Ok(true);
                }
                idle = idle.wrapping_add(1);
                // Somebody who began something else says so with a message.
                match idle.is_multiple_of(8).then(&failed).flatten() {
                    Some(error) => Err(error),
                    None => Ok(false),
                }
            })?;
        }
        Ok((count() == full).then_some(Set { counters: self, set, words }))
    }

    fn turn(&self, members: &Members, signature: Signature, value: Value) -> Turn {
        let arrival = 1 | u64::from(signature.hash()) << 32;
        let mut sets = self.sets.enter();
        let set = sets.passed % 2;
        sets.passed += 1;
        let full = sets.full[set].wrapping_add(arrival.wrapping_mul(members.size as u64));
        sets.full[set] = full;
        let before = std::mem::replace(&mut sets.mine[set], value);
        let changes = std::array::from_fn(|word| value[word].wrapping_sub(before[word]));
        Turn { set, arrival, full, changes }
    }

    fn value_word(&self, set: usize, word: usize) -> u16 {
        self.first + (2 + set * self.width + word) as u16
    }
}

/// The part of a count that says how many have arrived.
fn arrivals(count: u64) -> u32 {
    count as u32
}

/// What all members have brought.
pub(super) struct Set<'a> {
    counters: &'a Counters,
    set: usize,
    words: usize,
}

impl Set<'_> {
    /// What the member at `rank` has brought.
    pub fn value(&self, rank: Rank) -> Value {
        let counters = self.counters;
        std::array::from_fn(|word| match word < self.words {
            true => counters.words.load(rank, counters.value_word(self.set, word)),
            false => 0,
        })
    }
}
