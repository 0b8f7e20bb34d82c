//! Shared objects (thesis 7.1): data of abstract types, whose operations are atomic and may wait on
//! guards.
//!
//! An [`Object`] is a type with operations that read or write it. An instance is *replicated*, a
//! copy at every rank, or *single*, one copy at its home. How an operation is executed follows from
//! that (fig. 7.4):
//!
//! | instance | operation | |
//! |---|---|---|
//! | replicated | read | on the copy here: no communication |
//! | replicated | write | by all copies, shipped by totally-ordered broadcast |
//! | single, here | any | on the copy here |
//! | single, elsewhere | any | by its home, shipped by call |
//!
//! The number of the operation and its arguments are shipped, never the object.
//!
//! **Guards.** An operation whose guard is false says [`Outcome::Blocked`] before it has changed
//! anything. It is then a *continuation* at the copy (7.1.4): its number, its arguments, and where
//! the result goes; no thread waits there. Whoever changes the copy evaluates them again.
//!
//! **Consistency** is sequential, of all objects together. All copies execute the same writes in
//! the same order, those that were blocked too; a process waits for the result of each of its
//! operations, and its own copy has a write by then. Calls go another way than the order: so a call
//! says how many messages of the order its caller has seen, and its home executes it when it has
//! executed as many; the reply says the same of the home, and the caller goes on when it has
//! executed as many (Fekete, Kaashoek, Lynch, Implementing Sequentially Consistent Shared Objects
//! Using Broadcast and Point-to-Point Communication, 1995; [52] of the thesis).
//!
//! | module | what |
//! |---|---|
//! | [`marshal`] | arguments and results as bytes |
//! | `operation` | types, their operations, and instances whose type is not known |
//! | `dynamic` | types that become known as the program runs: those of other languages |
//! | `copy` | a copy of an instance and the continuations at it, without a network |
//! | `format` | what is broadcast and called |
//! | [`fuzzing`] | fuzz target for these |
//! | `placement` | places where the copies of an object can be |
//! | `local` | copies here, whatever their types |
//! | `usage` | placement that follows from who operates on an object |
//! | `entry` | an object, as a rank knows it: its type, its place, and the copy here |
//! | `table` | the objects that a rank knows, by their numbers and names |
//! | `position` | the messages of the order that a rank has executed, and what waits for more |
//! | `calls` | invocations of this rank that have not ended |
//! | `losses` | ranks that are lost, and what is lost with them |
//! | `programs` | processes that live, and programs that end when all of them have |
//! | `deadlock` | programs whose processes all wait for guards |
//! | `kind`, `types` | [`Types`]: the types that a rank was given |
//! | `shared` | all of these: what handlers and threads of a rank share |
//! | `execution` | messages of the order, and calls |
//! | `handle` | [`Handle`]: an object of a known type, and how its operations are executed |
//! | `processes` | threads that execute processes |
//! | `objects` | [`Objects`]: the objects of one rank |
//! | `planted` | bugs for tests of the tests |
//! | `macros` | [`object`], the attribute |
//!
//! May use `messaging` and the endpoint.

#![forbid(unsafe_code)]

// Names of what the macro generates, in this crate's own tests.
#[cfg(test)]
extern crate self as weft_object;

mod calls;
mod copy;
mod deadlock;
mod dynamic;
mod entry;
mod error;
mod execution;
mod format;
pub mod fuzzing;
#[cfg(test)]
mod golden;
mod handle;
mod kind;
mod local;
mod lock;
mod losses;
pub mod marshal;
mod objects;
mod operation;
mod placement;
mod planted;
mod position;
mod processes;
mod programs;
mod shared;
mod table;
mod types;
mod usage;

pub use copy::Statistics;
pub use dynamic::{Dynamic, DynamicType, Instance, Restore};
pub use error::{Error, ProcessError, Result, Waiting};
pub use handle::{Handle, Pending};
pub use objects::Objects;
pub use operation::{Body, Effect, Object, Operation, Outcome, Read, Write};
pub use placement::Placement;
#[cfg(feature = "planted")]
pub use planted::Bug;
pub use programs::Process;
pub use types::Types;
pub use weft_macros::object;
