//! A budget of instructions. Callgrind counts them for each step of a packet's and a message's way,
//! and no load on the machine changes them. `bench/instructions.toml` keeps the figures, and one
//! that grows fails.
//!
//! | module | contents |
//! |---|---|
//! | `steps` | the steps themselves, played by a thread for each of two ranks |
//! | `collect` | the functions that callgrind is told to look for |
//! | `callgrind`, `dumps` | running it; reading what it writes |
//! | `fabric` | the steps of the libfabric provider, played by a client in C |
//! | `ucx` | a message of UCX, where that is installed |
//! | `budget` | the file, and the comparison with it |
//! | `report` | tables |

#![forbid(unsafe_code)]

mod budget;
mod callgrind;
mod collect;
mod dumps;
mod fabric;
mod report;
mod steps;
mod ucx;

use anyhow::{Context, Result, bail, ensure};
use budget::{Budget, CountedWith, Figures};
use clap::Parser;
use dumps::{Counted, Dumps, averages};
use std::path::PathBuf;
use std::process::ExitCode;

/// The figures that the file keeps, in its order.
const FIGURES: [&str; 33] = [
    "packet",
    "packet_out",
    "packet_in",
    "packet_framed",
    "message_handler",
    "message_mailbox",
    "message_into",
    "message_udp",
    "message_udp_out",
    "poll_empty_udp",
    "call",
    "put",
    "region_hit_read",
    "region_hit_write",
    "region_miss_read",
    "object_read",
    "broadcast",
    "broadcast_out",
    "broadcast_in",
    "object_write",
    "object_write_out",
    "object_write_in",
    "object_write_here",
    "object_call",
    "fetch_and_add",
    "fi_tinject",
    "fi_tsend_and_cq_read",
    "fi_trecv",
    "fi_cq_read",
    "fi_cq_read_empty",
    "poll_empty_2",
    "poll_empty_64",
    "poll_empty_1024",
];

/// Warning that figures are not those of the file.
const IN_PIECES: &str = "this was built with CARGO_INCREMENTAL, which makes figures differ by some per cent: `make count` does not";

/// Instructions of each step, counted with callgrind.
#[derive(Parser)]
#[command(name = "weft-count", version)]
struct Options {
    /// Write the figures to the file
    #[arg(long, conflicts_with_all = ["check", "profile"])]
    write: bool,
    /// Fail if a figure has grown by more than 2 %
    #[arg(long)]
    check: bool,
    /// Print one object a line, for programs
    #[arg(long)]
    json: bool,
    /// Only this figure, with the functions and lines where its instructions are
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,
    /// The file of figures
    #[arg(long, default_value = "bench/instructions.toml")]
    file: PathBuf,
    /// Play the steps, or only this one: what callgrind is given to run
    #[arg(long, hide = true, num_args = 0..=1)]
    steps: Option<Option<String>>,
}

fn main() -> ExitCode {
    // This program is the launcher of the provider's two ranks.
    if let Some(code) = weft_launch::start_if_asked(None) {
        return code;
    }
    let parsed = Options::try_parse().map_err(Into::into);
    weft_app_common::finish(parsed.and_then(count))
}

fn count(options: Options) -> Result<ExitCode> {
    if let Some(only) = options.steps {
        steps::play(&collect::Counter { only, other: collect::Other::start()? })?;
        return Ok(ExitCode::SUCCESS);
    }
    if cfg!(debug_assertions) {
        bail!(
            "the figures are those of optimized code: use `make count`, or build with --profile measured"
        );
    }
    if env!("COUNTED_IN_PIECES") == "true" {
        ensure!(!options.write && !options.check, "{IN_PIECES}");
        eprintln!("{IN_PIECES}");
    }
    if let Some(name) = &options.profile {
        weft_app_common::write_out(report::profile(name, &profiled(name)?))?;
        return Ok(ExitCode::SUCCESS);
    }
    compare(&options)
}

/// Counts all, and compares or writes.
fn compare(options: &Options) -> Result<ExitCode> {
    let here = CountedWith::here();
    let mut figures = averages(&own(None)?)?;
    figures.extend(averages(&fabric::count()?)?);
    for name in FIGURES {
        ensure!(figures.contains_key(name), "no step has played {name}");
    }
    if options.write {
        let budget = Budget { counted_with: here.clone(), figures: figures.clone() };
        std::fs::write(&options.file, budget.text(&FIGURES))
            .with_context(|| format!("{} cannot be written", options.file.display()))?;
    }
    let budget = Budget::read(&options.file)?;
    let ucx = ucx::count().and_then(|dumps| ucx::figures(&dumps)).unwrap_or_else(|why| {
        eprintln!("UCX is not counted: {why:#}");
        Figures::new()
    });
    let table = report::Table { budget: &budget, here: &here, figures: &figures, ucx: &ucx };
    if options.json {
        table.print_json()?
    } else {
        table.print()
    }
    let stale = budget.figures.keys().find(|name| !figures.contains_key(*name));
    if let Some(name) = stale.filter(|_| options.check) {
        bail!("nothing counts {name} any more, which is in {}", options.file.display());
    }
    let grown = budget.grown(&here, &figures);
    if options.check && !grown.is_empty() {
        eprintln!("{}", report::advice(&grown));
        return Ok(ExitCode::FAILURE);
    }
    Ok(ExitCode::SUCCESS)
}

/// Counts the steps of Weft's own interfaces.
fn own(only: Option<&str>) -> Result<Dumps> {
    let directory = tempfile::tempdir()?;
    let out = directory.path().join("out");
    let this = std::env::current_exe()?;
    let options = callgrind::options(collect::COUNTED, collect::WRITTEN, &out);
    let arguments: Vec<&str> = ["--steps"].into_iter().chain(only).collect();
    let said = callgrind::run(&options, &this, &arguments)?;
    dumps::read(&said, &out)
}

/// Counts one figure alone.
fn profiled(name: &str) -> Result<Counted> {
    let mut dumps = match name {
        name if name.starts_with("ucx") => ucx::count()?,
        name if name.starts_with("fi_") => fabric::count()?,
        name => own(Some(name))?,
    };
    dumps.remove(name).with_context(|| {
        format!("there is no figure '{name}', but {}, and those of UCX", FIGURES.join(", "))
    })
}
