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
//! **Consistency** is sequential. All copies execute the same writes in the same order, those that
//! were blocked too; a process waits for the result of each of its operations, and its own copy has
//! a write by then.
//!
//! | module | what |
//! |---|---|
//! | [`marshal`] | arguments and results as bytes |
//! | `operation` | types, their operations, and instances whose type is not known |
//! | `copy` | a copy of an instance and the continuations at it, without a network |
//! | `format` | what is broadcast and called |
//! | `objects` | [`Objects`]: the objects of one rank |
//! | `handle` | [`Handle`]: one of them, and how its operations are executed |
//! | `macros` | [`object`], the attribute |
//!
//! May use `messaging` and the endpoint.

#![forbid(unsafe_code)]

// Names of what the macro generates, in this crate's own tests.
#[cfg(test)]
extern crate self as weft_object;

mod copy;
mod error;
mod format;
mod handle;
pub mod marshal;
mod objects;
mod operation;

pub use copy::Statistics;
pub use error::{Error, Result};
pub use handle::Handle;
pub use objects::{Objects, Placement, Types};
pub use operation::{Body, Object, Operation, Outcome, Read, Write};
pub use weft_object_macros::object;
