//! A page about a paper, in Markdown.

use super::judge::Row;
use super::text::{TURNED, misses, tables, turned};
use super::{Chapter, Report};
use crate::counter::Outcome;
use crate::targets::{Paper, Role, Target};
use comfy_table::{Table, presets};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use weft_app_common::thousands;
use weft_simulator::MachineModel;

/// Method that all figures of a page have in common.
fn method(paper: Paper) -> &'static str {
    match paper {
        Paper::Thesis => {
            "Measured by `make paper` in the simulator, in virtual time: Weft's own protocols and packet layer on a cluster as \
            the thesis describes it. The machines are calibrated on tables 5.1 and 8.4 of the thesis and on nothing else, by \
            the rule at the end of this page; whatever is not called calibration is predicted. Bands were set before \
            measuring: 15 % for times of the calibrated machine, 25 % for other figures, where the row names no other. A \
            figure outside its band is marked and explained. Ids are those of `bench/paper/targets`, where each stands with \
            the line of the paper that prints it."
        }
        Paper::Pupa => PUPA_METHOD,
        Paper::Careful => CAREFUL_METHOD,
        Paper::Sender => {
            "Measured by `make paper`. Bands were set before measuring: 25 %, where the row names no other. A figure outside \
            its band is marked and explained. Ids are those of `bench/paper/targets`, where each stands with the line of the \
            paper that prints it."
        }
    }
}

const PUPA_METHOD: &str = "\
Measured by `make paper` in the simulator, in virtual time: Weft's preset `pupa` on the paper's PCs and their segment of \
Ethernet, where the kernel does what elsewhere an NI does. The machine's file, at the end of this page, is made from the paper's \
settings; what these do not say, the cost of software, is calibrated on one column of tables 1 and 2, one cell of copies and two of \
buffers (64 and 256 bytes), and TCP's on the same column. No such cell is in the tables below: whatever is there is predicted. Bands were \
set before anything was measured: 25 % for times and counts. That for shares, 5 percentage points then, let pass whatever was next to \
nothing, and is 25 % now, from 1 point to 5. A figure outside its band is marked and \
explained. Ids are those of `bench/paper/targets`, where each stands with the line of the paper that prints it.";

const CAREFUL_METHOD: &str = "\
Measured by `make paper` in the simulator, in virtual time: `weft-events`, under both of its protocols, on the paper's \
cluster. The machine at the end of this page is made of the paper's settings and of rules; what the two protocols have \
in common is assumed with table 1 in sight, because the paper does not say what it costs, so that table 1 is calibration, and what each \
costs by itself is appendix A's, which is input. Of table 4's times on one node it is made how often that program iterates. Everything else is predicted. Bands, stated before measuring: 25 % of \
times and throughputs. That of what careful is better by, 6 percentage points then, let pass whatever was next to nothing, and is 25 % now, from 2 points to 6. A figure outside its band is marked and \
explained. Ids are those of `bench/paper/targets`, where each stands with the line of the paper that prints it.";

/// The page about `paper`.
pub fn page(report: &Report<'_>, paper: Paper) -> String {
    let mut page = format!("# {}, measured again\n\n", paper.title());
    if report.of(paper).next().is_some() {
        page += &format!("{}\n\n", method(paper));
    }
    page += &format!("{}\n", counted(report, paper));
    page += &turned_in_all(report, paper);
    for chapter in report.of(paper) {
        write_chapter(&mut page, chapter, paper);
    }
    write_machines(&mut page, report, paper);
    write_settings(&mut page, report, paper);
    write_rest(&mut page, report, paper);
    page
}

/// `Asked: 304 figures and findings, of which 169 are measured (...); not asked: ...`
pub fn counted(report: &Report<'_>, paper: Paper) -> String {
    let coverage = Coverage::new(report, paper);
    let rows = report.chapters.iter().flat_map(|chapter| &chapter.rows);
    let rows: Vec<&Row<'_>> =
        rows.filter(|row| row.target.paper == paper && row.target.role.is_asked()).collect();
    let of = |role: Role| report.targets.of(paper).filter(move |target| target.role == role);
    let mut text = format!(
        "Asked: {} figures and findings, of which {} are measured",
        of(Role::Predict).count(),
        rows.len()
    );
    if !rows.is_empty() {
        let good = rows.iter().filter(|row| row.verdict.is_good()).count();
        let _ = write!(text, " ({good} come true and {} miss)", rows.len() - good);
    }
    let _ = write!(
        text,
        ". Not asked: {} calibration, {} inputs, {} tuned, {} of another machine. Settings used: {} of {}.",
        of(Role::Calibrate).count(),
        of(Role::Input).count(),
        of(Role::Tuned).count(),
        of(Role::OtherMachine).count(),
        of(Role::Setting).filter(|target| coverage.has(target)).count(),
        of(Role::Setting).count(),
    );
    text
}

