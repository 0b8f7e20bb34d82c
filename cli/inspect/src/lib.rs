//! `weft ps`, `weft why`, `weft top` and `weft report`: what jobs do and did. They are a program of
//! their own, so that `weft` needs nothing of what draws on terminals, reads debugging information
//! or writes pages. It also finds the names of functions in stacks for launchers and agents.

#![forbid(unsafe_code)]

mod jobs;
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
    /// List the jobs of yours that run on this host: launcher, ranks, program, time
    #[command(after_help = jobs::PS_EXAMPLES)]
    Ps,
    Why(jobs::Why),
    Top(top::Top),
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
        Command::Ps => jobs::list(),
        Command::Why(arguments) => jobs::why(&arguments),
        Command::Top(arguments) => top::show(&arguments),
        Command::Report(arguments) => report::report(&arguments),
        Command::NameStacks => stacks::name_given(),
    })
}
