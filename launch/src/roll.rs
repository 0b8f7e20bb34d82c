//! Roll call of a host's ranks: what each waits for, or what else it does, and who keeps the
//! others.
//!
//! | module | what |
//! |---|---|
//! | `observation` | what the process of a rank does |
//! | `stacks` | stacks of some of them |
//! | `graph` | who waits for whom, and who is stuck because of whom |
//! | `verdict` | the odd one, deadlocks, collectives that are called differently, in words |
//! | `lines`, `clauses` | all of it in lines for a person |

mod clauses;
mod graph;
mod lines;
mod observation;
mod stacks;
mod verdict;

pub(crate) use graph::Meetings;
pub(crate) use lines::lines;
pub(crate) use observation::{AWAY, WATCHER, rank_now, standing_of};
pub use stacks::{Naming, StacksOf};
pub(crate) use stacks::{TakenStacks, add_stacks};
pub use verdict::{Keeping, RollFindings};
pub(crate) use verdict::{deadlocked_for, findings};

#[cfg(test)]
mod tests;
