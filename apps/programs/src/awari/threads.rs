//! Databases by bare threads, by the same retrograde analysis: updates of positions are atomic
//! operations on them, and go through no queue.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicI8, AtomicU8, AtomicU64};
use std::sync::{PoisonError, RwLock};
use std::time::Duration;

use weft_app_common::{Blocks, Crewmate, crew};

use crate::awari::board::Board;
use crate::awari::check::value_by_moves;
use crate::awari::database::{Database, Databases};
use crate::awari::index::{board_of, count, index_of};
use crate::awari::partition::UNKNOWN;
use crate::awari::solve::moves_of;

/// Makes the databases of up to so many stones by so many threads, in memory. Returns them, and the
/// time that they took.
pub fn make(stones: u32, threads: usize) -> (Databases, Duration) {
    let known = RwLock::new(Databases::default());
    let positions: Vec<Positions> = (0..=stones).map(Positions::new).collect();
    let times = crew(threads, |mate| {
        let ((), time) = mate.timed(|| {
            for positions in &positions {
                positions.solve(&known, mate);
            }
        });
        time
    });
    (known.into_inner().unwrap_or_else(PoisonError::into_inner), times[0])
}

/// Index of the first of some positions, spread evenly over each database, whose value is not the
/// best of its moves, with its number of stones.
pub fn first_wrong(known: &Databases, sample: u32) -> Option<(u32, u32)> {
    let numbers = |stones: u32| {
        let (all, sample) = (u64::from(count(stones)), u64::from(sample.min(count(stones))));
        (0..sample).map(move |number| (stones, (number * all / sample) as u32))
    };
    (0..known.len()).flat_map(numbers).find(|&(stones, index)| {
        let board = board_of(stones, index);
        known.value_of(stones, &board) != value_by_moves(known, &board)
    })
}

/// Positions of a database while it is made.
struct Positions {
    stones: u32,
    values: Vec<AtomicI8>,
    /// Positions that follow without a capture and are not known to be won by the threshold.
    open: Vec<AtomicU8>,
    exits: Vec<AtomicI8>,
    /// Positions that became known in rounds of this and of the other parity.
    learnt: [AtomicU64; 2],
}

impl Positions {
    fn new(stones: u32) -> Self {
        let all = count(stones) as usize;
        Positions {
            stones,
            values: (0..all).map(|_| AtomicI8::new(UNKNOWN)).collect(),
            open: (0..all).map(|_| AtomicU8::new(0)).collect(),
            exits: (0..all).map(|_| AtomicI8::new(0)).collect(),
            learnt: Default::default(),
        }
    }

    fn solve(&self, known: &RwLock<Databases>, mate: &Crewmate<'_>) {
        let own = Blocks::new(self.values.len(), mate.size()).of(mate.rank());
        {
            let known = known.read().unwrap_or_else(PoisonError::into_inner);
            for index in own.clone() {
                let board = board_of(self.stones, index as u32);
                let (open, exit) = moves_of(&board, self.stones, &known);
                self.open[index].store(open, Relaxed);
                self.exits[index].store(exit, Relaxed);
            }
        }
        mate.barrier();
        let mut round = 0;
        for threshold in (1..=self.stones as i8).rev() {
            let mut next = Vec::new();
            own.clone().for_each(|index| self.seed(index, threshold, &mut next));
            while self.any(next.len() as u64, round, mate) {
                for index in std::mem::take(&mut next) {
                    self.expand(index, threshold, &mut next);
                }
                round += 1;
            }
            round += 1;
        }
        if mate.rank() == 0 {
            let value = |value: &AtomicI8| match value.load(Relaxed) {
                UNKNOWN => 0,
                value => value,
            };
            let values = self.values.iter().map(value).collect();
            let database = Database::new(self.stones, values);
            let mut known = known.write().unwrap_or_else(PoisonError::into_inner);
            known.push(database.expect("there is a value for each board, of no more stones"));
        }
        mate.barrier();
    }

    /// True if any thread has learnt something for this round. Each adds what it has; the sum of
    /// the round before is emptied between two barriers that all pass after they have read it.
    fn any(&self, mine: u64, round: usize, mate: &Crewmate<'_>) -> bool {
        self.learnt[round % 2].fetch_add(mine, Relaxed);
        mate.barrier();
        let all = self.learnt[round % 2].load(Relaxed);
        mate.barrier();
        self.learnt[round % 2].store(0, Relaxed);
        all > 0
    }

    fn seed(&self, index: usize, threshold: i8, next: &mut Vec<u32>) {
        let exit = self.exits[index].load(Relaxed);
        let is_lost = || exit == -threshold && self.open[index].load(Relaxed) == 0;
        if self.values[index].load(Relaxed) == UNKNOWN && (exit == threshold || is_lost()) {
            self.learn(index, exit, next);
        }
    }

    /// Tells the parents of a position that became known.
    fn expand(&self, index: u32, threshold: i8, next: &mut Vec<u32>) {
        let board: Board = board_of(self.stones, index);
        let is_won = self.values[index as usize].load(Relaxed) > 0;
        let Ok(()) = board.unmoves(|parent| {
            self.update(index_of(&parent) as usize, is_won, threshold, next);
            Ok::<_, std::convert::Infallible>(())
        });
    }

    /// Updates a position of which one that follows became known, as `Partition::apply` does.
    fn update(&self, index: usize, is_won: bool, threshold: i8, next: &mut Vec<u32>) {
        if !is_won {
            return self.learn(index, threshold, next);
        }
        let open = self.open[index].fetch_sub(1, Relaxed) - 1;
        if open == 0 && self.exits[index].load(Relaxed) <= -threshold {
            self.learn(index, -threshold, next);
        }
    }

    fn learn(&self, index: usize, value: i8, next: &mut Vec<u32>) {
        if self.values[index].compare_exchange(UNKNOWN, value, Relaxed, Relaxed).is_ok() {
            next.push(index as u32);
        }
    }
}

#[cfg(test)]
mod tests;
