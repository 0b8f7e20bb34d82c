//! `make paper`: measures the papers' tables and figures again, and writes `docs/paper`.

#![forbid(unsafe_code)]

use anyhow::{Context, Result, bail};
use clap::Parser;
use clap::builder::PossibleValuesParser;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;
use weft_bench::suite::Application;
use weft_paper::applications::{self, Beyond, Extent, Study};
use weft_paper::report::PageFile;
use weft_paper::targets::Paper;
use weft_paper::today::{self, steps::Between};
use weft_paper::{
    Experiment, Report, Targets, adaptive, experiments, objects, regions, rendezvous, sections,
    suite, zero_copy,
};

/// Measure the papers' tables and figures again
#[derive(Parser)]
#[command(name = "weft-paper", after_help = EXAMPLES)]
struct Arguments {
    /// Run only these experiments, and write only pages to which no other one belongs; the ends of
    /// these stay as they are
    #[arg(long, value_name = "EXPERIMENT", value_delimiter = ',')]
    only: Vec<String>,
    /// List the experiments and what each measures, and run none
    #[arg(long)]
    list: bool,
    /// Ask only what this machine's own links say to these papers, and put it at the end of their
    /// pages
    #[arg(long, value_name = "PAPER", value_delimiter = ',')]
    today: Vec<Paper>,
    /// Measure windows that follow demand only
    #[arg(long)]
    adaptive: bool,
    /// Measure messages that ask first only
    #[arg(long)]
    rendezvous: bool,
    /// Measure programs on regions only
    #[arg(long)]
    regions: bool,
    /// Measure the applications of chapter 8 only; with names, just print what these take
    #[arg(long, value_name = "APPLICATION", num_args = 0.., value_delimiter = ',')]
    applications: Option<Vec<Application>>,
    /// Run the applications of chapter 8 on more ranks only, all or these, and replace their part
    /// of the page
    #[arg(long, value_name = "APPLICATION", num_args = 0.., value_delimiter = ',')]
    beyond: Option<Vec<Application>>,
    /// Run them on so many ranks only
    #[arg(long, value_name = "RANKS", value_delimiter = ',', requires = "beyond")]
    ranks: Vec<u16>,
    /// Run them under these protocols only
    #[arg(long, value_name = "PROTOCOLS", value_delimiter = ',', requires = "beyond")]
    #[arg(value_parser = PossibleValuesParser::new(Beyond::protocols()))]
    protocols: Vec<String>,
    /// Run the applications of chapter 8 on two and four network namespaces only, all or these, and
    /// replace their part of the page
    #[arg(long, value_name = "APPLICATION", num_args = 0.., value_delimiter = ',')]
    on_hosts: Option<Vec<Application>>,
    /// Measure operations on objects only
    #[arg(long)]
    objects: bool,
    /// Measure data by message and by put only, in the simulator and on this machine's links
    #[arg(long)]
    zero_copy: bool,
    /// Measure this machine's links only, which replaces the end of the page
    #[arg(long, requires = "zero_copy")]
    links: bool,
    /// Only do the steps of a packet's way over this link: what `today` counts instructions of
    #[arg(long, value_name = "LINK", hide = true)]
    steps: Option<Between>,
    /// So many batches of them
    #[arg(long, default_value_t = 1, hide = true)]
    batches: usize,
    /// Folder of the pages
    #[arg(long, value_name = "FOLDER", default_value = "docs/paper")]
    out: PathBuf,
}

const EXAMPLES: &str = "\
Examples:
  make paper                            everything, and the pages in docs/paper
  weft-paper --only broadcast           one experiment; its page is written if it is all of it
  weft-paper --today thesis,careful     what their conclusions come to on this machine's links
  weft-paper --list                     what is measured, by id

