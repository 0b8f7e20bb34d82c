//! `weft-soak`: runs cases until enough has been simulated, or one fails.

#![forbid(unsafe_code)]

use anyhow::{Result, bail};
use clap::Parser;
use std::io::{IsTerminal, Write, stderr};
use std::process::ExitCode;
use std::time::Duration;
use weft_soak::{Case, Goal, Totals, run};

const EXAMPLES: &str = "\
Examples:
  weft-soak                       1,000 cases, 50 million packets, a million faults, or 10 minutes
  weft-soak --minutes 1 --first 5000
  weft-soak --adaptive --packets 1 --faults 0
  weft-soak --case 4711           one case again";

/// Storms on bad simulated networks, judged, until enough has been simulated or one fails
#[derive(Parser)]
#[command(name = "weft-soak", version, after_help = EXAMPLES)]
struct Arguments {
    /// At least so many cases
    #[arg(long, default_value = "1000")]
    cases: u64,
    /// At least so many packets transmitted
    #[arg(long, default_value = "50000000")]
    packets: u64,
    /// At least so many faults
    #[arg(long, default_value = "1000000")]
    faults: u64,
    /// Packets for programs in each case, about
    #[arg(long, default_value = "20000")]
    packets_a_case: u64,
    /// Begin no case after so many minutes
    #[arg(long, default_value = "10")]
    minutes: f64,
    /// The first case
    #[arg(long, default_value = "1")]
    first: u64,
    /// Cases at once [default: one a core]
    #[arg(long)]
    threads: Option<usize>,
    /// Only cases whose windows follow demand
    #[arg(long)]
    adaptive: bool,
    /// If --case fails, tell so many of the last events of some ranks
    #[arg(long, default_value = "0")]
    explain: usize,
    /// Run this case only
    #[arg(long)]
    case: Option<u64>,
}

fn main() -> ExitCode {
    let parsed = Arguments::try_parse().map_err(Into::into);
    weft_app_common::finish(parsed.and_then(soak).map(|()| ExitCode::SUCCESS))
}

fn soak(arguments: Arguments) -> Result<()> {
    if let Some(number) = arguments.case {
        let case = Case::numbered(number, arguments.packets_a_case);
        eprintln!("{case}");
        return match case.run_with(arguments.explain, |_| {}) {
            Ok(passed) => {
                weft_app_common::say!("{passed:#?}");
                Ok(())
            }
            Err(failure) => bail!("{failure}"),
        };
    }
    let goal = Goal {
        first: arguments.first,
        cases: arguments.cases,
        packets: arguments.packets,
        faults: arguments.faults,
        packets_a_case: arguments.packets_a_case,
        adaptive: arguments.adaptive,
        limit: Duration::from_secs_f64(arguments.minutes.max(0.0) * 60.0),
        threads: arguments
            .threads
            .unwrap_or(std::thread::available_parallelism().map_or(1, usize::from)),
    };
    let show = stderr().is_terminal();
    let (totals, failure) = run(&goal, |totals| {
        if show {
            show_progress(totals);
        }
    });
    if show {
        eprintln!();
    }
    weft_app_common::say!("{totals}");
    if let Some(failure) = failure {
        bail!("{failure}");
    }
    if !totals.reach(&goal) {
        bail!("the time was over before as much was simulated as was asked for");
    }
    Ok(())
}

fn show_progress(totals: &Totals) {
    let packets = (totals.sum.packets + totals.sum.sent_again) as f64 / 1e6;
    eprint!("\r{} cases, {packets:.1} million packets", totals.cases);
    // Nobody misses progress that cannot be shown.
    let _ = stderr().flush();
}
