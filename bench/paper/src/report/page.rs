//! A page about a paper, in Markdown.

use super::judge::Row;
use super::text::{misses, tables};
use super::{Chapter, Report};
use crate::cluster::Calibration;
use crate::targets::{Kind, Paper, Role, Target};
use comfy_table::{Table, presets};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use weft_kit::thousands;
use weft_simulator::Machine;

const METHOD: &str = "\
Measured by `make paper` in the simulator, in virtual time: Weft's own protocols and packet layer on a cluster as the \
thesis describes it. The machines are calibrated on tables 5.1 and 8.4 of the thesis and on nothing else, \
by the rule at the end of the thesis's page; whatever is not called calibration is predicted. A figure outside its band is marked and explained. Ids are those of \
`bench/paper/targets`, where each stands with the line of the paper that prints it.";

const CAREFUL_METHOD: &str = "\
Measured by `make paper` in the simulator, in virtual time: `weft-events`, under both of its protocols, on the paper's \
cluster. The machine at the end of this page is made of the paper's settings and of rules; what the two protocols have \
in common is assumed with table 1 in sight, because the paper does not say what it costs, and what each costs by itself \
is appendix A's, which is therefore not measured. Everything else is predicted. Bands, stated before measuring: 25 % of \
times and throughputs, 6 percentage points of what careful is better by. A figure outside its band is marked and \
explained. Ids are those of `bench/paper/targets`, where each stands with the line of the paper that prints it.";

/// How `paper` was measured, and on which machines.
fn method(paper: Paper) -> (&'static str, Vec<&'static str>) {
    match paper {
        Paper::Careful => (CAREFUL_METHOD, vec!["medusa"]),
        _ => (METHOD, Calibration::ALL.map(Calibration::machine).to_vec()),
    }
}

/// The page about `paper`.
pub fn page(report: &Report<'_>, paper: Paper) -> String {
    let mut page = format!("# {}, measured again\n\n", paper.title());
    if report.of(paper).next().is_some() {
        page += &format!("{}\n\n", method(paper).0);
    }
    page += &format!("{}\n", counted(report, paper));
    for chapter in report.of(paper) {
        write_chapter(&mut page, chapter, paper);
    }
    write_machines(&mut page, report, paper);
    write_settings(&mut page, report, paper);
    write_rest(&mut page, report, paper);
    page
}

/// `Measured 23 of 420 figures and findings (...); 12 of 145 settings used.`
pub fn counted(report: &Report<'_>, paper: Paper) -> String {
    let coverage = Coverage::new(report, paper);
    let rows: Vec<&Row<'_>> = report
        .chapters
        .iter()
        .flat_map(|chapter| &chapter.rows)
        .filter(|row| row.target.paper == paper)
        .collect();
    let of = |role: Role| rows.iter().filter(move |row| row.target.role == role);
    let good = of(Role::Predict).filter(|row| row.verdict.is_good()).count();
    let predictions = of(Role::Predict).count();
    let calibrated = of(Role::Calibrate).count();
    let (measurable, settings): (Vec<_>, Vec<_>) =
        report.targets.of(paper).partition(|target| target.role != Role::Setting);
    let mut text = format!("Measured {} of {} figures and findings", rows.len(), measurable.len());
    if !rows.is_empty() {
        let missed = predictions - good;
        let _ = write!(
            text,
            " ({predictions} predictions, of which {good} come true and {missed} miss; {calibrated} calibration)"
        );
    }
    let used = settings.iter().filter(|target| coverage.has(target)).count();
    let _ = write!(text, "; {used} of {} settings used.", settings.len());
    text
}

/// `All papers: 23 of 1,470 rows measured, 12 used as settings, 1,435 left.`
pub fn counted_in_all(report: &Report<'_>) -> String {
    let rows = report.targets.all().len();
    let measured: usize = report.chapters.iter().map(|chapter| chapter.rows.len()).sum();
    let covered: usize = Paper::ALL.iter().map(|&paper| Coverage::new(report, paper).0.len()).sum();
    format!(
        "All papers: {measured} of {} rows measured, {} used as settings, {} left.",
        thousands(rows as u64),
        covered - measured,
        thousands((rows - covered) as u64)
    )
}

/// Which targets of a paper are measured or used.
struct Coverage<'a>(BTreeSet<&'a str>);

