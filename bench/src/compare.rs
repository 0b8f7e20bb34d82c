//! `weft compare`: Weft beside the communication libraries that are installed, and beside plain
//! TCP.
//!
//! At each [`Testbed`] (the memory of one host; Ethernet between two) all [`peers`] are run in
//! turns, A B A B, each at its best settings, and each time for a few tenths of a second. What
//! counts of a peer is the median of its turns, each of which is a median of its own. All have the
//! same three figures; where a peer's own tool has no such figure there is none. Peers that are
//! missing are named with what to install, and peers that fail with what they said: neither stops
//! the others. Whole MPI programs ([`programs`]) are compared by the time that they take.
//!
//! It starts programs and reads what they print. Nothing of it stays: the hosts are those of
//! `weft-netns`, and what is compiled goes to a temporary folder.

mod figures;
mod peers;
mod plot;
mod program;
mod programs;
mod report;
mod testbed;
mod tool;
mod turns;

use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
pub use program::{command, main};
use std::path::PathBuf;
use testbed::Testbed;

/// The first argument of a process that Weft or plain TCP is measured with.
pub const RANK: &str = "rank";

/// Place of the comparison.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum On {
    /// In the memory of this host
    Host,
    /// On Ethernet, between two network namespaces
    Ethernet,
    /// On both
    Both,
    /// On Ethernet as whole MPI programs, each on Weft and over Open MPI's own TCP
    Programs,
}

/// Options of a comparison.
#[derive(Args, Clone, Debug)]
pub struct Spec {
    /// Place of the comparison
    #[arg(long, value_enum, default_value_t = On::Both)]
    on: On,
    /// Number of turns of each [default: 5; of whole programs 3]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1000))]
    turns: Option<u16>,
    /// Samples of each figure in a turn, except of whole programs
    #[arg(long, default_value_t = 21, value_parser = clap::value_parser!(u16).range(1..=10_000))]
    rounds: u16,
    /// Only these, beside Weft [weft-udp, weft-xdp, open-mpi-on-weft, tcp, open-mpi, mpich, ucx,
    /// libfabric]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = peers::NAMES)]
    only: Vec<String>,
    /// Weft's protocol on Ethernet [default: that of weft run]
    #[arg(long, value_name = "NAME")]
    preset: Option<String>,
    /// Print one JSON object a line
    #[arg(long)]
    json: bool,
    /// Draw the figures, too
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
    /// With --on programs: one of cg, mg, is, transpose, wave, sparse, sweep, asp, qr and sor, or
    /// the path of an MPI program that prints a line like `time: 0.25 s`; each in one word with its
    /// options, if it has any [default: those ten]
    #[arg(value_name = "PROGRAM")]
    programs: Vec<String>,
}

/// Number of turns of each, unless a user says another.
const TURNS: u16 = 5;

/// Compares, and prints.
///
/// # Errors
/// Ethernet was asked for and cannot be made, or the plot cannot be written. That peers fail is
/// part of the result.
pub fn run(spec: &Spec) -> Result<()> {
    let folder = tempfile::tempdir()?;
    if spec.on == On::Programs {
        if spec.plot.is_some() || spec.preset.is_some() {
            bail!("--on programs goes without --plot and --preset");
        }
        return programs::run(&spec.programs, &spec.only, spec.turns, spec.json, folder.path());
    }
    if let Some(program) = spec.programs.first() {
        bail!("{program}: programs are run with --on programs");
    }
    let mut testbeds = Vec::new();
    if spec.on != On::Ethernet {
        testbeds.push(Testbed::Host);
    }
    match (spec.on, Testbed::ethernet()) {
        (On::Host, _) => {}
        (_, Ok(ethernet)) => testbeds.push(ethernet),
        (On::Both, Err(error)) => eprintln!("weft: not on Ethernet: {error:#}"),
        (_, Err(error)) => return Err(error),
    }
    let mut compared = Vec::new();
    for testbed in &testbeds {
        report::print_machine(testbed.name(), spec.json)?;
        let peers = peers::all(testbed, folder.path(), &spec.only, spec.preset.as_deref());
        let outcomes = turns::take(testbed, peers, spec.turns.unwrap_or(TURNS), spec.rounds.into());
        match spec.json {
            true => report::print_json(testbed.name(), &outcomes)?,
            false => report::print_table(testbed, &outcomes)?,
        }
        report::print_machine(testbed.name(), spec.json)?;
        compared.push((testbed.title(), outcomes));
    }
    if let Some(path) = &spec.plot {
        let name = path.display();
        std::fs::write(path, plot::svg(&compared))
            .with_context(|| format!("cannot write {name}"))?;
        eprintln!("weft: drawn in {name}");
    }
    Ok(())
}
