//! Fetch-and-add variables (thesis 3.8): additions that take place one at a time.
//!
//! An addition of `a` that finds `v` takes the numbers from `v` to `v + a`. All of them together
//! take each number once; and one that was asked for when another had been answered takes later
//! ones than that.

use super::{Disagreement, Missing};
use std::collections::BTreeMap;
use weft_wire::Rank;

/// All variables of a job.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Counters {
    variables: BTreeMap<(Rank, u16), Variable>,
    asked: BTreeMap<Rank, Outstanding>,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
struct Variable {
    /// The sum of all that was asked for.
    total: u64,
    /// The numbers below were all taken by additions that were answered.
    taken: u64,
    /// Answered additions beyond that: where each begins and ends.
    beyond: BTreeMap<u64, u64>,
    /// The end of the last addition that was answered.
    last: u64,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Outstanding {
    home: Rank,
    variable: u16,
    amount: u64,
    /// The end of the last addition answered before this was asked for.
    after: u64,
}

impl Counters {
    pub fn ask(&mut self, by: Rank, home: Rank, variable: u16, amount: u64) {
        assert!(amount > 0, "additions are told apart by what they add");
        let counter = self.variables.entry((home, variable)).or_default();
        counter.total += amount;
        let asked = Outstanding { home, variable, amount, after: counter.last };
        let before = self.asked.insert(by, asked);
        assert!(before.is_none(), "rank {by} has a fetch-and-add outstanding");
    }

    pub fn answer(&mut self, by: Rank, value: u64) -> Result<(), Disagreement> {
        let Some(asked) = self.asked.remove(&by) else {
            return Err(Disagreement::Unasked { by, value });
        };
        let Outstanding { home, variable, amount, after } = asked;
        let counter = self.variables.entry((home, variable)).or_default();
        if value < after || !counter.take(value, amount) {
            return Err(Disagreement::Fetched { by, home, variable, value });
        }
        Ok(())
    }

    pub fn is_done(&self) -> bool {
        self.asked.is_empty()
    }

    pub fn missing(&self) -> impl Iterator<Item = Missing> + '_ {
        let missing = |(&by, asked): (&Rank, &Outstanding)| {
            let Outstanding { home, variable, .. } = *asked;
            Missing::Answer { by, home, variable }
        };
        self.asked.iter().map(missing)
    }
}

impl Variable {
    /// True if an addition of `amount` can have found `start`; then it has.
    fn take(&mut self, start: u64, amount: u64) -> bool {
        let Some(end) = start.checked_add(amount).filter(|end| *end <= self.total) else {
            return false;
        };
        let overlaps = self.beyond.range(..end).next_back().is_some_and(|(_, &e)| e > start);
        if start < self.taken || overlaps {
            return false;
        }
        self.beyond.insert(start, end);
        while let Some(end) = self.beyond.remove(&self.taken) {
            self.taken = end;
        }
        self.last = self.last.max(end);
        true
    }
}
