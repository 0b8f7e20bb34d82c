//! An iterative solver of linear equations `Ax = b`, by Jacobi's method (thesis 8.5.6).
//!
//! `problem` says what is solved, `sweep` is the kernel on a rank's rows, `candidate` the shared
//! object by which ranks exchange their parts of the next vector, `solve` the iteration, `verify`
//! the check, which shares no code with it, `report` what is printed; `run()` joins them.
//!
//! Invariant: the result does not depend on how the rows are divided, not in a single bit. A value
//! is computed from its row and the last vector by the same operations in the same order wherever
//! it lives, and the largest change is a maximum, which has no order.

mod candidate;
mod options;
mod problem;
mod report;
mod run;
mod solve;
mod sweep;
pub mod threads;
mod verify;

pub use options::Options;
pub use run::{Error, Solved, run, solve};
pub use sweep::sweep;

/// The program `leq`, a rank of a job or a job of its own.
pub fn main() -> std::process::ExitCode {
    weft_app_common::run_messages(run)
}
