//! All in one binary, which is linked sooner than one for each module. `make test` runs each module
//! in a process of its own.

#![allow(clippy::unwrap_used)] // Helpers of tests are tests, too.

mod abi;
mod examples;
mod install;
mod mistakes;
mod packages;
mod pages;
mod programs;
