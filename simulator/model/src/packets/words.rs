//! Variables of all atomic operations (thesis 3.8), which take place one at a time, each between
//! its request and its answer.
//!
//! The judge keeps every way in which a variable can have come about: its value, and which of the
//! operations that are asked for have taken place. An answer leaves those in which it is true. This
//! is right for any operations, and takes long where many are asked for at once; the judge of
//! counters is quicker.

use std::collections::{BTreeMap, BTreeSet};
use weft_wire::{Atomic, Rank};

/// All such variables of a job.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Words {
    variables: BTreeMap<(Rank, u16), Word>,
    /// Variables that ranks ask for.
    asked: BTreeMap<Rank, (Rank, u16)>,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Word {
    /// Operations that are not answered.
    asked: BTreeMap<Rank, Atomic>,
    /// Ways in which it can have come about.
    ways: BTreeSet<Way>,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
struct Way {
    value: u64,
    /// Operations that have taken place and are not answered, with what they found.
    done: BTreeMap<Rank, u64>,
}

impl Words {
    pub fn ask(&mut self, by: Rank, home: Rank, variable: u16, operation: Atomic) {
        let word = self.variables.entry((home, variable)).or_insert_with(Word::new);
        word.asked.insert(by, operation);
        let before = self.asked.insert(by, (home, variable));
        assert!(before.is_none(), "rank {by} has an operation outstanding");
    }

    /// The variable that `by` has asked for and had no answer of.
    pub fn asked_by(&self, by: Rank) -> Option<(Rank, u16)> {
        self.asked.get(&by).copied()
    }

    /// False if the operation of `by`, which has asked for one, cannot have found `value`.
    pub fn answer(&mut self, by: Rank, value: u64) -> bool {
        let Some(word) = self.asked.remove(&by).and_then(|asked| self.variables.get_mut(&asked))
        else {
            return false;
        };
        word.ways = word.ways_in_which(by, value);
        word.asked.remove(&by);
        !word.ways.is_empty()
    }

    pub fn is_done(&self) -> bool {
        self.asked.is_empty()
    }

    /// Ranks that have had no answer, each with the home of the variable and its number.
    pub fn missing(&self) -> impl Iterator<Item = (Rank, (Rank, u16))> + '_ {
        self.asked.iter().map(|(&by, &asked)| (by, asked))
    }
}

impl Word {
    fn new() -> Self {
        Word { asked: BTreeMap::new(), ways: BTreeSet::from([Way::default()]) }
    }

    /// Ways in which the operation of `by` found `value`, which is answered now. Operations that
    /// are not needed for that take place later, if they do.
    fn ways_in_which(&self, by: Rank, value: u64) -> BTreeSet<Way> {
        let mut left: Vec<Way> = self.ways.iter().cloned().collect();
        let (mut seen, mut found) = (self.ways.clone(), BTreeSet::new());
        while let Some(mut way) = left.pop() {
            if let Some(fetched) = way.done.remove(&by) {
                if fetched == value {
                    found.insert(way);
                }
                continue;
            }
            for (&rank, operation) in &self.asked {
                if way.done.contains_key(&rank) {
                    continue;
                }
                let mut next = Way { value: operation.apply(way.value), ..way.clone() };
                next.done.insert(rank, way.value);
                if seen.insert(next.clone()) {
                    left.push(next);
                }
            }
        }
        found
    }
}
