//! `weft sim`: a program or a scenario on a simulated machine, in virtual time, from one seed. It
//! has all programs of this repository inside, and is a program of its own, so that `weft` needs
//! none of them.

mod arguments;
mod faults;
mod lines;
mod progress;
mod report;
mod summary;
mod workload;

use anyhow::{Context, Result, bail};
use clap::{CommandFactory, Parser};
use std::path::Path;
use std::process::ExitCode;
use weft_protocol::Settings;
use weft_simulator::{MachineModel, Options, Simulation, Tape};

use arguments::Arguments;
use lines::Lines;
use progress::ProgressLine;
use report::Run;
use summary::Summary;
use workload::Workload;

/// Events of each rank that `--explain` shows.
const EXPLAINED: usize = 24;

/// The command's arguments, for manual pages and shells.
pub fn command() -> clap::Command {
    Arguments::command()
}

/// The program `weft-sim`.
pub fn main() -> ExitCode {
    let parsed = Arguments::try_parse().map_err(Into::into);
    weft_app_common::finish(parsed.and_then(|arguments| run(&arguments)))
}

/// Runs what was asked for, with as many seeds as were asked for; fails with the first that fails.
fn run(arguments: &Arguments) -> Result<ExitCode> {
    let Some(what) = &arguments.what else {
        if arguments.help {
            weft_app_common::write_out(Arguments::help())?;
            return Ok(ExitCode::SUCCESS);
        }
        bail!(
            "nothing to run: name a program (asp, awari, qr, sor, leq, tsp, puzzle, weft-game, fft, \
             radix, lu, barnes, water, weft-application, weft-example) or a scenario (storm, ping, \
             stream, broadcast, all-to-all, barrier), such as weft sim storm -n 4"
        );
    };
    let workload = Workload::named(what, arguments)?;
    let mut lines = arguments.json.then(Lines::take_stdout).transpose()?;
    let mut summary = Summary::default();
    for seed in arguments.seed..arguments.seed.saturating_add(arguments.seeds) {
        let mut options = options(arguments, seed)?;
        let first_line = report::first_line(what, arguments, &options);
        if !arguments.json && !workload.shows_progress() {
            options.observer = ProgressLine::on_terminal();
        }
        let tape = arguments.recorded.trace.as_ref().map(|_| Tape::new(arguments.room()));
        options.tape.clone_from(&tape);
        let simulation = Simulation::new(options)?;
        workload.check(&simulation)?;
        if !arguments.json && seed == arguments.seed {
            eprintln!("weft: {first_line}");
        }
        let run = workload.run(simulation, seed);
        summary.add(&run);
        match &mut lines {
            Some(lines) => lines.write(&run.json(what, arguments, seed))?,
            None if arguments.seeds > 1 => eprintln!("seed {seed:<6} {}", run.in_one_line()),
            None => eprint!("{run}"),
        }
        if let Some((tape, file)) = tape.zip(arguments.recorded.trace.as_deref().map(Path::new)) {
            write_trace(&tape, file, arguments)?;
        }
        let failure = run.failure();
        if let Some(failure) = &failure {
            eprintln!("weft: {failure}");
        }
        if let Some(note) = run.note(&arguments.faults()?).filter(|_| !arguments.json) {
            eprintln!("weft: {note}");
        }
        if failure.is_some() {
            explain(arguments, seed, &run);
            return Ok(ExitCode::FAILURE);
        }
    }
    if arguments.seeds > 1 && !arguments.json {
        eprintln!("weft: {summary}");
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes down what happened, and says where.
fn write_trace(tape: &Tape, file: &Path, arguments: &Arguments) -> Result<()> {
    let words = arguments.what.iter().chain(&arguments.rest);
    let run = weft_trace::Run {
        program: words.map(String::as_str).collect::<Vec<_>>().join(" "),
        hosts: vec!["simulated".into(); arguments.room().into()],
        is_simulated: true,
        options: [("preset".into(), arguments.preset.to_string())].into(),
        ..Default::default()
    };
    let recorded =
        tape.write(file, &run).with_context(|| format!("cannot write the trace to {file:?}"))?;
    eprintln!("weft: {recorded}");
    Ok(())
}

/// Says what led to the failure of a run, if that was asked for, and how to have it again.
fn explain(arguments: &Arguments, seed: u64, run: &Run) {
    if arguments.explain {
        eprint!("{}", run.explanation());
    }
    let alike = if arguments.measured { "a run much like this" } else { "this run again" };
    eprintln!("weft: {alike}: {}", arguments.again(seed));
}

/// The simulation that the arguments describe.
fn options(arguments: &Arguments, seed: u64) -> Result<Options> {
    let mut options = Options::on(machine(&arguments.machine)?, arguments.room());
    options.settings.founders = arguments.ranks;
    options.seed = seed;
    options.faults = arguments.faults()?;
    options.keep_events = if arguments.explain { EXPLAINED } else { 0 };
    options.measured = arguments.measured;
    if let Some(limit) = arguments.limit {
        options.limit = limit;
    }
    let settings = &mut options.settings;
    if arguments.preset.is_optimistic() {
        let Settings { retransmit_at_least, .. } = Settings::new(settings.ranks, 1);
        settings.retransmit_at_least = retransmit_at_least;
    }
    settings.preset = arguments.preset;
    settings.shape = arguments.tree;
    settings.recovery = arguments.recovery;
    if let Some(window) = arguments.window {
        window.apply(settings, options.machine.pools.ni_receive_buffers);
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
fn machine(name: &str) -> Result<MachineModel> {
    if !name.ends_with(".toml") && !name.contains('/') {
        return Ok(MachineModel::named(name)?);
    }
    let text = std::fs::read_to_string(name).with_context(|| format!("cannot read {name}"))?;
    MachineModel::parse(&text).with_context(|| name.to_owned())
}
