//! Linda: ranks put tuples into a space, and read or take those that match a template. It is one of
//! the systems that Panda carried (thesis 6), here on the shared objects of `weft-object`.
//!
//! ```
//! # use weft_linda::{Result, Space, any};
//! # fn count(space: &Space) -> Result<()> {
//! space.out(("point", 3_i64, 2.5))?;
//! let (_, x, y) = space.take(("point", any::<i64>(), any::<f64>()))?;
//! space.out(("sum", x as f64 + y))
//! # }
//! ```
//!
//! | operation | |
//! |---|---|
//! | [`out`](Space::out) | puts a tuple |
//! | [`take`](Space::take) | takes one that matches, and waits for it: Linda's `in`, a word of Rust |
//! | [`rd`](Space::rd) | copies one that matches, and waits for it |
//! | [`inp`](Space::inp), [`rdp`](Space::rdp) | the same, without waiting |
//! | [`eval`](Space::eval) | puts a tuple that a thread of this rank computes |
//!
//! **Matching.** A tuple matches a template that has as many fields, each of the same type, with
//! values equal to the template's *actuals*. Its *formals* ([`any`]) match any value of their type.
//! Values are compared as Rust compares them, by `==`: an actual that is not a number (NaN)
//! matches nothing, a formal `f64` matches such a value, and `0.0` matches `-0.0`. Nothing is
//! converted: `1_i64` does not match `1_u64`. Which types a template's fields have is known when
//! it is compiled, and so are those of what it finds:
//!
//! ```compile_fail
//! # use weft_linda::{Result, Space, any};
//! # fn wrong(space: &Space) -> Result<()> {
//! let (_, x): (String, u64) = space.take(("point", any::<i64>()))?;
//! # Ok(())
//! # }
//! ```
//!
//! Programs that compute the form of their tuples use vectors of [`Field`]s and [`Pattern`]s.
//!
//! # Homes
//! Each rank has a [`Shard`] of the space, an object at that rank. The *home* of a tuple is a hash
//! of the number of its fields, their types, and the value of the first. A tuple that matches a
//! template agrees with it in number and types, which a formal has too; so a template whose first
//! part is an actual has one home, that of all tuples that match. A template whose first part is a
//! formal may match tuples of all homes.
//!
//! 1. `out` gives the tuple to its home.
//! 2. A template with one home goes there. `take` and `rd` wait by their guard: a continuation at
//!    the home, and no thread there. `inp` and `rdp` answer at once.
//! 3. Others go from home to home. `inp` and `rdp` return a match where they find one, or nothing
//!    after two rounds between which no home was given a tuple of the template's types. `take` and
//!    `rd` go round once; without a match they leave the template as a *want* at every home, go
//!    round again, and then wait for *hints* and look once more, until they have a match: after one
//!    hint at the home that it names, after several at all. Then the want is withdrawn.
//! 4. A home that is given a tuple says which wants it matches, and `out` sends each a hint before
//!    it returns. Hints are counted at the shard of the rank that waits; that there are more than
//!    it knew of before it looked the last time is the guard by which it waits.
//!
//! **No tuple is taken twice.** It is at one shard, whose operations are atomic, and the one that
//! takes it out gives it to one invoker.
//!
//! **None is lost.** Only an operation that gives it to its invoker takes a tuple out: no home
//! sends a tuple that nobody has asked for, and a hint is not a tuple. (A rank that is lost takes
//! along its shard, and what it was given.)
//!
//! **Nobody waits beside a match.** With one home: the shard evaluates guards again whenever it
//! has changed. With several: suppose a tuple that matches a want stays at a home while the waiting
//! rank sleeps, and let the last look be the last that was at that home. The tuple was put either
//! before it, which would have found it; or after, and the want was there, since it is left at all
//! homes before the first look. Then `out` sends a hint that names this home. It is one that the
//! rank did not know of before that look: it does not sleep, or it has looked there since, for one
//! hint at the home that it names, for several at all.
//!
//! **`inp` finds what is there.** Where it returns nothing, no home had a match when it looked the
//! first time, and none was given one until it looked the second time. Between the rounds lies a
//! moment without a match in the whole space.
//!
//! A hint goes to every want that matches, though one `take` alone can have the tuple: templates
//! that begin with formals cost a call to each rank, and more the more of them wait. Others cost
//! one call, from any rank.
//!
//! Within a shard, tuples are kept by types and first field: a template is compared with those
//! alone that agree in these, and the eldest that matches is found.
//!
//! | module | what |
//! |---|---|
//! | `field` | fields, types, patterns, and matching |
//! | `tuple` | Rust's tuples as tuples and templates |
//! | `format` | tuples, templates and answers as bytes |
//! | `home` | where a tuple lives |
//! | `shard` | the tuples of one rank, without a network |
//! | `operations` | a shard as a type of objects |
//! | `space` | [`Space`]: all of it, as a rank sees it |
//! | `active` | tuples that are computed |
//! | [`fuzzing`] | fuzz targets for its bytes |
//! | `planted` | bugs for tests of the tests |
//!
//! May use `weft-object` and the endpoint's ranks.

#![forbid(unsafe_code)]

mod active;
mod error;
mod field;
mod format;
pub mod fuzzing;
#[cfg(test)]
mod golden;
mod home;
mod operations;
mod planted;
mod shard;
mod space;
mod tuple;
mod want;

pub use active::Active;
pub use error::{Error, Result};
pub use field::{Field, FieldKind, Pattern, matches};
pub use format::FIELDS_MAX;
#[cfg(feature = "planted")]
pub use planted::Bug;
pub use shard::Shard;
pub use space::Space;
pub use tuple::{Actual, FieldType, Formal, Template, TemplatePart, Tuple, any};
