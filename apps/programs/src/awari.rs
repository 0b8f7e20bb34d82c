//! Endgame databases of the game Awari, made by parallel retrograde analysis on shared objects
//! (thesis 8.5.3), and what plays with them.
//!
//! # Rules
//! A board has twelve pits, six on each side. A position is seen by whoever is to move: pits 0 to 5
//! are its own, 6 to 11 its opponent's, counter-clockwise.
//!
//! - **Sowing.** The mover takes all stones of one of its pits and puts them one by one into the
//!   pits that follow, counter-clockwise. The pit that they came from is left out on every lap.
//! - **Capture.** If the last stone makes two or three in a pit of the opponent, these are
//!   captured, and so are those of the pits before it, backwards, as long as they are the
//!   opponent's and hold two or three.
//! - **Grand slam.** A move that would capture all stones of the opponent is legal, and captures
//!   nothing.
//! - **Feeding.** If the opponent has no stones, only moves that give it some are legal.
//! - **End.** If there is no legal move the game ends, and each side takes the stones in its pits.
//!
//! # Value
//! The value of a position of *n* stones, from -n to n, is the number of stones that its mover
//! takes from there on less those of its opponent, if both play best. Play that goes round for ever
//! takes nothing more: the rest counts 0. Exactly: an *exit* of a position is its end, worth the
//! mover's stones less the opponent's, or a capture of *c* stones, worth *c* less the value of what
//! follows, which has fewer stones. For t >= 1 a position is won by t if its mover can force within
//! finitely many moves that an exit is taken which is worth t or more to it, whoever takes it; it
//! is lost by t if its opponent can. Its value is the largest t that it is won by, or less the
//! largest that it is lost by, or 0. It cannot be both won and lost, since a play has one exit.
//!
//! | module | what |
//! |---|---|
//! | `board` | the rules: moves, and *unmoves*, which go back |
//! | `index` | the number of a board among those with as many stones |
//! | `database` | values, in memory |
//! | `file` | values, in files |
//! | `partition` | a rank's part of a database while it is made: a shared object |
//! | `queues` | updates on their way, a queue for each destination |
//! | `solve` | a database from those of fewer stones |
//! | `make`, `check`, `query`, `play` | the commands |
//! | `levels` | distance from a won capture, so that who wins gets on |
//! | `advice`, `search` | moves: by the databases, and above them |
//! | `draw` | boards as text |
//!
//! Invariant: the bytes of a database depend on the rules only, and not on the number of ranks nor
//! on the order in which messages come. `solve` says why.

mod advice;
mod board;
mod check;
mod database;
mod draw;
mod error;
mod file;
mod index;
mod levels;
mod make;
mod options;
mod partition;
mod play;
mod query;
mod queues;
mod run;
mod search;
mod solve;
#[cfg(test)]
mod tests;
pub mod threads;

pub use board::{Board, PITS, Played};
pub use check::{Checked, check};
pub use database::{Database, Databases};
pub use error::Error;
pub use file::Files;
pub use index::{MOST_STONES, board_of, count, index_of};
pub use make::{Made, make};
pub use options::{CheckOptions, Command, MakeOptions, Options};
pub use run::run;

/// The program `awari`, a rank of a job or a job of its own.
pub fn main() -> std::process::ExitCode {
    weft_app_common::run_messages(run)
}
