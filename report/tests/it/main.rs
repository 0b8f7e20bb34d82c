//! Tests of reports as people get them.

#![allow(clippy::unwrap_used)] // Helpers of tests are tests, too.

mod browser;
mod runs;
mod simulated;
mod visit;