impl<'a> Coverage<'a> {
    fn new(report: &'a Report<'_>, paper: Paper) -> Self {
        let rows = report.chapters.iter().flat_map(|chapter| &chapter.rows);
        let measured = rows.map(|row| row.target);
        let used = report.chapters.iter().flat_map(|chapter| chapter.settings);
        let used = used.filter_map(|setting| report.targets.get(setting.0));
        let ids = measured.chain(used).filter(|target| target.paper == paper);
        Coverage(ids.map(|target| target.id.as_str()).collect())
    }

    fn has(&self, target: &Target) -> bool {
        self.0.contains(target.id.as_str())
    }
}

fn write_chapter(page: &mut String, chapter: &Chapter<'_>, paper: Paper) {
    let _ = writeln!(page, "\n## {}", chapter.title);
    for (heading, table) in tables(chapter, Some(paper)) {
        let _ = writeln!(page, "\n{heading}:\n\n{}", markdown(table));
    }
    let mut first = true;
    for (id, why) in misses(chapter, Some(paper)) {
        if std::mem::take(&mut first) {
            let _ = writeln!(page, "\nWhat misses, and why:\n");
        }
        let _ = writeln!(page, "- `{id}`: {why}");
    }
    for plot in &chapter.plots {
        let _ = writeln!(page, "\n![{}]({}.svg)", plot.title, plot.name);
    }
}

/// The machines behind the figures, whose files say where every number comes from.
fn write_machines(page: &mut String, report: &Report<'_>, paper: Paper) {
    if report.of(paper).next().is_none() {
        return;
    }
    let _ = writeln!(page, "\n## The machines");
    for machine in method(paper).1 {
        if let Ok(text) = Machine::description(machine) {
            let _ = writeln!(page, "\n`{machine}`:\n\n```toml\n{text}```");
        }
    }
}

fn write_settings(page: &mut String, report: &Report<'_>, paper: Paper) {
    let mut table = Table::new();
    table.set_header(["id", "what", "value", "unit", "used by"]);
    for chapter in &report.chapters {
        for setting in chapter.settings {
            let Some(target) = report.targets.get(setting.0) else { continue };
            if target.paper == paper {
                let says = target.says();
                table.add_row([&target.id, &target.what, says, &target.unit, chapter.name]);
            }
        }
    }
    if table.row_count() > 0 {
        let _ = writeln!(page, "\n## Settings taken from the paper\n\n{}", markdown(table));
    }
}

/// What nobody has measured yet, counted by section and kind.
fn write_rest(page: &mut String, report: &Report<'_>, paper: Paper) {
    let coverage = Coverage::new(report, paper);
    let mut rest: BTreeMap<Section<'_>, [usize; Kind::ALL.len()]> = BTreeMap::new();
    for target in report.targets.of(paper).filter(|target| !coverage.has(target)) {
        let counts = rest.entry(Section(&target.section)).or_default();
        if let Some(kind) = Kind::ALL.iter().position(|&kind| kind == target.kind) {
            counts[kind] += 1;
        }
    }
    let mut table = Table::new();
    let kinds = Kind::ALL.map(|kind| kind.to_string());
    table.set_header(["section".to_owned()].into_iter().chain(kinds));
    let mut total = [0; Kind::ALL.len()];
    for (section, counts) in rest {
        table.add_row([section.0.to_owned()].into_iter().chain(counts.map(blank_zero)));
        total.iter_mut().zip(counts).for_each(|(total, count)| *total += count);
    }
    let all: usize = total.iter().sum();
    table.add_row(["all".to_owned()].into_iter().chain(total.map(blank_zero)));
    let _ = writeln!(page, "\n## Not measured, not used: {all}, by section\n\n{}", markdown(table));
}

fn blank_zero(count: usize) -> String {
    if count == 0 { String::new() } else { count.to_string() }
}

/// The name of a section, in the order of the paper: 8.10 after 8.9.
#[derive(PartialEq, Eq)]
struct Section<'a>(&'a str);

impl Section<'_> {
    fn key(&self) -> (Vec<Option<u32>>, &str) {
        let number = self.0.split(' ').next().unwrap_or_default();
        (number.split('.').map(|part| part.parse().ok()).collect(), self.0)
    }
}

impl Ord for Section<'_> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

impl PartialOrd for Section<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

fn markdown(mut table: Table) -> String {
    table.load_preset(presets::ASCII_MARKDOWN);
    for row in table.row_iter_mut() {
        let escaped: Vec<String> =
            row.cell_iter().map(|cell| cell.content().replace('|', "\\|")).collect();
        *row = escaped.into();
    }
    table.trim_fmt()
}
