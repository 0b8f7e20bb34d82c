//! Distances from the capture, or the end, that a winner can force.
//!
//! Values alone do not win: whoever keeps a won position won may do so for ever. Among moves that
//! keep the value for both sides, the winner has a way to an exit that the loser cannot avoid, by
//! the definition of the value; the level of a position is the number of moves that it takes.

use crate::awari::board::Board;
use crate::awari::database::Databases;
use crate::awari::index::{board_of, count, index_of};
use std::collections::VecDeque;
use std::convert::Infallible;

/// Levels of positions that may follow some position, as long as no stone is captured and no side
/// makes a mistake.
pub struct Levels {
    stones: u32,
    /// By index; [`FAR`] where there is none.
    levels: Vec<u16>,
}

/// Level of a position that has none.
const FAR: u16 = u16::MAX;

/// Number of open moves of a position that does not follow.
const UNSEEN: u8 = u8::MAX;

impl Levels {
    /// Those of what may follow `board`, whose value is not 0, and which a database has.
    pub fn around(board: &Board, known: &Databases) -> Self {
        let stones = board.stones();
        let all = count(stones) as usize;
        let mut found = Found {
            known,
            stones,
            open: vec![UNSEEN; all],
            levels: vec![FAR; all],
            next: VecDeque::new(),
        };
        found.explore(index_of(board));
        found.go_back();
        Levels { stones, levels: found.levels }
    }

    /// Level of a board: moves before the one that captures or ends, for who wins at least, for who
    /// loses at most. `None` if it does not follow.
    pub fn of(&self, board: &Board) -> Option<u16> {
        let level =
            self.levels.get(index_of(board) as usize).filter(|_| board.stones() == self.stones);
        level.copied().filter(|&level| level != FAR)
    }
}

/// Positions that were found.
struct Found<'a> {
    known: &'a Databases,
    stones: u32,
    /// Moves that keep the value and whose level is not known, by index.
    open: Vec<u8>,
    levels: Vec<u16>,
    /// Positions whose level is known and which were not gone back from, nearest first.
    next: VecDeque<u32>,
}

impl Found<'_> {
    /// Finds what follows, and those positions among it where nothing is left to be forced.
    fn explore(&mut self, first: u32) {
        let mut waiting = vec![first];
        self.open[first as usize] = 0;
        while let Some(index) = waiting.pop() {
            let board = board_of(self.stones, index);
            let value = self.known.value_of(self.stones, &board);
            let (mut open, mut has_exit) = (0, false);
            for (_, played) in board.moves() {
                let left = self.stones - u32::from(played.captured);
                let worth = played.captured as i8 - self.known.value_of(left, &played.board);
                if worth != value {
                    continue;
                }
                if played.captured > 0 {
                    has_exit = true;
                    continue;
                }
                open += 1;
                let follows = index_of(&played.board);
                if self.open[follows as usize] == UNSEEN {
                    self.open[follows as usize] = 0;
                    waiting.push(follows);
                }
            }
            self.open[index as usize] = open;
            if open == 0 || (value > 0 && has_exit) {
                self.levels[index as usize] = 0;
                self.next.push_back(index);
            }
        }
    }

    /// Goes back from what is known, by moves that keep the value.
    fn go_back(&mut self) {
        while let Some(index) = self.next.pop_front() {
            let board = board_of(self.stones, index);
            let value = self.known.value_of(self.stones, &board);
            let level = self.levels[index as usize].saturating_add(1).min(FAR - 1);
            let Ok(()) = board.unmoves(|parent| {
                let before = index_of(&parent) as usize;
                let is_kept = self.known.value_of(self.stones, &parent) == -value;
                if is_kept && self.open[before] != UNSEEN && self.levels[before] == FAR {
                    self.open[before] -= 1;
                    if value < 0 || self.open[before] == 0 {
                        self.levels[before] = level;
                        self.next.push_back(before as u32);
                    }
                }
                Ok::<_, Infallible>(())
            });
        }
    }
}

#[cfg(test)]
mod tests;