The exit status is not 0 if a figure is outside its band and nothing explains it.";

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return weft_app_common::explain(&error),
    };
    match measure(&arguments) {
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
    if arguments.regions {
        return write_regions(&arguments.out);
    }
    if arguments.objects {
        return write_objects(&arguments.out);
    }
    if let Some(applications) = &arguments.applications {
        return study(applications, &arguments.out);
    }
    if let Some(applications) = &arguments.beyond {
        return beyond(applications, arguments);
    }
    if let Some(chosen) = &arguments.on_hosts {
        let chosen = if chosen.is_empty() { &Application::ALL[..] } else { chosen };
        let section = today::applications::measure(&arguments.out, chosen)?;
        return replace_section(&arguments.out.join(applications::PAGES[0]), &section);
    }
    if arguments.zero_copy {
        let write = if arguments.links { write_zero_copy_today } else { write_zero_copy };
        return write(&arguments.out);
    }
    if let Some(between) = arguments.steps {
        today::steps::run(between, arguments.batches)?;
        return Ok(());
    }
    if !arguments.today.is_empty() {
        return write_today(&arguments.today, &arguments.out);
    }
    let experiments = chosen(&arguments.only)?;
    if arguments.list {
        list(&experiments);
        return Ok(());
    }
    let targets = Targets::read()?;
    let report = run(&targets, &experiments)?;
    if report.faults().is_empty() {
        let papers = complete(&targets, &experiments);
        let ends = match arguments.only.is_empty() {
            true => today::sections(&papers),
            false => ends(&papers, &arguments.out),
        };
        write(&pages(&report, &papers, ends), &arguments.out)?;
        if arguments.only.is_empty() {
            write_adaptive(&arguments.out)?;
            write_rendezvous(&arguments.out)?;
            write_regions(&arguments.out)?;
            write_objects(&arguments.out)?;
            write_zero_copy(&arguments.out)?;
        }
    }
    weft_app_common::say!("{}", report.text());
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
    weft_app_common::say!("{}", pages[0].1);
    write(&pages, folder)
}

/// Writes the page about messages that ask first.
fn write_rendezvous(folder: &Path) -> Result<()> {
    eprintln!("weft-paper: rendezvous ...");
    let pages = rendezvous::pages().context("rendezvous")?;
    weft_app_common::say!("{}", pages[0].1);
    write(&pages, folder)
}

/// Writes the page about programs on regions.
fn write_regions(folder: &Path) -> Result<()> {
    eprintln!("weft-paper: programs on regions ...");
    let pages = regions::pages().context("programs on regions")?;
    weft_app_common::say!("{}", pages[0].1);
    write(&pages, folder)
}

/// Runs applications under all presets, and writes the page if it is all of them.
fn study(chosen: &[Application], folder: &Path) -> Result<()> {
    let progress = |line: &str| eprintln!("weft-paper: {line}");
    if chosen.is_empty() {
        let mut pages = applications::pages(progress).context("applications")?;
        let old = std::fs::read_to_string(folder.join(&pages[0].0)).unwrap_or_default();
        pages[0].1 = sections::keep(&pages[0].1, &old, &applications::KEPT);
        weft_app_common::say!("{}", pages[0].1);
        return write(&pages, folder);
    }
    let study = Study::of(Extent::THESIS, chosen, progress)?;
    for (cell, seen) in study.all() {
        let slower = study.slower(cell.application, cell.preset)?;
        weft_app_common::say!("{cell:?} {:.3} s {slower:+.1} % {:?}", seen.seconds, seen);
    }
    Ok(())
}

/// Runs applications on more ranks than the thesis had, and replaces that part of the page.
fn beyond(chosen: &[Application], arguments: &Arguments) -> Result<()> {
    let Arguments { ranks, protocols, out: folder, .. } = arguments;
    let progress = |line: &str| eprintln!("weft-paper: {line}");
    let chosen = if chosen.is_empty() { &Application::ALL } else { chosen };
    let seen = Beyond::run(folder, chosen, ranks, protocols, progress).context("more ranks")?;
    let plot = seen.plot();
    let picture = (format!("{}.svg", plot.name), plot.svg());
    write(&[picture], folder)?;
    replace_section(&folder.join(applications::PAGES[0]), &seen.section())
}

/// Writes the page about operations on objects.
fn write_objects(folder: &Path) -> Result<()> {
    eprintln!("weft-paper: operations on objects ...");
    let pages = objects::pages().context("operations on objects")?;
    weft_app_common::say!("{}", pages[0].1);
    write(&pages, folder)
}

