//! QR factorization by Householder reflections with column pivoting (thesis 8.5.8).
//!
//! `columns` holds a rank's columns, dealt out one to each rank in turn, and reflects them by
//! `kernel`; `factor` is the parallel algorithm, on `collectives`; `verify` checks its result in
//! parallel; `problem` says which matrix, `report` what is printed; `run()` joins them.
//!
//! Invariant: R, the vectors and the order of columns do not depend on how many ranks there are,
//! not in a single bit. A column is reflected by the same operations wherever it lives, and the
//! longest of all columns is a maximum, which has no order.

pub mod collectives;
pub mod columns;
pub mod factor;
mod kernel;
mod options;
mod problem;
mod report;
mod run;
pub mod threads;
pub mod verify;

pub use options::Options;
pub use problem::Problem;
pub use run::{Error, Solved, run, solve};

/// The program `qr`, a rank of a job or a job of its own.
pub fn main() -> std::process::ExitCode {
    weft_app_common::run_messages(run)
}
