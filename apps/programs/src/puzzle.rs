//! The 15-puzzle: shortest solutions by IDA* on all ranks, with the Manhattan distance as the lower
//! bound (thesis 8.5.7).
//!
//! A board has 16 places, row by row, with the tiles 1 to 15 and a blank, written 0. A move slides
//! a tile into the blank. A board is solved if the blank is first, and 1 to 15 follow in order.
//!
//! | module | what |
//! |---|---|
//! | `board` | the rules, as `weft-search` wants them |
//! | `korf` | published instances |
//! | `input` | boards of the command line and of files |
//! | `run`, `report` | the program |

mod board;
mod input;
mod korf;
mod options;
mod report;
mod run;
pub mod threads;

pub use board::{Board, NoBoard};
pub use input::{InputError, Instance};
pub use korf::KORF;
pub use options::Options;
pub use run::{Error, run, solve};

/// The program `puzzle`, a rank of a job or a job of its own.
pub fn main() -> std::process::ExitCode {
    weft_app_common::run_messages(run)
}
