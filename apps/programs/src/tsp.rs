//! The travelling salesman: the shortest tour of some towns by branch and bound, on shared
//! objects.
//!
//! `towns` reads or makes the distances, `search` is branch and bound from the beginning of a tour,
//! `shared` has the objects by which ranks share jobs and the best tour, `held_karp` the check,
//! which shares no code with it; `run()` joins them.
//!
//! Invariant: the result depends neither on the number of ranks nor on who is faster. Of all
//! shortest tours it is the one whose towns come first in order, and what cannot be that is all
//! that is left out.

mod held_karp;
mod options;
mod run;
mod search;
mod shared;
mod towns;

pub use options::Options;
pub use run::{Error, run};
pub use towns::InputError;

/// The program `tsp`, a rank of a job or a job of its own.
pub fn main() -> std::process::ExitCode {
    weft_app_common::run_messages(run)
}
