//! Files that the simulator reads.

pub use weft_link_sim::fuzzing::{bit_flips, machine};
