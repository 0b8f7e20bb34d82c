//! `weft ps`, `weft why`, `weft top`, `weft kill` and `weft report`: what jobs do and did, and
//! their end. They are a program of their own, so that `weft` needs nothing of what draws on
//! terminals, reads debugging information or writes pages. It also finds the names of functions in
//! stacks for launchers and agents.

#![forbid(unsafe_code)]

mod jobs;
mod kill;
mod names;
mod report;
mod stacks;
mod top;

use clap::{CommandFactory, Parser, Subcommand};
use std::process::ExitCode;

/// Jobs: which run, what they do and did
#[derive(Parser)]
#[command(name = "weft", bin_name = "weft", version, arg_required_else_help = true)]
struct Inspect {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Ps(jobs::Ps),
    Why(jobs::Why),
    Top(top::Top),
    Kill(kill::Kill),
    Report(report::Arguments),
    /// Find names in stacks that a launcher or an agent has taken
    #[command(name = weft_launch::stack::NAMING, hide = true)]
    NameStacks,
}

/// The arguments of all its commands, for manual pages and shells.
pub fn command() -> clap::Command {
    Inspect::command()
}

/// The program `weft-inspect`.
pub fn main() -> ExitCode {
    let inspect = match Inspect::try_parse() {
        Ok(inspect) => inspect,
        Err(error) => return weft_app_common::explain(&error),
    };
    weft_app_common::finish(match inspect.command {
        Command::Ps(arguments) => jobs::list(&arguments),
        Command::Why(arguments) => jobs::why(&arguments),
        Command::Top(arguments) => top::show(&arguments),
        Command::Kill(arguments) => kill::kill(&arguments),
        Command::Report(arguments) => report::report(&arguments),
        Command::NameStacks => stacks::name_given(),
    })
}
