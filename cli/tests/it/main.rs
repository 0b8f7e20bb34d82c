//! All in one binary, which is linked sooner than one for each module. `make test` runs each module
//! in a process of its own: some stand no other beside them (`xtask/src/suite.rs`).

#![allow(clippy::unwrap_used)] // Helpers of tests are tests, too.

mod across;
mod bench;
mod common;
mod compare;
mod crawlers;
mod deadlocks;
mod door;
mod examples;
mod fabric;
mod farm;
mod hosts;
mod jobs;
mod loss;
mod managers;
mod middle;
mod mistakes;
mod mpi;
mod new;
mod newcomers;
mod output;
mod pages;
mod places;
mod privileges;
mod programs;
mod ranks;
mod report;
mod resources;
mod sim;
mod surroundings;
mod survivors;
mod tickets;
mod top;
mod trace;
#[path = "../../../report/tests/it/visit.rs"]
mod visit;
mod weft;
mod xdp;
mod zoo;
