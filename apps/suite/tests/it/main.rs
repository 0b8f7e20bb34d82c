//! The applications on real and on simulated ranks.

#![allow(clippy::unwrap_used)]

mod ranks;
