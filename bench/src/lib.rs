//! Benchmarks, and the programs that run them.
//!
//! - [`micro`]: each operation beside its floor (`weft bench`);
//! - [`compare`]: the same movements by other libraries, and whole MPI programs (`weft compare`);
//! - [`application`]: the ten applications of the thesis's chapter 8 (`weft application`), which
//!   [`suite`] starts, times and checks in one way.

#![deny(unsafe_code)]

pub mod application;
pub mod compare;
pub mod micro;
pub mod suite;
