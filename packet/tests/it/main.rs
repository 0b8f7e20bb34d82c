//! All in one binary, because linking many takes longer than running them.

#![allow(clippy::unwrap_used)] // Helpers of tests are tests, too.

mod company;
mod failure;
mod hostile;
mod hostile_places;
mod lossy;
mod multicast;
mod packets;
mod place;
mod protocols;
