//! `make paper`: measures the papers' tables and figures again, and writes `docs/paper`.

#![forbid(unsafe_code)]

use anyhow::{Context, Result, bail};
use clap::Parser;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread::available_parallelism;
use std::time::Instant;
use weft_paper::report::PageFile;
use weft_paper::today::{self, steps::Between};
use weft_paper::{Experiment, Report, Targets, adaptive, experiments, rendezvous, suite};

/// Measure the papers' tables and figures again
#[derive(Parser)]
#[command(name = "weft-paper", after_help = EXAMPLES)]
struct Arguments {
    /// Run only these experiments, and write no pages
    #[arg(long, value_name = "EXPERIMENT", value_delimiter = ',')]
    only: Vec<String>,
    /// List the experiments and what each measures, and run none
    #[arg(long)]
    list: bool,
    /// Measure windows that follow demand only
    #[arg(long)]
    adaptive: bool,
    /// Measure messages that ask first only
    #[arg(long)]
    rendezvous: bool,
    /// Only do the steps of a packet's way over this link: what `today` counts instructions of
    #[arg(long, value_name = "LINK", hide = true)]
    steps: Option<Between>,
    /// So many batches of them
    #[arg(long, default_value_t = 1, hide = true)]
    batches: usize,
    /// Where the pages go
    #[arg(long, value_name = "FOLDER", default_value = "docs/paper")]
    out: PathBuf,
}

const EXAMPLES: &str = "\
Examples:
  make paper                            everything, and the pages in docs/paper
  weft-paper --only broadcast           one experiment, on the terminal
  weft-paper --list                     what is measured, by id

The exit status is not 0 if a figure is outside its band and nothing explains it.";

fn main() -> ExitCode {
    match measure(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("weft-paper: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn measure(arguments: &Arguments) -> Result<()> {
    if arguments.adaptive {
        return write_adaptive(&arguments.out);
    }
    if arguments.rendezvous {
        return write_rendezvous(&arguments.out);
    }
    if let Some(between) = arguments.steps {
        today::steps::run(between, arguments.batches)?;
        return Ok(());
    }
    let experiments = chosen(&arguments.only)?;
    if arguments.list {
        list(&experiments);
        return Ok(());
    }
    let targets = Targets::read()?;
    let report = run(&targets, &experiments)?;
    if arguments.only.is_empty() && report.faults().is_empty() {
        write(&pages(&report), &arguments.out)?;
        write_adaptive(&arguments.out)?;
        write_rendezvous(&arguments.out)?;
    }
    println!("{}", report.text());
    if !report.faults().is_empty() {
        for fault in report.faults() {
            eprintln!("weft-paper: {fault}");
        }
        bail!("no pages are written until these {} are mended", report.faults().len());
    }
    Ok(())
}

/// Measures what no paper prints.
fn write_adaptive(folder: &Path) -> Result<()> {
    eprintln!("weft-paper: adaptive windows ...");
    let pages = adaptive::pages().context("adaptive windows")?;
    println!("{}", pages[0].1);
    write(&pages, folder)
}

/// The same of messages that ask first.
fn write_rendezvous(folder: &Path) -> Result<()> {
    eprintln!("weft-paper: rendezvous ...");
    let pages = rendezvous::pages().context("rendezvous")?;
    println!("{}", pages[0].1);
    write(&pages, folder)
}

/// The experiments that `only` names; all, if it names none.
fn chosen(only: &[String]) -> Result<Vec<Box<dyn Experiment>>> {
    let mut all = experiments::all();
    let names: Vec<&str> = all.iter().map(|experiment| experiment.name()).collect();
    if let Some(unknown) = only.iter().find(|name| !names.contains(&name.as_str())) {
        bail!("there is no experiment '{unknown}'; there are {}", names.join(", "));
    }
    all.retain(|experiment| only.is_empty() || only.iter().any(|name| name == experiment.name()));
    Ok(all)
}

fn list(experiments: &[Box<dyn Experiment>]) {
    for experiment in experiments {
        println!("{}: {}", experiment.name(), experiment.title());
        for claim in experiment.claims() {
            println!("  {:24} {}", claim.id, claim.expected);
        }
    }
}

/// Runs them on all processors.
fn run<'a>(targets: &'a Targets, experiments: &[Box<dyn Experiment>]) -> Result<Report<'a>> {
    let (start, threads) = (Instant::now(), available_parallelism().map_or(1, usize::from));
    suite::run(targets, experiments, threads, |experiment, ended| {
        let seconds = start.elapsed().as_secs();
        let (name, all) = (experiment.name(), experiments.len());
        eprintln!("weft-paper: {ended:2} of {all} done after {seconds:3} s: {name}");
    })
}

/// The report's pages, and behind them what was measured on this machine.
fn pages(report: &Report<'_>) -> Vec<PageFile> {
    eprintln!("weft-paper: today, on this machine ...");
    let today = today::sections();
    let mut pages = report.pages();
    for (name, text) in &mut pages {
        let of = |paper| format!("{paper}.md") == *name;
        text.extend(today.iter().filter(|section| of(section.0)).map(|section| section.1.as_str()));
    }
    pages
}

fn write(pages: &[PageFile], folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    for (name, text) in pages {
        let path = folder.join(name);
        std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}