/// Writes the page about data by message and by put.
fn write_zero_copy(folder: &Path) -> Result<()> {
    eprintln!("weft-paper: data by message and by put ...");
    let pages = zero_copy::pages().context("data by message and by put")?;
    weft_app_common::say!("{}", pages[0].1);
    write(&pages, folder)?;
    write_zero_copy_today(folder)
}

/// Writes the part of this machine's links.
fn write_zero_copy_today(folder: &Path) -> Result<()> {
    let section = format!("{}\n{}", today::HEADING, today::zero_copy::section());
    weft_app_common::say!("{section}");
    replace_end(&folder.join(zero_copy::PAGES[0]), &section)
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
        weft_app_common::say!("{}: {}", experiment.name(), experiment.title());
        for claim in experiment.claims() {
            weft_app_common::say!("  {:24} {}", claim.id, claim.expected);
        }
    }
}

/// Runs them on all processors.
fn run<'a>(targets: &'a Targets, experiments: &[Box<dyn Experiment>]) -> Result<Report<'a>> {
    let (start, threads) = (Instant::now(), suite::threads());
    suite::run(targets, experiments, threads, |experiment, ended| {
        let seconds = start.elapsed().as_secs();
        let (name, all) = (experiment.name(), experiments.len());
        eprintln!("weft-paper: {ended:2} of {all} done after {seconds:3} s: {name}");
    })
}

/// The papers of whose figures none belongs to an experiment that is not among these.
fn complete(targets: &Targets, experiments: &[Box<dyn Experiment>]) -> Vec<Paper> {
    let ran = |name: &str| experiments.iter().any(|experiment| experiment.name() == name);
    let rest = experiments::all().into_iter().filter(|experiment| !ran(experiment.name()));
    let missing: Vec<Paper> = rest
        .flat_map(|experiment| experiment.claims().iter().map(|claim| claim.id))
        .filter_map(|id| Some(targets.get(id)?.paper))
        .collect();
    Paper::ALL.into_iter().filter(|paper| !missing.contains(paper)).collect()
}

/// The report's pages about these papers with their figures, and behind them what was measured on
/// this machine.
fn pages(report: &Report<'_>, papers: &[Paper], ends: Vec<(Paper, String)>) -> Vec<PageFile> {
    let mut pages = report.pages();
    let file = |paper: &Paper| format!("{paper}.md");
    pages.retain(|(name, _)| name.ends_with(".svg") || papers.iter().any(|one| file(one) == *name));
    for (paper, section) in ends {
        let of = pages.iter_mut().filter(|(name, _)| *name == file(&paper));
        of.for_each(|(_, text)| text.push_str(&section));
    }
    pages
}

/// The ends of these papers' pages as they are, which some machine has measured.
fn ends(papers: &[Paper], folder: &Path) -> Vec<(Paper, String)> {
    let end = |paper: &Paper| {
        let page = std::fs::read_to_string(folder.join(format!("{paper}.md"))).ok()?;
        let end = page.find(today::HEADING)?;
        Some((*paper, page[end..].to_owned()))
    };
    papers.iter().filter_map(end).collect()
}

/// Asks these papers' questions of this machine, and replaces the ends of their pages by the
/// answers.
fn write_today(papers: &[Paper], folder: &Path) -> Result<()> {
    for (paper, section) in today::sections(papers) {
        weft_app_common::say!("{section}");
        replace_end(&folder.join(format!("{paper}.md")), &section)?;
    }
    Ok(())
}

/// Replaces what was measured on a machine at the end of a page.
fn replace_end(path: &Path, section: &str) -> Result<()> {
    let page = std::fs::read_to_string(path)
        .with_context(|| format!("no page to end: {}", path.display()))?;
    let front = page.split(today::HEADING).next().unwrap_or_default();
    std::fs::write(path, format!("{front}{section}"))
        .with_context(|| format!("cannot write {}", path.display()))
}

/// Replaces a section of a page, which is known by its heading.
fn replace_section(path: &Path, section: &str) -> Result<()> {
    let context = || format!("no page with sections: {}", path.display());
    let page = std::fs::read_to_string(path).with_context(context)?;
    let page = sections::put(&page, section);
    std::fs::write(path, page).with_context(|| format!("cannot write {}", path.display()))
}

fn write(pages: &[PageFile], folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    for (name, text) in pages {
        let path = folder.join(name);
        std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}
