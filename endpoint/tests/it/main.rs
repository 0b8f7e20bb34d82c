//! All in one binary, because linking many takes longer than running them.

#![allow(clippy::unwrap_used)] // Helpers of tests are tests, too.

mod coalescing;
mod deferred;
mod failure;
mod hostile;
mod hostile_puts;
mod lent;
mod lossy;
mod multicast;
mod packets;
mod pipes;
mod protocols;
mod puts;
