//! Operations that all members of a team take part in (thesis 7.4.2, 7.5.2).
//!
//! An operation is a continuation: an `async` block that sends what it has and awaits what others
//! bring. Whoever has the next piece, the program or the upcall that a message makes, resumes it in
//! place; no thread is switched to (7.5.2). Where ranks share memory, barriers and small all-reduces
//! need no messages at all.
//!
//! | module | what |
//! |---|---|
//! | `team` | [`Team`]: what programs call |
//! | `pending` | [`Pending`]: an operation that was begun |
//! | `algorithms` | the operations, written for one member |
//! | `exchange` | what an operation sends and awaits, in packets |
//! | `operations` | all operations that are under way at this rank |
//! | `signature` | what members must agree about, on the wire |
//! | `reduction` | [`Reduction`] and the usual ones |
//! | `counters` | barriers and small reductions in shared memory |
//!
//! **What is stored for operations that this rank has not begun** is bounded: after 64 operations, or
//! 4 MiB, that a member could finish without hearing of all others, those that follow wait for a
//! barrier of the team. So nobody is further ahead than that.

mod algorithms;
mod counters;
mod exchange;
mod operations;
mod pending;
mod reduction;
mod signature;
mod team;

pub use pending::Pending;
pub use reduction::{And, Max, Min, Or, Product, Reduction, Sum, Xor};
pub use signature::{Disagreement, Operation, Signature};
pub use team::Team;
