//! Blocked LU factorisation without pivoting, on shared regions: SPLASH-2's.
//!
//! The matrix is divided into blocks, a region each, which are scattered over the ranks in two
//! dimensions (`layout`). `kernels` is what is done to blocks, `matrix` what is factorised,
//! `sequential` the whole on one rank, `blocks` a rank's part, `verify` the check; `run()` joins
//! them.
//!
//! Invariant: the factors do not depend on who owns the blocks, not in a single bit. Each block is
//! computed by the same operations in the same order.

mod blocks;
mod kernels;
mod layout;
mod matrix;
mod options;
mod run;
mod sequential;
mod verify;

pub use options::Options;
pub use run::{Error, Solved, run, solve};

/// The program `lu`, a rank of a job or a job of its own.
pub fn main() -> std::process::ExitCode {
    weft_app_common::run_shared(run)
}
