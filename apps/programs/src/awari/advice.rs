//! Moves by the databases.

use crate::awari::board::{Board, Played};
use crate::awari::database::Databases;
use crate::awari::levels::Levels;
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// A legal move and its value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Choice {
    /// Pit that is sown, from 0 on.
    pub pit: usize,
    /// Position that follows.
    pub played: Played,
    /// Stones that the mover takes more than its opponent from here on.
    pub value: i8,
}

/// End of a line of play.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// No move is left.
    Over,
    /// A position has come back, so that play goes round for ever.
    Round,
}

/// Knowledge of the best move, for boards that databases have.
pub struct Adviser<'a> {
    known: &'a Databases,
    /// The last that were needed: the next move mostly needs the same.
    levels: Option<Levels>,
}

impl<'a> Adviser<'a> {
    /// An adviser with these databases.
    pub fn new(known: &'a Databases) -> Self {
        Adviser { known, levels: None }
    }

    /// True of boards that databases have.
    pub fn knows(&self, board: &Board) -> bool {
        board.stones() < self.known.len()
    }

    /// Legal moves and their values. The board is known.
    pub fn choices(&self, board: &Board) -> Vec<Choice> {
        let stones = board.stones();
        let choice = |(pit, played): (usize, Played)| {
            let left = stones - u32::from(played.captured);
            let value = played.captured as i8 - self.known.value_of(left, &played.board);
            Choice { pit, played, value }
        };
        board.moves().map(choice).collect()
    }

    /// The best move of a board that is known; `None` at the end of the game. Of moves with the
    /// best value, who wins takes the nearest to a capture or the end, and who loses the farthest.
    pub fn best(&mut self, board: &Board) -> Option<Choice> {
        let choices = self.choices(board);
        let value = choices.iter().map(|choice| choice.value).max()?;
        let best = choices.into_iter().filter(|choice| choice.value == value);
        match value.signum() {
            1 => best.min_by_key(|choice| self.distance(board, choice)),
            0 => best.min_by_key(|choice| choice.pit),
            _ => best.min_by_key(|choice| Reverse(self.distance(board, choice))),
        }
    }

    /// Best moves of both sides, to the end or until a position comes back.
    pub fn line(&mut self, board: &Board) -> (Vec<Choice>, End) {
        let (mut line, mut seen, mut board) = (Vec::new(), BTreeSet::new(), *board);
        // Sides alternate, and so do whose pits are first: one board may be of either side.
        while seen.insert((board, line.len() % 2)) {
            let Some(choice) = self.best(&board) else { return (line, End::Over) };
            board = choice.played.board;
            line.push(choice);
        }
        (line, End::Round)
    }

    /// Moves from `board` by a choice that keeps its value, which is not 0, to a capture or the
    /// end.
    fn distance(&mut self, board: &Board, choice: &Choice) -> u32 {
        if choice.played.captured > 0 {
            return 0;
        }
        let levels = match self.levels.take() {
            Some(levels) if levels.of(board).is_some() => levels,
            _ => Levels::around(board, self.known),
        };
        let level = levels.of(&choice.played.board);
        self.levels = Some(levels);
        level.map_or(u32::MAX, |level| 1 + u32::from(level))
    }
}

#[cfg(test)]
mod tests;
