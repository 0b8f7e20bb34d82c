//! `weft sim`: a program or a scenario on a simulated machine, in virtual time, from one seed.

mod arguments;
mod faults;
mod report;
mod workload;

use anyhow::{Context, Result, bail};
use std::process::ExitCode;
use weft_simulator::{Machine, Options, Simulation};

pub use arguments::Arguments;
use report::Run;
use workload::Workload;

/// Events of each rank that `--explain` shows.
const EXPLAINED: usize = 24;

/// Runs what was asked for, with as many seeds as were asked for; fails with the first that fails.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let workload = Workload::named(arguments)?;
    let seeds = arguments.seed..arguments.seed.saturating_add(arguments.seeds);
    for seed in seeds {
        let options = options(arguments, seed)?;
        if !arguments.json && seed == arguments.seed {
            eprintln!("weft: {}", report::first_line(arguments, &options));
        }
        let run = workload.run(Simulation::new(options)?, seed)?;
        print(arguments, seed, &run);
        if !run.is_success() {
            return Ok(ExitCode::FAILURE);
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn print(arguments: &Arguments, seed: u64, run: &Run) {
    if arguments.json {
        println!("{}", run.json(arguments, seed));
        return;
    }
    eprint!("{run}");
    let Some(failure) = run.failure() else { return };
    eprintln!("weft: {failure}");
    if arguments.explain {
        eprint!("{}", run.explanation());
    }
    eprintln!("weft: this run again: {}", arguments.again(seed));
}

/// The simulation that the arguments describe.
fn options(arguments: &Arguments, seed: u64) -> Result<Options> {
    let mut options = Options::on(machine(&arguments.machine)?, arguments.ranks);
    options.seed = seed;
    options.faults = arguments.faults()?;
    options.keep_events = if arguments.explain { EXPLAINED } else { 0 };
    if let Some(limit) = arguments.limit {
        options.limit = limit;
    }
    let settings = &mut options.settings;
    settings.preset = arguments.preset;
    settings.shape = arguments.tree;
    settings.recovery = arguments.recovery;
    if let Some(window) = arguments.window {
        settings.window_packets = window;
    }
    if let Some(buffers) = arguments.receive_buffers {
        if !settings.preset.retransmits() {
            bail!(
                "--receive-buffers is for presets that retransmit; {} has a window's worth for each \
                 sender: --window",
                settings.preset
            );
        }
        settings.receive_buffers = buffers;
    }
    settings.check()?;
    Ok(options)
}

/// A machine by its name, or by the file that describes it.
fn machine(name: &str) -> Result<Machine> {
    if !name.ends_with(".toml") {
        return Ok(Machine::named(name)?);
    }
    let text = std::fs::read_to_string(name).with_context(|| format!("cannot read {name}"))?;
    Machine::parse(&text).with_context(|| name.to_owned())
}
