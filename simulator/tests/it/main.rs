//! All in one binary, because linking many takes longer than running them.

#![allow(clippy::unwrap_used)] // Helpers of tests are tests, too.

mod collectives;
mod linda;
mod losses;
mod objects;
mod orders;
mod packets;
mod processes;
mod programs;
mod rendezvous;
mod scenarios {
    mod messages;
    mod orders;
    mod threads;
}
mod services;
mod storms;
mod systems;
mod traces;
mod upcalls;
