//! A fast Fourier transform on shared regions: the six steps of SPLASH-2's, on CRL (thesis 8.5.5).
//!
//! The points are a square matrix. Three times it is transposed, and between that its rows are
//! transformed by themselves: `plan` says how, `roots` has the roots of unity. `stripe` is a rank's
//! part of the matrix, `sequential` the whole on one rank, `verify` the checks, which share no code
//! with either; `run()` joins them.
//!
//! Invariant: the result does not depend on how the matrix is divided, not in a single bit. Each
//! row is transformed by the same operations in the same order wherever it lives, and roots are
//! made with square roots and products only, which are exact to the last bit on all machines.

mod complex;
mod options;
mod plan;
mod roots;
mod run;
mod sequential;
mod stripe;
pub mod threads;
mod verify;

pub use complex::Complex;
pub use options::Options;
pub use run::{Error, Solved, run, solve};

/// The program `fft`, a rank of a job or a job of its own.
pub fn main() -> std::process::ExitCode {
    weft_app_common::run_shared(run)
}
