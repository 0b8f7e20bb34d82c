//! Thousands of storms on bad simulated networks, judged from outside.
//!
//! A [`Case`] follows from its number: ranks, preset, tree, window, buffers, everything that goes
//! wrong, and a storm of packets. Three judges that know nothing of the implementation watch it:
//! the reference model behind the simulator's scenarios sees what programs see, [`frames`] sees
//! what is on the links, and the simulator sees whether the run ends. A case that fails prints how
//! to run it again. [`systems`] is a storm of all systems of a rank, on simulated networks and
//! real ones.
//!
//! `make soak` runs as many as its limits ask for; `make test` runs some for two minutes.
//!
//! May use the simulator and everything below it.

#![forbid(unsafe_code)]

mod case;
pub mod frames;
pub mod systems;
mod totals;

pub use case::{Case, Failure, Passed};
pub use totals::{Goal, Totals, run};
