//! Water on shared regions: molecules that pull at each other and at themselves, all pairs of them,
//! as the program of that name in SPLASH does.
//!
//! | module | what |
//! |---|---|
//! | `potential` | energies and forces, of a molecule and of two |
//! | `molecule` | molecules, and where they begin |
//! | `shared` | molecules in regions |
//! | `solve` | the steps, together and alone |
//! | `verify` | the checks |
//! | `run`, `options` | the program |
//!
//! The forces on a molecule are added in the order in which ranks come, so that results on several
//! ranks differ from run to run by rounding, and by no more.

mod error;
mod molecule;
mod options;
mod potential;
mod run;
mod shared;
mod solve;
mod verify;

pub use error::Error;
pub use options::Options;
pub use run::{Solved, run, solve};
pub use shared::Words;

/// The program `water`, a rank of a job or a job of its own.
pub fn main() -> std::process::ExitCode {
    weft_app_common::run_shared(run)
}
