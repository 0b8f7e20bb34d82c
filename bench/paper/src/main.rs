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
use weft_paper::fresh::{self, Made};
use weft_paper::report::PageFile;
use weft_paper::targets::Paper;
use weft_paper::today::{self, steps::Between};
use weft_paper::{
    Counts, Experiment, Report, Targets, adaptive, counts, experiments, objects, regions,
    rendezvous, sections, suite, zero_copy,
};

/// Measure the papers' tables and figures again
#[derive(Parser)]
#[command(name = "weft-paper", after_help = EXAMPLES)]
struct Arguments {
    /// Run only these experiments, or those of these papers, and write only pages to which no other
    /// one belongs; the ends of these stay as they are
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
    /// Count what the pages say, by paper, and write that only; each command that writes a page
    /// does
    #[arg(long)]
    counts: bool,
    /// List what is older than what it measures, here and in the folder's README.md
    #[arg(long)]
    stale: bool,
    /// Make again whatever is older than what it measures; with pages, of these only
    #[arg(long, value_name = "PAGE.md", num_args = 0.., value_delimiter = ',')]
    again: Option<Vec<String>>,
    /// Run the applications of chapter 8 only, all or these in place of what the folder keeps of
    /// them, and write the page
    #[arg(long, value_name = "APPLICATION", num_args = 0.., value_delimiter = ',')]
    applications: Option<Vec<Application>>,
    /// Judge the runs of the applications that the folder keeps, and write the page
    #[arg(long)]
    judge: bool,
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
    /// Measure data by message and by put only, in the simulator; the page's end stays as it is
    #[arg(long)]
    zero_copy: bool,
    /// Measure this machine's links instead, which replaces the end of the page
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
  weft-paper --again                    whatever is older than what it measures

The exit status is not 0 if a figure is outside its band and nothing explains it, if a row has two verdicts, and, where all is
measured, if a page is older than what it measures.";

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
    let folder = &arguments.out;
    if arguments.list {
        list(&chosen(&arguments.only)?);
        return Ok(());
    }
    if let Some(between) = arguments.steps {
        today::steps::run(between, arguments.batches)?;
        return Ok(());
    }
    let made = match made(arguments)? {
        Some(made) => make(made, arguments)?,
        None if arguments.counts || arguments.stale => Vec::new(),
        None => experiments_of(&arguments.only, folder)?,
    };
    fresh::note(folder, &made)?;
    write_counts(folder)?;
    let stale = fresh::stale(folder)?;
    fresh::write(folder, &fresh::listed(&stale))?;
    if arguments.stale {
        weft_app_common::say!("{}", fresh::listed(&stale));
    }
    let is_all = made.contains(&Made::Today(Paper::Thesis)) && made.contains(&Made::Adaptive);
    if is_all && !stale.is_empty() {
        bail!("older than what they measure:\n{}", fresh::listed(&stale));
    }
    Ok(())
}

/// Parts of pages that the arguments name, if they name any.
fn made(arguments: &Arguments) -> Result<Option<Vec<Made>>> {
    if let Some(pages) = &arguments.again {
        let stale = fresh::stale(&arguments.out)?;
        let is_meant = |page: &str| pages.is_empty() || pages.iter().any(|one| one == page);
        let meant = stale.iter().filter(|part| is_meant(part.page));
        return Ok(Some(meant.map(|part| part.made).collect()));
    }
    let flags = [
        (arguments.adaptive, Made::Adaptive),
        (arguments.rendezvous, Made::Rendezvous),
        (arguments.regions, Made::Regions),
        (arguments.objects, Made::Objects),
        (arguments.applications.is_some() || arguments.judge, Made::Study),
        (arguments.beyond.is_some(), Made::Beyond),
        (arguments.on_hosts.is_some(), Made::Hosts),
        (arguments.zero_copy && arguments.links, Made::ZeroCopyLinks),
        (arguments.zero_copy, Made::ZeroCopy),
    ];
    let named = flags.iter().find(|(is_named, _)| *is_named).map(|(_, made)| vec![*made]);
    let today = || arguments.today.iter().map(|&paper| Made::Today(paper)).collect::<Vec<_>>();
    Ok(named.or_else(|| Some(today()).filter(|today| !today.is_empty())))
}

