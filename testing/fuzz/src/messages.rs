//! What launcher, agents and ranks tell each other, and what ranks print. The checks are beside the parsers,
//! which nobody else needs to see.

pub use weft_launch::fuzzing::{hosts, job_variable, last_words, to_launcher, to_rank};
