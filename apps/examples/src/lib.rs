//! Twenty short programs, one idea each: what `docs/guide` explains.
//!
//! Each is a function of its rank's [`Weft`], or of its [`Packets`] if it has no messages, so that
//! it runs as processes (`weft run -n 4 -- weft-example ping`) and in the simulator
//! (`weft sim -n 64 weft-example ping`). They are one executable, because several, called `ping` or
//! `stream`, would get into the way of others in a user's `PATH`.
//!
//! Each checks its own result: a wrong one is a panic, and a status that is not 0. Rank 0 prints.
//! They use the crate `weft` and nothing below it, and what stands on it.

#![forbid(unsafe_code)]

mod bank;
mod census;
mod counter;
mod door;
mod farm;
mod growth;
mod heat;
mod hello;
mod histogram;
mod jobs;
mod kv;
mod linda;
mod phonebook;
mod pi;
mod ping;
mod ring;
mod sort;
mod sr;
mod stream;
mod survivors;
mod tickets;

pub use bank::bank;
pub use census::census;
pub use counter::counter;
pub use door::door;
pub use farm::{FarmOptions, farm};
pub use growth::growth;
pub use heat::heat;
pub use hello::hello;
pub use histogram::histogram;
pub use jobs::jobs;
pub use kv::kv;
pub use linda::linda;
pub use phonebook::phonebook;
pub use pi::pi;
pub use ping::ping;
pub use ring::ring;
pub use sort::sort;
pub use sr::sr;
pub use stream::stream;
pub use survivors::{Failure, SurvivorsOptions, survivors};
pub use tickets::{TicketsOptions, tickets};

use clap::Parser;
use std::process::ExitCode;
use weft::{Packets, Weft};
use weft_app_common::run_messages;

/// One of the programs.
#[derive(Clone, Copy)]
pub struct Example {
    /// Name on the command line.
    pub name: &'static str,
    /// Topic, in a line.
    pub about: &'static str,
    /// The program, for each rank.
    pub run: Program,
}

/// Program of each rank.
#[derive(Clone, Copy)]
pub enum Program {
    /// A program with messages.
    Messages(Messages),
    /// A program with messages and objects, which have errors of two types.
    Objects(ObjectProgram),
    /// A program that has options: [`ExampleOptions`].
    WithOptions,
    /// A program on shared regions, which take all packets.
    Regions(Regions),
}

/// All of them, in the order of the guide.
pub const ALL: [Example; 21] = [
    messages("ping", "two mailboxes and a round trip, timed", ping),
    messages("hello", "a port with a handler, and a broadcast", hello),
    messages("ring", "a token that handlers pass on", ring),
    messages("stream", "a large message, read while it arrives", stream),
    messages("counter", "work shared by fetch-and-add", counter),
    messages("pi", "all ranks' sums, added up by an all-reduce", pi),
    messages("histogram", "counts change hands in an all-to-all", histogram),
    messages("sort", "each has any number of values for each, and a scan numbers them", sort),
    messages("phonebook", "typed calls, errors that are values", phonebook),
    messages("bank", "a handler that calls another rank and waits", bank),
    messages("kv", "a replicated key-value store", kv),
    objects("jobs", "objects that ranks share, and wait for", jobs),
    messages("linda", "a bag of tasks in a space of tuples", linda),
    messages("sr", "processes that serve operations, the shortest job first", sr),
    messages("census", "regions, calls, an ordered broadcast and packets together", census),
    messages("growth", "ranks that come later, in a team that grows", growth),
    messages("door", "ranks that come from elsewhere, by the job's door", door),
    with_options("farm", "a task farm that goes on when ranks are lost"),
    with_options("tickets", "numbers from one counter, which goes on when ranks are lost"),
    with_options("survivors", "a bit of everything, which goes on when ranks are lost"),
    regions("heat", "neighbours read each other's regions of memory", heat),
];

/// A program with messages.
pub type Messages = fn(Weft) -> weft::Result<()>;
/// A program with messages and objects.
pub type ObjectProgram = fn(Weft) -> Result<(), Box<dyn std::error::Error>>;
/// A program on shared regions.
pub type Regions = fn(&Packets) -> weft_region::Result<()>;

const fn messages(name: &'static str, about: &'static str, run: Messages) -> Example {
    Example { name, about, run: Program::Messages(run) }
}

const fn objects(name: &'static str, about: &'static str, run: ObjectProgram) -> Example {
    Example { name, about, run: Program::Objects(run) }
}

const fn regions(name: &'static str, about: &'static str, run: Regions) -> Example {
    Example { name, about, run: Program::Regions(run) }
}

const fn with_options(name: &'static str, about: &'static str) -> Example {
    Example { name, about, run: Program::WithOptions }
}

/// The program `name`.
pub fn named(name: &str) -> Option<Example> {
    ALL.into_iter().find(|example| example.name == name)
}

/// The list of them, for a person.
pub fn list() -> String {
    ALL.iter().map(|Example { name, about, .. }| format!("  {name:<10} {about}\n")).collect()
}

/// The command line of an example with options: its name, and these.
#[derive(Parser, Clone)]
#[command(name = "weft-example")]
pub enum ExampleOptions {
    /// Those of the farm.
    Farm(FarmOptions),
    /// Those of the survivors.
    Survivors(SurvivorsOptions),
    /// Those of the tickets.
    Tickets(TicketsOptions),
}

impl ExampleOptions {
    /// Runs the example with these options.
    ///
    /// # Errors
    /// A lost rank, in a job that does not go on.
    pub fn run(&self, weft: Weft) -> Result<(), Failure> {
        match self {
            ExampleOptions::Farm(options) => Ok(farm(weft, options)?),
            ExampleOptions::Survivors(options) => survivors(weft, options),
            ExampleOptions::Tickets(options) => Ok(tickets(weft, options)?),
        }
    }
}

/// The program `weft-example`, which runs the example that its first word names.
pub fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    match (words.next().as_deref().and_then(named), words.next()) {
        (Some(Example { run: Program::WithOptions, .. }), _) => run_with_options(),
        (Some(Example { run: Program::Messages(run), .. }), None) => weft::run(run),
        (Some(Example { run: Program::Objects(run), .. }), None) => weft::run(run),
        (Some(Example { run: Program::Regions(run), .. }), None) => weft::run_packets(run),
        _ => weft::run(|weft| match weft.rank().0 {
            0 => Err(format!(
                "there are these examples:\n{}name one: weft run -n 4 -- weft-example ping",
                list()
            )),
            _ => weft.barrier().map_err(|error| error.to_string()),
        }),
    }
}

fn run_with_options() -> ExitCode {
    match ExampleOptions::try_parse() {
        // Nobody waits for others before it is ready for their loss.
        Ok(options) => weft::run(|weft| options.run(weft)),
        // One rank answers, or says what is wrong.
        Err(_) => run_messages(|_, _: &ExampleOptions| weft::Result::Ok(())),
    }
}