/// Number of rows that miss and have a counter-experiment, and what came of them; nothing if none
/// has.
fn turned_in_all(report: &Report<'_>, paper: Paper) -> String {
    let mut best: BTreeMap<&str, Outcome> = BTreeMap::new();
    for chapter in report.of(paper) {
        let rows = chapter.turned.iter().flat_map(|turned| &turned.rows);
        for row in rows.filter(|row| row.target.paper == paper && row.target.role.is_asked()) {
            let stated = chapter.rows.iter().find(|stated| stated.claim.id == row.claim.id);
            let Some(stated) = stated else { continue };
            let outcome = Outcome::new(stated, row);
            best.entry(row.claim.id).and_modify(|it| *it = outcome.min(*it)).or_insert(outcome);
        }
    }
    if best.is_empty() {
        return String::new();
    }
    let count = |is: fn(&Outcome) -> bool| best.values().filter(|outcome| is(outcome)).count();
    let is_true = count(|outcome| *outcome == Outcome::True);
    let moves = count(|outcome| matches!(outcome, Outcome::Towards(_) | Outcome::Beyond));
    format!(
        "\nOf the rows that miss {} have a counter-experiment, below the reasons: the same with what is suspected turned. Then \
         {is_true} come true, {moves} move towards the paper's figure or beyond it, and {} do not, so that their reason is \
         another.\n",
        best.len(),
        best.len() - is_true - moves
    )
}

/// The orders and findings among the predictions, then, as the last line, all of them:
/// `400 figures measured of 774, 380 within their band, 20 outside`.
pub fn counted_in_all(report: &Report<'_>) -> String {
    let asked = |target: &Target| target.role.is_asked();
    let rows = || report.chapters.iter().flat_map(|chapter| &chapter.rows);
    let rows = || rows().filter(|row| asked(row.target));
    let good = rows().filter(|row| row.verdict.is_good()).count();
    let (all, measured) =
        (report.targets.all().iter().filter(|target| asked(target)).count(), rows().count());
    let statements = || rows().filter(|row| row.target.kind.is_statement());
    let right = statements().filter(|row| row.verdict.is_good()).count();
    format!(
        "Orders and findings: {right} of {} hold.\n{measured} figures measured of {}, {good} within their band, {} outside",
        statements().count(),
        thousands(all as u64),
        measured - good
    )
}

/// Targets of a paper that are measured or used.
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
    if !chapter.notes.is_empty() {
        let _ = writeln!(page, "\n{}", chapter.notes);
    }
    for (heading, table) in tables(chapter, Some(paper)) {
        let _ = writeln!(page, "\n{heading}:\n\n{}", markdown(table));
    }
    let mut reasons: Vec<(&str, Vec<String>)> = Vec::new();
    for (id, why) in misses(chapter, Some(paper)) {
        let id = format!("`{id}`");
        match reasons.iter_mut().find(|reason| reason.0 == why) {
            Some((_, ids)) => ids.push(id),
            None => reasons.push((why, vec![id])),
        }
    }
    if !reasons.is_empty() {
        let _ = writeln!(page, "\nWhat misses, and why:\n");
    }
    for (why, ids) in reasons {
        let _ = writeln!(page, "- {}: {why}", ids.join(", "));
    }
    for (turned, table) in turned(chapter, Some(paper)) {
        let _ = writeln!(page, "\n{TURNED}: {turned}.\n\n{}", markdown(table));
    }
    if paper != chapter.of {
        return;
    }
    for plot in &chapter.plots {
        let _ = writeln!(page, "\n![{}]({}.svg)", plot.chart.title, plot.name);
    }
    for picture in &chapter.pictures {
        let _ = writeln!(page, "\n![{}]({})\n\n{}", picture.title, picture.file(), picture.says);
    }
}

/// The machines behind the figures, whose files say where every number comes from.
fn write_machines(page: &mut String, report: &Report<'_>, paper: Paper) {
    let machines: BTreeSet<&str> =
        report.of(paper).flat_map(|chapter| chapter.machines).copied().collect();
    if !machines.is_empty() {
        let _ = writeln!(page, "\n## The machines");
    }
    for machine in machines {
        if let Ok(text) = MachineModel::description(machine) {
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

/// Writes the targets that nobody measures, and those that are not asked, by the reason.
fn write_rest(page: &mut String, report: &Report<'_>, paper: Paper) {
    const NO_REASON: &str = "not measured yet";
    let coverage = Coverage::new(report, paper);
    let all = || report.targets.of(paper);
    let rest: Vec<&Target> =
        all().filter(|target| target.role.is_asked() && !coverage.has(target)).collect();
    let _ = writeln!(page, "\n## Not measured: {}", rest.len());
    write_by_reason(page, &rest, |target| {
        format!("because: {}", report.targets.why_not(&target.id).unwrap_or(NO_REASON))
    });
    let rest: Vec<&Target> =
        all().filter(|target| !target.role.is_asked() && target.role != Role::Setting).collect();
    let _ = writeln!(page, "\n## Not asked: {}", rest.len());
    write_by_reason(page, &rest, |target| {
        format!("{}: {}", target.role, report.targets.why_not(&target.id).unwrap_or_default())
    });
}

fn write_by_reason(page: &mut String, rest: &[&Target], why: impl Fn(&Target) -> String) {
    let mut by_reason: BTreeMap<String, BTreeMap<Section<'_>, Vec<&str>>> = BTreeMap::new();
    for target in rest {
        let section = Section(&target.section);
        by_reason.entry(why(target)).or_default().entry(section).or_default().push(&target.id);
    }
    for (why, sections) in by_reason {
        let count: usize = sections.values().map(Vec::len).sum();
        let _ = writeln!(page, "\n{count}, {why}\n");
        for (section, ids) in sections {
            let _ = writeln!(page, "- {}: {}", section.0, ids.join(", "));
        }
    }
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
