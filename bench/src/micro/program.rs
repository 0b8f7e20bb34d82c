//! `weft bench`: its command line. This program is also what its ranks run.

use crate::micro::{RANK, Spec, rank, run};
use clap::{CommandFactory, Parser};
use std::ffi::OsString;
use std::process::ExitCode;

/// Measure this machine: each figure beside its floor
#[derive(Parser)]
#[command(name = "weft bench", bin_name = "weft bench", after_help = EXAMPLES)]
struct Arguments {
    #[command(flatten)]
    spec: Spec,
}

const EXAMPLES: &str = "\
Examples:
  weft bench latency                    one way of 8 bytes between two ranks
  weft bench bandwidth --size 65536     in messages of 64 KiB
  weft bench latency --cores 0,5        between these two cores
  weft bench barrier -n 8 --json        for programs: one object a line
  weft bench message --link udp --size 1400    on Ethernet, between two network namespaces
  weft bench latency --link xdp                the same past the kernel's network stack
  weft bench rpc --hosts a,b            between two hosts, reached by ssh
  weft bench after-pause --link udp     the first messages after both ends have computed, and who is woken for them
  weft bench coexist                    beside a TCP stream of 1 Gbit/s on the same interface
  weft bench congestion --plot incast.svg       who gets how much of a narrow link, and what waits for it
  weft bench congestion --link xdp --bulk datagrams --part sharing
  weft bench events -n 4                a message around the ring under the careful and the traditional protocol
  weft bench rate --link udp --preset irx-imc --window 8 --loss 0.01
                                        a protocol with so large windows, where packets are lost
  weft bench hostile --frames 1000000   beside forged frames, a million of them
  weft bench linda -n 4                 tuples a second through a bag of tasks, beside calls
  weft bench orca                       loops that orcac compiled, beside the same in Rust
  weft bench fairness -n 6              how evenly one rank serves five that all call it

A figure is the median of many samples. Its floor is the same movement of data by the barest means,
measured in turns with it. For figures that mean something, leave the machine alone meanwhile.";

/// The command's arguments, for manual pages and shells.
pub fn command() -> clap::Command {
    Arguments::command()
}

/// The program `weft-bench`.
pub fn main() -> ExitCode {
    if let Some(code) = weft_launch::start_if_asked(None) {
        return code;
    }
    weft_app_common::finish(measure(std::env::args_os().collect()))
}

fn measure(mut words: Vec<OsString>) -> anyhow::Result<ExitCode> {
    if words.get(1).is_some_and(|word| word == RANK) {
        let _ = words.remove(1);
        return rank(&Arguments::try_parse_from(words)?.spec).map(|()| ExitCode::SUCCESS);
    }
    Ok(run(&Arguments::try_parse_from(words)?.spec)?.exit_code())
}
