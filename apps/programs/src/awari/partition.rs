//! A rank's part of a database while it is made: a shared object with one copy, at its rank, whose
//! operations take whole batches of updates.

use serde::{Deserialize, Serialize};
use weft_object::object;

/// A value that is not known yet.
pub const UNKNOWN: i8 = i8::MIN;

/// Best exit of a position that has none.
pub const NO_EXIT: i8 = i8::MIN;

/// Positions of one rank. They are named by their place in it.
#[derive(Serialize, Deserialize, Default)]
pub struct Partition {
    values: Vec<i8>,
    /// Positions that follow without a capture and are not known to be won by the threshold.
    open: Vec<u8>,
    /// The best exit of each position, or [`NO_EXIT`].
    exits: Vec<i8>,
    /// Positions whose value became known, for the next round and the one after it, by the parity
    /// of its number: a rank that is ahead sends for the one after while this one has not begun.
    known: [Vec<u32>; 2],
}

#[object(name = "awari.Partition")]
impl Partition {
    /// Updates positions of which some that follow became known to be worth `threshold` or less
    /// that, in this round. Each update is a place and a bit, the lowest: 1 if what follows is won,
    /// by its mover. Returns how many became known by it.
    #[write]
    pub fn apply(&mut self, updates: &[u32], threshold: i8, round: u32) -> u32 {
        let mut count = 0;
        for update in updates {
            let (place, is_won) = ((update >> 1) as usize, update & 1 == 1);
            self.open[place] -= u8::from(is_won);
            let value = if is_won { -threshold } else { threshold };
            let is_left = is_won && (self.open[place] > 0 || self.exits[place] > value);
            if !is_left && self.values[place] == UNKNOWN {
                self.learn(place, value, round + 1);
                count += 1;
            }
        }
        count
    }

    /// Begins a database: for each position the number of those that follow without a capture, and
    /// the best exit.
    #[write]
    pub fn start(&mut self, open: Vec<u8>, exits: Vec<i8>) {
        self.values = vec![UNKNOWN; open.len()];
        (self.open, self.exits) = (open, exits);
    }

    /// Looks for positions that are known by exits alone to be worth `threshold` or less that.
    /// Returns how many there are, which are for this round.
    #[write]
    pub fn seed(&mut self, threshold: i8, round: u32) -> u32 {
        let mut count = 0;
        for place in 0..self.values.len() {
            let exit = self.exits[place];
            let is_won = exit == threshold;
            let is_lost = exit == -threshold && self.open[place] == 0;
            if self.values[place] == UNKNOWN && (is_won || is_lost) {
                self.learn(place, exit, round);
                count += 1;
            }
        }
        count
    }

    /// Takes the positions that became known for this round, as updates name them: the lowest bit
    /// is 1 for those that are won.
    #[write]
    pub fn take(&mut self, round: u32) -> Vec<u32> {
        std::mem::take(&mut self.known[round as usize % 2])
    }

    /// Ends a database: values of all positions, where those that are still unknown are 0.
    #[write]
    pub fn finish(&mut self) -> Vec<i8> {
        let mut values = std::mem::take(self).values;
        values.iter_mut().filter(|value| **value == UNKNOWN).for_each(|value| *value = 0);
        values
    }
}

impl Partition {
    fn learn(&mut self, place: usize, value: i8, round: u32) {
        self.values[place] = value;
        let update = (place as u32) << 1 | u32::from(value > 0);
        self.known[round as usize % 2].push(update);
    }
}

#[cfg(test)]
mod tests;
