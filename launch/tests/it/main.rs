//! All in one binary, which is linked sooner than one for each module. `make test` runs each module
//! in a process of its own. Not among them is `descriptors`, which has to be alone in any case.

#![allow(clippy::unwrap_used)] // Helpers of tests are tests, too.

mod common;
mod endings;
mod going_on;
mod hosts;
mod joining;
mod leftovers;
mod output;
mod signals;
mod tree;
