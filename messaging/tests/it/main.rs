//! All in one binary, because linking many takes longer than running them.

#![allow(clippy::unwrap_used)] // Helpers of tests are tests, too.

mod allocations;
mod beside;
mod collectives;
mod common;
mod counters;
mod exactly_once;
mod exploration;
mod failures;
mod hostile;
mod lent;
mod losses;
mod messages;
mod orders;
mod rendezvous;
mod rpc;
mod rpc_allocations;
mod selective;
mod short;
mod splits;
mod storms;
mod threads;
mod upcalls;
mod varied;
mod world;
