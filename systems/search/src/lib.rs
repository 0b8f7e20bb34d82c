//! Parallel search: somebody writes down the rules of a game, and all ranks of a job search it, as
//! Multigame did (thesis 1.6, 8.4).
//!
//! Work goes to where the table is: a position has an owner, by its hash, and whoever makes it
//! pushes it there as a *job* of 32 bytes, in one direction and without waiting for anything
//! (transposition-driven scheduling; J. W. Romein, A. Plaat, H. E. Bal and J. Schaeffer, 1999).
//! Jobs are combined into messages. Each rank has a stack of jobs, and receives by polling between
//! them.
//!
//! 1. A rank takes up the job on top of its stack, makes the positions that follow, and gives them
//!    to their owners; a small job it searches whole.
//! 2. A message leaves when it is full, when it has waited for a time, and when its rank has
//!    nothing else to do.
//! 3. A rank never waits to send. For a message it needs a credit; a job for which there is none
//!    stays with the rank that made it. So queues are bounded, and no cycle of waits can be.
//! 4. A rank with nothing to do waits for a message. Rank 0 finds out that all do and nothing is
//!    under way, by four counters, and begins the next iteration.
//!
//! | module | what |
//! |---|---|
//! | `puzzle`, `game` | rules of games of one player and of two |
//! | `search` | [`Search`]: what all ranks call |
//! | `member` | one rank of a search: jobs and messages, in turn |
//! | `ida`, `astar`, `perft` | what is done with a job: IDA*, best-first search, enumeration |
//! | `minimax` | values of positions of games of two players: alpha-beta and MTD(f) |
//! | `worker` | what these have in common |
//! | `table` | the transposition table of a rank |
//! | `job`, `format` | jobs and messages, byte by byte |
//! | [`fuzzing`] | fuzz targets for these |
//! | `stack`, `outgoing` | jobs that wait, here and on their way out, and their bounds |
//! | `termination` | detection of the end |
//! | `settings`, `statistics`, `verdict` | what goes in, what comes out |
//!
//! May use messaging and the endpoint's ranks and clock. Invariants: without a table, the nodes of
//! an iteration that finds nothing are those of a sequential IDA*; every queue is bounded (I9:
//! `i9_stack_bounded`, `i9_credited`, `i9_asked`); a search is a function of the order in which
//! messages come.

#![forbid(unsafe_code)]

mod astar;
mod error;
mod format;
pub mod fuzzing;
mod game;
#[cfg(test)]
mod golden;
mod ida;
mod job;
mod member;
mod minimax;
mod outgoing;
mod perft;
mod puzzle;
mod search;
mod settings;
mod stack;
mod statistics;
mod table;
mod termination;
mod verdict;
mod worker;

pub use error::{Error, Result};
pub use game::Game;
pub use puzzle::Puzzle;
pub use search::{Search, Stopper};
pub use settings::{MOST_JOBS_PER_MESSAGE, Settings};
pub use statistics::{Counted, Iteration, SearchAnswer, Solved};
pub use table::Replacement;
pub use verdict::{Deepened, Judged, Plan, Strategy};
