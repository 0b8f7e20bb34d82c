//! Errors of the program.

use std::io;

use crate::games::board::NoMove;
use crate::games::rules::RulesError;

/// Reason why a run gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Weft failed.
    #[error(transparent)]
    Weft(#[from] weft::Error),
    /// A search failed: a rank was lost.
    #[error(transparent)]
    Search(#[from] weft_search::Error),
    /// The rules cannot be used.
    #[error(transparent)]
    Rules(#[from] RulesError),
    /// The deadline was over.
    #[error("not counted within {0}")]
    Late(humantime::Duration),
    /// The deadline was over.
    #[error("not solved within {limit}: {known}")]
    Unsolved {
        /// The deadline.
        limit: humantime::Duration,
        /// Knowledge by then.
        known: String,
    },
    /// A puzzle is no game of two players.
    #[error("{0} is a puzzle, which is solved: weft-game solve {0}; perft counts its lines, too")]
    Puzzle(String),
    /// A puzzle has no solution.
    #[error("{0} has no solution from there")]
    Unsolvable(String),
    /// A position that is none.
    #[error("'{text}' is no position by these rules, whose first one is\n{like}")]
    Position {
        /// The text.
        text: String,
        /// The first position.
        like: String,
    },
    /// Positions are given to games by rules.
    #[error("--position is for games by rules: give the moves that led there")]
    NoPosition,
    /// A move of a puzzle that cannot be made.
    #[error("'{text}' is no move here: a move is its number by the rules; there are {legal}")]
    Move {
        /// The text.
        text: String,
        /// Moves there are.
        legal: String,
    },
    /// The moves played before are none.
    #[error(transparent)]
    Moves(#[from] NoMove),
    /// The report could not be written, or moves not read.
    #[error(transparent)]
    Output(#[from] io::Error),
}
