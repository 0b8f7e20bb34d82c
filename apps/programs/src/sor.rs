//! Red-black successive overrelaxation for Laplace's equation on a grid (thesis 8.5.10).
//!
//! `grid` holds a rank's rows and relaxes them, `solve` is the parallel iteration, `problem` says
//! what is solved, `report` what is printed; `run()` joins them and is the only one to know Weft.
//!
//! Invariant: the result does not depend on how the rows are divided, not in a single bit. A point
//! is computed from its neighbours by the same operations in the same order wherever it lives, and
//! the largest change is a maximum, which has no order. `run()` compares all bits with those of one
//! rank.

mod grid;
mod options;
mod problem;
mod report;
mod run;
mod solve;
pub mod threads;

pub use options::Options;
pub use run::{Error, Solved, run, solve};

/// The program `sor`, a rank of a job or a job of its own.
pub fn main() -> std::process::ExitCode {
    weft_app_common::run_messages(run)
}
