//! `weft doctor`: which links work on this machine and why not, what they need, what they cost; and
//! whether MPI programs would run on Weft.

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;

mod costs;
mod finding;
mod hosts;
mod links;
mod managers;
mod mpi;
mod needs;
mod report;
mod slow;
mod trial;

use finding::Status;
pub use mpi::{Candidate, FABRIC, look_into};
use report::Report;
pub use trial::{TRIAL, trial_rank};

/// Say what works on this machine, and what it costs
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Look only at what MPI programs need to run on Weft
    #[arg(long)]
    mpi: bool,
    /// Print one JSON object a line
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  weft doctor                 for people
  weft doctor --json          for programs: one object a line
  weft doctor --mpi           why an MPI program does not run on Weft

The exit status is not 0 if the default link cannot work here; with --mpi, if MPI programs would not run on
Weft.";

/// Looks at everything and prints it. The exit code says whether the default link works, or MPI
/// programs would run on Weft.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let (text, works) = if arguments.mpi {
        let findings = mpi::all();
        let works = findings.iter().all(|finding| finding.status != Status::Problem);
        (report::of_mpi(&findings, arguments.json)?, works)
    } else {
        let report = examine();
        let text = if arguments.json { report.to_json()? } else { report.to_text() };
        (text, report.links.first().is_some_and(|link| link.status == Status::Ok))
    };
    weft_app_common::write_out(text)?;
    Ok(if works { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn examine() -> Report {
    let before = slow::Ticks::now();
    let uname = rustix::system::uname();
    let text = |part: &std::ffi::CStr| part.to_string_lossy().into_owned();
    let mut needs = needs::of_shm();
    needs.push(trial::run());
    Report {
        host: text(uname.nodename()),
        system: format!("{} {}", text(uname.sysname()), text(uname.release())),
        links: links::all(&needs),
        needs,
        managers: managers::all(),
        hosts: hosts::all(),
        memory: links::memory(),
        costs: costs::measure(),
        slow: slow::all(before),
    }
}
