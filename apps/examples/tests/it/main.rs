//! All in one binary, because linking many takes longer than running them.

#![allow(clippy::unwrap_used)] // Helpers of tests are tests, too.

mod coming;
mod guide;
mod simulated;
mod waiting;
