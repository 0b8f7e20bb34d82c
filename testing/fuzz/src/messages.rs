//! Messages between launcher, agents and ranks, those of a process manager to ranks, and the output
//! of ranks. The checks are beside the parsers, which nobody else needs to see.

pub use weft_launch::fuzzing::{hosts, job_variable, last_words, peers, to_launcher, to_rank};
pub use weft_pmi::fuzzing::process_manager;
