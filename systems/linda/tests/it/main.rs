//! Tuple spaces among ranks that are threads.
#![allow(clippy::unwrap_used)] // Helpers of tests are tests, too.

mod active;
mod common;
mod contention;
mod errors;
mod homes;
mod matching;
mod waiting;
