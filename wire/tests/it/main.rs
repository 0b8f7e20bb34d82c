//! All in one binary.

#![allow(clippy::unwrap_used)] // Helpers of tests are tests, too.

mod golden;