/// Makes parts of pages, and gives those that are all there now.
fn make(parts: Vec<Made>, arguments: &Arguments) -> Result<Vec<Made>> {
    let folder = &arguments.out;
    let mut done = Vec::new();
    for made in parts {
        match made {
            Made::Adaptive => write_adaptive(folder)?,
            Made::Rendezvous => write_rendezvous(folder)?,
            Made::Regions => write_regions(folder)?,
            Made::Objects => write_objects(folder)?,
            Made::ZeroCopy => write_zero_copy(folder)?,
            Made::ZeroCopyLinks => write_zero_copy_today(folder)?,
            Made::Today(paper) => write_today(&[paper], folder)?,
            Made::Experiments(paper) => {
                experiments_of(&[paper.to_string()], folder)?;
            }
            Made::Study => {
                let chosen = arguments.applications.as_deref().unwrap_or_default();
                study(chosen, arguments.judge, folder)?;
            }
            Made::Beyond => beyond(arguments.beyond.as_deref().unwrap_or_default(), arguments)?,
            Made::Hosts => on_hosts(arguments.on_hosts.as_deref().unwrap_or_default(), folder)?,
        }
        // Some of several runs may be older; judging runs none.
        let is_part = |chosen: &Option<Vec<Application>>| {
            arguments.again.is_none() && chosen.as_ref().is_some_and(|chosen| !chosen.is_empty())
        };
        let is_whole = match made {
            Made::Study => !arguments.judge && !is_part(&arguments.applications),
            Made::Beyond => {
                let narrowed = !arguments.ranks.is_empty() || !arguments.protocols.is_empty();
                !narrowed && !is_part(&arguments.beyond)
            }
            Made::Hosts => !is_part(&arguments.on_hosts),
            _ => true,
        };
        done.extend(is_whole.then_some(made));
    }
    Ok(done)
}

/// Runs experiments, all or those that are named, and writes pages; all other pages, too, if it is
/// all of them. Gives what was made.
fn experiments_of(only: &[String], folder: &Path) -> Result<Vec<Made>> {
    let experiments = chosen(only)?;
    let targets = Targets::read()?;
    let report = run(&targets, &experiments)?;
    let mut made = Vec::new();
    if report.faults().is_empty() {
        let papers = complete(&targets, &experiments);
        let ends = match only.is_empty() {
            true => today::sections(&papers),
            false => ends(&papers, folder),
        };
        write(&pages(&report, &papers, ends), folder)?;
        made.extend(papers.iter().map(|&paper| Made::Experiments(paper)));
        if only.is_empty() {
            made.extend(papers.iter().map(|&paper| Made::Today(paper)));
            made.extend(others(folder)?);
        }
    }
    weft_app_common::say!("{}", report.text());
    if !report.faults().is_empty() {
        for fault in report.faults() {
            eprintln!("weft-paper: {fault}");
        }
        bail!("no pages are written until these {} are mended", report.faults().len());
    }
    Ok(made)
}

/// Writes the pages that are about no paper's table.
fn others(folder: &Path) -> Result<[Made; 6]> {
    write_adaptive(folder)?;
    write_rendezvous(folder)?;
    write_regions(folder)?;
    write_objects(folder)?;
    write_zero_copy(folder)?;
    write_zero_copy_today(folder)?;
    Ok([
        Made::Adaptive,
        Made::Rendezvous,
        Made::Regions,
        Made::Objects,
        Made::ZeroCopy,
        Made::ZeroCopyLinks,
    ])
}

