//! Programs that hang or crawl, each in its own way and as short as can be, for the tests of `weft
//! why` and `weft report`: with each stands what the beginning of the answer is to name. Of those
//! that hang, ranks that are to be busy or away are so for ever; whoever starts a program ends it.
//! Those that crawl end by themselves.
//!
//! May use all that programs use.

#![forbid(unsafe_code)]

mod collectives;
mod crawlers;
mod messages;
mod outside;
mod piling;
mod systems;

use weft::prelude::*;

/// Outcome of a program, which those that hang never have.
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

/// All that hang.
pub const ALL: &[&[Animal]] = &[collectives::ALL, messages::ALL, outside::ALL, systems::ALL];

/// All that crawl.
pub const CRAWLERS: &[Animal] = crawlers::ALL;

/// The program with this name.
pub fn named(name: &str) -> Option<Animal> {
    ALL.iter().copied().flatten().chain(CRAWLERS).find(|animal| animal.name == name).copied()
}
