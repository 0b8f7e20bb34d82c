//! All in one binary, because linking many takes longer than running them.

#![allow(clippy::unwrap_used)] // Helpers of tests are tests, too.

mod beside;
mod coherence;
mod collectives;
mod copies;
mod diagram;
mod exploration;
mod hostile;
mod losses;
mod misuse;
mod planted;
mod random;
mod regions;
mod threads;
mod world;
