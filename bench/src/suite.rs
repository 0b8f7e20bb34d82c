//! The applications that the thesis measured its protocols by (8.5), started, timed and checked in
//! one way, on any job.
//!
//! - `application`: their names, the systems that they stand on, the problems of table 8.6 and
//!   small ones;
//! - `run`: one of them on this rank;
//! - `threads`: one of them by bare threads, without Weft.
//!
//! Nothing is printed. Invariant: there is no outcome of a wrong result.

mod application;
mod error;
mod run;
mod threads;

pub use application::{Application, Size, System, UnknownApplication};
pub use error::{Error, Result};
pub use run::Outcome;
