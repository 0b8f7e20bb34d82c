//! Rules of games of two players, as `weft-search` wants them, and the number of lines of play that
//! they have (perft), by which programs for these games are checked.
//!
//! | module | what |
//! |---|---|
//! | `othello` | Othello: a place encloses discs of the other player, which change hands |
//! | `connect_four` | Connect Four, seven columns of six |
//! | `bits` | what sets of squares have in common |
//! | `run` | the program |
//!
//! A position is two sets of squares, those of the player to move and those of the other.

#![forbid(unsafe_code)]

mod bits;
mod connect_four;
mod options;
mod othello;
mod run;

pub use connect_four::ConnectFour;
pub use options::{Command, GameName, Options, PerftOptions};
pub use othello::Othello;
pub use run::{Error, run};
