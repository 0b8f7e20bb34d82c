//! Barnes-Hut on shared regions: the stars of a cluster, each pulled by all others (thesis 8.5.4).
//!
//! | module | what |
//! |---|---|
//! | `plummer` | where the bodies begin |
//! | `body`, `cell` | what is in the regions |
//! | `tree` | an oct-tree of one rank |
//! | `force` | the walk through a tree, wherever it is |
//! | `shared` | bodies and cells in regions |
//! | `grow` | the shared tree: built, weighed, divided |
//! | `solve` | the steps, together and alone |
//! | `verify` | the checks |
//! | `run`, `options` | the program |
//!
//! Every tree is the same whoever builds it, and every sum is in its order. So the result does not
//! depend on the number of ranks, not in a single bit. On the way no rank waits for another but at
//! barriers and for regions.

mod body;
mod cell;
mod error;
mod force;
mod grow;
mod options;
mod plummer;
mod run;
mod shared;
mod solve;
pub mod threads;
mod tree;
mod verify;

pub use body::BodyWords;
pub use cell::CellWords;
pub use error::Error;
pub use options::Options;
pub use run::{Solved, run, solve};

/// The program `barnes`, a rank of a job or a job of its own.
pub fn main() -> std::process::ExitCode {
    weft_app_common::run_shared(run)
}