/// Counts what the pages say.
fn write_counts(folder: &Path) -> Result<()> {
    let targets = Targets::read()?;
    let counts = Counts::of(&targets, folder)?;
    eprintln!("weft-paper: {}", counts.sentence());
    let [csv, page] = counts::PAGES.map(String::from);
    write(&[(csv, counts.csv()?), (page, counts.page())], folder)
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

/// Runs applications under all presets, all or those that are named, or none if what is kept is
/// only judged, and writes the page.
fn study(chosen: &[Application], is_kept: bool, folder: &Path) -> Result<()> {
    let progress = |line: &str| eprintln!("weft-paper: {line}");
    let study = if is_kept {
        Study::read(folder, Extent::THESIS)?
    } else {
        let all = if chosen.is_empty() { &Application::ALL } else { chosen };
        // One by one, so that what was run is kept if the rest is not.
        for one in all {
            let study = Study::of(Extent::THESIS, &[*one], progress).context("applications")?;
            study.keep(folder)?;
        }
        if chosen.is_empty() {
            // The runs are there, whatever they are judged to be.
            fresh::note(folder, &[Made::Study])?;
        }
        Study::read(folder, Extent::THESIS)?
    };
    if !study.is_whole() {
        weft_app_common::say!("kept; there is a page once all applications were run");
        return Ok(());
    }
    let mut pages = applications::pages(&study).context("applications")?;
    let old = std::fs::read_to_string(folder.join(&pages[0].0)).unwrap_or_default();
    pages[0].1 = sections::keep(&pages[0].1, &old, &applications::KEPT);
    weft_app_common::say!("{}", pages[0].1);
    write(&pages, folder)
}

/// Runs them on network namespaces, and replaces that part of the page.
fn on_hosts(chosen: &[Application], folder: &Path) -> Result<()> {
    let chosen = if chosen.is_empty() { &Application::ALL[..] } else { chosen };
    let section = today::applications::measure(folder, chosen)?;
    replace_section(&folder.join(applications::PAGES[0]), &section)
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
    let mut pages = zero_copy::pages().context("data by message and by put")?;
    let old = std::fs::read_to_string(folder.join(&pages[0].0)).unwrap_or_default();
    if let Some(end) = old.find(today::HEADING) {
        pages[0].1 += &old[end..];
    }
    weft_app_common::say!("{}", pages[0].1);
    write(&pages, folder)
}

/// Writes the part of this machine's links.
fn write_zero_copy_today(folder: &Path) -> Result<()> {
    let section = format!("{}\n{}", today::HEADING, today::zero_copy::section());
    weft_app_common::say!("{section}");
    replace_end(&folder.join(zero_copy::PAGES[0]), &section)
}

/// The experiments that `only` names, by themselves or by a paper; all, if it names none.
fn chosen(only: &[String]) -> Result<Vec<Box<dyn Experiment>>> {
    let targets = Targets::read()?;
    let is_about = |experiment: &dyn Experiment, name: &str| {
        let mut papers = experiment.claims().iter().filter_map(|claim| targets.get(claim.id));
        papers.any(|target| target.paper.to_string() == name)
    };
    let mut all = experiments::all();
    let names: Vec<&str> = all.iter().map(|experiment| experiment.name()).collect();
    let papers = Paper::ALL.map(|paper| paper.to_string());
    let is_known = |name: &String| names.contains(&name.as_str()) || papers.contains(name);
    if let Some(unknown) = only.iter().find(|name| !is_known(name)) {
        let (papers, names) = (papers.join(", "), names.join(", "));
        bail!("there is no experiment '{unknown}'; there are {names}, and those of {papers}");
    }
    all.retain(|experiment| {
        let is_meant = |name: &String| name == experiment.name() || is_about(&**experiment, name);
        only.is_empty() || only.iter().any(is_meant)
    });
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
    suite::run(targets, experiments, threads, |run, ended, all| {
        let seconds = start.elapsed().as_secs();
        eprintln!("weft-paper: {ended:2} of {all} done after {seconds:3} s: {run}");
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
