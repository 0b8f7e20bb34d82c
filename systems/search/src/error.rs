//! Errors of a search.

use weft_endpoint::Rank;

/// A search that could not be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Messages failed; a lost rank above all.
    #[error(transparent)]
    Message(#[from] weft_messaging::Error),
    /// A peer sent what no rank of a search sends.
    #[error("a message from rank {from} {what}")]
    Format {
        /// Its sender.
        from: Rank,
        /// Reason why it is none.
        what: &'static str,
    },
    /// A rank said to have found a solution, and it is none: the rules of the game are not those of
    /// all ranks, or contradict themselves.
    #[error("the moves that a rank has found are no solution")]
    NoSolution,
    /// A game that is longer than it says itself ([`crate::Game::longest`]).
    #[error(
        "games from there may be longer than the {moves} moves that the rules say are the longest: have `longest` \
         say more, or leave it out"
    )]
    Longer {
        /// Moves of the longest game, as the game says.
        moves: u16,
    },
    /// Settings that cannot be.
    #[error("{what} cannot be {value}: {why}")]
    Setting {
        /// The setting.
        what: &'static str,
        /// Value that was asked for.
        value: usize,
        /// Reason why it cannot be.
        why: &'static str,
    },
}

/// Result of an operation of a search.
pub type Result<T> = std::result::Result<T, Error>;
