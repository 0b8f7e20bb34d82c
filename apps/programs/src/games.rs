//! Games of two players: their rules, as `weft-search` wants them, and a program that solves and
//! plays them, and counts the lines of play that they have (perft), by which it is checked.
//!
//! | module | what |
//! |---|---|
//! | `othello` | Othello: a place encloses discs of the other player, which change hands |
//! | `connect_four` | Connect Four, on seven columns of six or five of four |
//! | `board` | games as text: boards, moves, outcomes |
//! | `bits` | what sets of squares have in common |
//! | `rules` | rules as text and in C, the same on all ranks |
//! | `ruled` | games and puzzles by such rules |
//! | `run` | the program: `solve`, `play`, `bench`, and lines of play |
//! | `search` | searches of all of these |
//!
//! A position of the two games here is two sets of squares, those of the player to move and those
//! of the other.

mod bench;
mod bits;
mod board;
mod connect_four;
mod error;
mod options;
mod othello;
mod play;
mod ruled;
mod rules;
mod run;
mod search;
mod solve;

pub use board::{Board, NoMove, Played};
pub use connect_four::{ConnectFour, ConnectFour5x4, Discs};
pub use error::Error;
pub use options::{Choice, Command, GameName, Options, PerftOptions, RulesOptions};
pub use othello::Othello;
pub use rules::{RulesError, load};
pub use run::run;

/// The program `weft-game`, a rank of a job or a job of its own.
pub fn main() -> std::process::ExitCode {
    weft_app_common::run_messages(run)
}
