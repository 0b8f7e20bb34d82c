//! Rules of games of two players, as `weft-search` wants them, and the number of lines of play that
//! they have (perft), by which programs for these games are checked.
//!
//! | module | what |
//! |---|---|
//! | `othello` | Othello: a place encloses discs of the other player, which change hands |
//! | `connect_four` | Connect Four, seven columns of six |
//! | `bits` | what sets of squares have in common |
//! | `rules` | rules as text and in C, the same on all ranks |
//! | `run` | the program |
//!
//! A position of the two games here is two sets of squares, those of the player to move and those
//! of the other.

#![forbid(unsafe_code)]

mod bits;
mod connect_four;
mod options;
mod othello;
mod rules;
mod run;

pub use connect_four::ConnectFour;
pub use options::{Choice, Command, GameName, Options, PerftOptions, RulesOptions};
pub use othello::Othello;
pub use rules::{RulesError, load};
pub use run::{Error, run};
