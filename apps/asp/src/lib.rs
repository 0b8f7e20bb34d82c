//! All-pairs shortest paths over the scheduled routes of the world's airports (thesis 8.5.2).
//!
//! - Input: `input`, `tables` (text), `import` (from OpenFlights), `network` (what is computed
//!   on), `lookup` (airports by name), `sphere` (geometry), `graph`, `components`;
//! - computation: `rows` (the kernel), `relax` (a plain one, to compare with), `solve` (the
//!   parallel algorithm), `published` (rows by a shared object), `dijkstra` and
//!   `verify` (the check, which shares no code with it), `trip` (routes from distances);
//! - output: `report`, `map`.
//!
//! Only `run()` knows Weft; the rest is functions of their arguments, and the algorithm itself
//! talks through `weft_app_common::Exchange`, so that tests run it between threads. Invariants:
//! distances are integers, hence exact; nothing is reported that the check has not confirmed.

#![forbid(unsafe_code)]

mod components;
mod dijkstra;
#[doc(hidden)]
pub mod fuzzing;
mod graph;
mod import;
mod input;
mod lookup;
mod map;
mod network;
mod options;
mod published;
mod relax;
mod report;
mod rows;
mod run;
mod solve;
mod sphere;
mod tables;
pub mod threads;
mod trip;
mod verify;

pub use import::ImportError;
pub use input::InputError;
pub use lookup::LookupError;
pub use options::{On, Options};
pub use relax::relax;
pub use run::{Error, Solved, run, solve};

/// The program `asp`, a rank of a job or a job of its own.
pub fn main() -> std::process::ExitCode {
    weft_app_common::run_messages(run)
}
