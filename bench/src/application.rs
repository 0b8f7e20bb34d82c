//! The ten applications of the thesis's chapter 8, started in one way, with one set of options and
//! one report: `weft application`.
//!
//! `rank` runs them on the ranks of a job, whoever has started it; `turns` starts jobs of one rank
//! and of several, and bare threads, in turns; `causes` says of a traced run where the time went
//! and which packets came, as figure 8.8 has them. The applications themselves, and the same with
//! threads, are in [`suite`](crate::suite).

mod causes;
mod jobs;
mod measured;
mod options;
mod program;
mod rank;
mod turns;

pub use options::Options;
pub use program::main;
pub use rank::rank;
pub use turns::run;
