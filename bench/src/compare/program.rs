//! `weft compare`: its command line. This program is also what Weft and plain TCP are measured
//! with.

use crate::compare::{RANK, Spec, run};
use crate::micro::pair::program::{self, Program};
use clap::{CommandFactory, Parser};
use std::ffi::OsString;
use std::process::ExitCode;

/// Compare with the libraries that are installed, and with TCP
#[derive(Parser)]
#[command(name = "weft compare", bin_name = "weft compare", after_help = EXAMPLES)]
struct Arguments {
    #[command(flatten)]
    spec: Spec,
}

/// A process of `weft compare`
#[derive(Parser)]
#[command(name = "weft-compare rank")]
struct Process {
    #[command(flatten)]
    program: Program,
}

const EXAMPLES: &str = "\
Examples:
  weft compare                          in memory and on Ethernet, everybody who is installed
  weft compare --on ethernet --only tcp,mpich --turns 9
  weft compare --json --plot figures.svg
  weft compare --on programs            ten MPI programs on Weft, and over Open MPI's own TCP; some minutes
  weft compare --on programs --only weft-udp --turns 9 cg 'is --keys 1000000' './mine --size 100'

Everybody has turns, each of a few tenths of a second, with the same message sizes. A figure is the median
of the turns' medians. Two network namespaces make the Ethernet, which takes root. For figures that mean
something, leave the machine alone meanwhile.";

/// The command's arguments, for manual pages and shells.
pub fn command() -> clap::Command {
    Arguments::command()
}

/// The program `weft-compare`.
pub fn main() -> ExitCode {
    let done = weft_launch::forgo_capabilities().map_err(Into::into);
    let done = done.and_then(|()| compare(std::env::args_os().collect()));
    weft_app_common::finish(done.map(|()| ExitCode::SUCCESS))
}

fn compare(mut words: Vec<OsString>) -> anyhow::Result<()> {
    if words.get(1).is_some_and(|word| word == RANK) {
        let _ = words.remove(1);
        return program::run(&Process::try_parse_from(words)?.program);
    }
    run(&Arguments::try_parse_from(words)?.spec)
}
