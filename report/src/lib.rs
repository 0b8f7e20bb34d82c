//! Reports about a run of Weft, made of its trace: a page to look at, tables for a terminal, one
//! JSON object for programs, and files for the Perfetto UI and other viewers.
//!
//! It knows traces and nothing else of Weft. The [`analysis`] is pure functions from events to
//! findings; all that is shown is made of these.

#![forbid(unsafe_code)]

pub mod analysis;
pub mod chrome;
pub mod page;
pub mod perfetto;
mod slices;
pub mod text;
pub mod units;

pub use analysis::Analysis;
