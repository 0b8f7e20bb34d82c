//! Objects among ranks that are threads.
#![allow(clippy::unwrap_used)] // Helpers of tests are tests, too.

mod common;
mod consistency;
mod deadlock;
mod deletion;
mod dynamic;
mod errors;
mod guards;
mod hostile;
mod losses;
mod operations;
mod placement;
mod processes;
mod types;
