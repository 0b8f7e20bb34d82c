//! `make paper`: measures the papers' tables and figures again, and writes `docs/paper`.

#![forbid(unsafe_code)]

use anyhow::{Context, Result, bail};
use clap::Parser;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use weft_paper::today::{self, steps::Between};
use weft_paper::{Experiment, Report, Results, Targets, experiments};

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
    println!("{}", report.text());
    if !report.faults().is_empty() {
        for fault in report.faults() {
            eprintln!("weft-paper: {fault}");
        }
        bail!("no pages are written until these {} are mended", report.faults().len());
    }
    if arguments.only.is_empty() {
        write(&report, &arguments.out)?;
    }
    Ok(())
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

fn run<'a>(targets: &'a Targets, experiments: &[Box<dyn Experiment>]) -> Result<Report<'a>> {
    let mut report = Report::new(targets);
    for experiment in experiments {
        eprintln!("weft-paper: {} ...", experiment.name());
        let mut results = Results::default();
        experiment.run(&mut results).context(experiment.name())?;
        report.add(&**experiment, &results);
    }
    Ok(report)
}

fn write(report: &Report<'_>, folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    eprintln!("weft-paper: today, on this machine ...");
    let today = today::sections();
    for (name, mut text) in report.pages() {
        let of = |paper| format!("{paper}.md") == name;
        text.extend(today.iter().filter(|section| of(section.0)).map(|section| section.1.as_str()));
        let path = folder.join(name);
        std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}
