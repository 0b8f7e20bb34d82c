//! Programs that hang or crawl, each in its own way and as short as can be, for the tests of `weft
//! why`: with each stands what the beginning of its answer is to name. Ranks that are to be busy
//! or away are so for ever; whoever starts a program ends it.
//!
//! May use all that programs use.

#![forbid(unsafe_code)]

mod collectives;
mod messages;
mod outside;
mod systems;

use weft::prelude::*;

/// Outcome of a program, which it never has.
pub type Result = std::result::Result<(), Box<dyn std::error::Error>>;

/// A program.
#[derive(Clone, Copy)]
pub struct Animal {
    /// Its name.
    pub name: &'static str,
    /// Number of ranks that it takes.
    pub ranks: u16,
    /// Parts of the first verdict, which names the culprit and the reason.
    pub verdict: &'static [&'static str],
    /// The program, as a rank runs it.
    pub run: fn(Weft) -> Result,
}

/// All of them.
pub const ALL: &[&[Animal]] = &[collectives::ALL, messages::ALL, outside::ALL, systems::ALL];

/// The program with this name.
pub fn named(name: &str) -> Option<Animal> {
    ALL.iter().copied().flatten().find(|animal| animal.name == name).copied()
}
