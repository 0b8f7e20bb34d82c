//! Radix sort on shared regions: SPLASH-2's, on CRL (thesis 8.5.9).
//!
//! Keys lie in two arrays of regions (`array`), and each pass moves them from one to the other, by
//! one digit. `sort` is what a rank does with the keys that it has, `sequential` the whole on one
//! rank; `run()` joins them.
//!
//! Invariant: a pass keeps the order of keys whose digits are equal, whoever moves them.

mod array;
mod options;
mod pull;
mod push;
mod run;
mod sequential;
mod sort;
pub mod threads;

pub use options::Options;
pub use run::{Error, Solved, run, solve};

/// The program `radix`, a rank of a job or a job of its own.
pub fn main() -> std::process::ExitCode {
    weft_app_common::run_shared(run)
}
