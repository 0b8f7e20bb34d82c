//! Ten short programs, one idea each: what `docs/guide` explains.
//!
//! Each is a function of its rank's [`Weft`], so that it runs as processes
//! (`weft run -n 4 -- weft-example ping`) and in the simulator (`weft sim -n 64 weft-example ping`). They
//! are one executable, because ten of them, called `ping` or `stream`, would get into the way of others
//! in a user's `PATH`.
//!
//! Each checks its own result: a wrong one is a panic, and a status that is not 0. Rank 0 prints. They use
//! the crate `weft` and nothing below it.

#![forbid(unsafe_code)]

mod bank;
mod counter;
mod hello;
mod histogram;
mod kv;
mod phonebook;
mod pi;
mod ping;
mod ring;
mod stream;

pub use bank::bank;
pub use counter::counter;
pub use hello::hello;
pub use histogram::histogram;
pub use kv::kv;
pub use phonebook::phonebook;
pub use pi::pi;
pub use ping::ping;
pub use ring::ring;
pub use stream::stream;

use weft::Weft;

/// One of the programs.
#[derive(Clone, Copy)]
pub struct Example {
    /// What it is called on the command line.
    pub name: &'static str,
    /// What it shows, in a line.
    pub about: &'static str,
    /// The program, for each rank.
    pub run: fn(Weft) -> weft::Result<()>,
}

/// All of them, in the order of the guide.
pub const ALL: [Example; 10] = [
    Example { name: "ping", about: "two mailboxes and a round trip, timed", run: ping },
    Example { name: "hello", about: "a port with a handler, and a broadcast", run: hello },
    Example { name: "ring", about: "a token that handlers pass on", run: ring },
    Example { name: "stream", about: "a large message, read while it arrives", run: stream },
    Example { name: "counter", about: "work shared by fetch-and-add", run: counter },
    Example { name: "pi", about: "all ranks' sums, added up by an all-reduce", run: pi },
    Example { name: "histogram", about: "counts change hands in an all-to-all", run: histogram },
    Example { name: "phonebook", about: "typed calls, errors that are values", run: phonebook },
    Example { name: "bank", about: "a handler that calls another rank and waits", run: bank },
    Example { name: "kv", about: "a replicated key-value store", run: kv },
];

/// The program `name`.
pub fn named(name: &str) -> Option<Example> {
    ALL.into_iter().find(|example| example.name == name)
}

/// The list of them, for a person.
pub fn list() -> String {
    ALL.iter().map(|Example { name, about, .. }| format!("  {name:<10} {about}\n")).collect()
}
