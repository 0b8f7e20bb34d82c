//! Operations that all members of a team take part in (thesis 7.4.2, 7.5.2): [`weft_collective`]
//! over messages.
//!
//! An operation is a job: a schedule, and the values that it works on. The thread that has the next
//! piece, the program's or the upcall's that a message makes, takes the job out and goes on with it
//! in place; no thread is switched to (7.5.2). Every packet is a message of its own, so that the
//! upcall for it never waits. Where ranks share memory, barriers and small all-reduces need no
//! messages at all.
//!
//! | module | what |
//! |---|---|
//! | `team` | [`Team`]: what programs call |
//! | `varied` | its operations with lengths that members choose |
//! | `scan` | its scans |
//! | `shrink` | agreements of its members that live, and the team of these |
//! | [`Counter`] | a counter that its members share |
//! | `growing` | its growth by ranks that come later, and the first team of these |
//! | `agreeing` | what they agree about, one after the other |
//! | `split` | the teams that it is split into |
//! | [`Records`] | reductions of values whose size is known at run time only |
//! | [`Persistent`] | operations that are started again and again |
//! | `pending` | [`Pending`]: an operation that was begun |
//! | `operations` | all operations that are under way at this rank, and how their packets travel |
//! | `values` | the values of one operation as bytes, and how they are combined |
//! | `reduction` | [`Reduction`] and the usual ones |

mod agreeing;
mod counter;
#[cfg(test)]
pub(crate) mod golden;
mod growing;
mod operations;
mod pending;
mod persistent;
mod records;
mod reduction;
mod scan;
mod shrink;
mod split;
mod team;
mod values;
mod varied;

pub use counter::Counter;
pub(crate) use growing::RankTeams;
pub use pending::Pending;
pub use persistent::{Persistent, PersistentVaried, Prepare, Started};
pub use records::Records;
pub use reduction::{And, Max, Min, Or, Product, Reduction, Sum, Xor};
pub use shrink::Agreed;
pub use team::Team;
pub use weft_collective::{Disagreement, Operation, Signature};
