//! Counts of what the pages say: each target with its role and its verdict, and how many there are
//! of each, by paper.
//!
//! Verdicts are read off the pages' tables, so that they are those that a reader sees. A row has
//! one verdict: on two pages it is refused.

use crate::Targets;
use crate::regions::table;
use crate::report::Verdict;
use crate::targets::{Kind, Paper, Role, Target};
use anyhow::{Context, Result};
use comfy_table::Table;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;
use weft_app_common::thousands;

/// The files that are written: all rows, and the page.
pub const PAGES: [&str; 2] = ["counts.csv", "counts.md"];

/// Names of columns that hold ids.
const IDS: [&str; 2] = ["id", "row"];
/// Name of the column of verdicts.
const VERDICT: &str = "verdict";

/// Reason why nothing can be counted.
#[derive(Debug, PartialEq, thiserror::Error)]
pub enum CountsError {
    /// A row has more than one verdict.
    #[error("{id}: judged on {} and on {}; a row has one page", pages[0], pages[1])]
    Twice {
        /// The row.
        id: String,
        /// The pages.
        pages: [String; 2],
    },
    /// A verdict about nothing in the targets, or no verdict.
    #[error("{page}: there is no row '{id}' with a verdict '{verdict}'")]
    Unknown {
        /// The page.
        page: String,
        /// The row.
        id: String,
        /// Word in its last cell.
        verdict: String,
    },
}

/// Target with what the pages say about it.
struct Line<'a> {
    target: &'a Target,
    /// Verdict, and the page that it is on.
    verdict: Option<(Verdict, String)>,
}

/// All targets with their verdicts.
pub struct Counts<'a> {
    lines: Vec<Line<'a>>,
}

/// A line of `counts.csv`.
#[derive(Serialize)]
struct Written<'a> {
    row: &'a str,
    paper: String,
    role: String,
    kind: String,
    verdict: String,
    page: &'a str,
}

impl<'a> Counts<'a> {
    /// Counts what the pages in a folder say.
    ///
    /// # Errors
    /// A page cannot be read, or those of [`CountsError`].
    pub fn of(targets: &'a Targets, folder: &Path) -> Result<Self> {
        let mut verdicts = BTreeMap::new();
        for (page, text) in pages(folder)? {
            for (id, verdict) in judged(&text) {
                note(targets, &mut verdicts, &page, id, verdict)?;
            }
        }
        let line = |target: &'a Target| Line { target, verdict: verdicts.remove(&target.id) };
        Ok(Counts { lines: targets.all().iter().map(line).collect() })
    }

    /// The file of all rows.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn csv(&self) -> Result<String> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        for Line { target, verdict } in &self.lines {
            let found = verdict.as_ref();
            writer.serialize(Written {
                row: &target.id,
                paper: target.paper.to_string(),
                role: target.role.to_string(),
                kind: target.kind.to_string(),
                verdict: found.map_or(String::new(), |(verdict, _)| verdict.to_string()),
                page: found.map_or("", |(_, page)| page),
            })?;
        }
        Ok(String::from_utf8(writer.into_inner()?)?)
    }

    /// The page.
    pub fn page(&self) -> String {
        format!(
            "# Counts\n\n{INTRODUCTION}\n\n{}\n\n## Asked\n\n{ASKED}\n\n{}\n\n## Not asked\n\n{NOT_ASKED}\n\n{}\n",
            self.sentence(),
            self.asked(),
            self.not_asked()
        )
    }

    /// Sentence that others quote.
    pub fn sentence(&self) -> String {
        let (all, judged, good) = self.tally(|_| true);
        format!(
            "Of {} figures, orders and findings {} are asked; {} of these have a verdict, and {} ({:.0} %) are as they should be.",
            thousands(self.count(|role| role != Role::Setting) as u64),
            thousands(all as u64),
            thousands(judged as u64),
            thousands(good as u64),
            100.0 * good as f64 / judged.max(1) as f64
        )
    }

    fn count(&self, has: impl Fn(Role) -> bool) -> usize {
        self.lines.iter().filter(|line| has(line.target.role)).count()
    }

    /// Targets that are asked of which this is true, those with a verdict, and good ones.
    fn tally(&self, is_meant: impl Fn(&Target) -> bool) -> (usize, usize, usize) {
        let asked = || self.lines.iter().filter(|line| line.target.role.is_asked());
        let meant = || asked().filter(|line| is_meant(line.target));
        let verdicts = || meant().filter_map(|line| line.verdict.as_ref());
        let good = verdicts().filter(|(verdict, _)| verdict.is_good()).count();
        (meant().count(), verdicts().count(), good)
    }

    fn asked(&self) -> Table {
        let heads = [
            "paper",
            "asked",
            "with a verdict",
            "good",
            "figures within",
            "orders that hold",
            "findings that hold",
        ];
        let mut table = table(heads);
        for paper in papers() {
            let of = |target: &Target| paper.is_none_or(|paper| target.paper == paper);
            let (all, judged, good) = self.tally(of);
            let part = |is_kind: fn(Kind) -> bool| {
                let (_, judged, good) = self.tally(|target| of(target) && is_kind(target.kind));
                format!("{good} of {judged}")
            };
            let row = [all, judged, good].map(|count| count.to_string());
            table.add_row([name(paper)].into_iter().chain(row).chain([
                part(|kind| !kind.is_statement()),
                part(|kind| kind == Kind::Order),
                part(|kind| kind == Kind::Qualitative),
            ]));
        }
        table
    }

    fn not_asked(&self) -> Table {
        let roles = Role::ALL.into_iter().filter(|role| !role.is_asked());
        let heads = roles.clone().map(|role| role.to_string());
        let mut table = table(["paper".to_owned()].into_iter().chain(heads));
        for paper in papers() {
            let of = |role| {
                let lines = self.lines.iter().filter(|line| line.target.role == role);
                let lines = lines.filter(|line| paper.is_none_or(|one| line.target.paper == one));
                lines.count().to_string()
            };
            table.add_row([name(paper)].into_iter().chain(roles.clone().map(of)));
        }
        table
    }
}

/// All papers, and then all of them together.
fn papers() -> impl Iterator<Item = Option<Paper>> {
    Paper::ALL.into_iter().map(Some).chain([None])
}

fn name(paper: Option<Paper>) -> String {
    paper.map_or("all".to_owned(), |paper| paper.to_string())
}

/// The pages of a folder but the one that is made here, by name.
fn pages(folder: &Path) -> Result<BTreeMap<String, String>> {
    let context = || format!("cannot read {}", folder.display());
    let mut pages = BTreeMap::new();
    for file in std::fs::read_dir(folder).with_context(context)? {
        let path = file.with_context(context)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.ends_with(".md") && !PAGES.contains(&&*name) {
            let text = std::fs::read_to_string(&path);
            pages.insert(name, text.with_context(|| format!("cannot read {}", path.display()))?);
        }
    }
    Ok(pages)
}

/// Ids and verdicts of a page's tables that have both.
fn judged(text: &str) -> Vec<(String, String)> {
    let (mut found, mut columns) = (Vec::new(), None);
    let mut is_inside = false;
    for line in text.lines() {
        let Some(cells) = cells(line) else {
            is_inside = false;
            continue;
        };
        let place = |named: &str| cells.iter().position(|cell| cell == named);
        if !is_inside {
            is_inside = true;
            columns = IDS.iter().find_map(|id| place(id)).zip(place(VERDICT));
        } else if let Some((id, verdict)) = columns
            && !cells[id].starts_with('-')
        {
            found.push((cells[id].clone(), cells[verdict].clone()));
        }
    }
    found
}

/// Cells of a line of a table.
fn cells(line: &str) -> Option<Vec<String>> {
    let inside = line.strip_prefix('|')?.trim_end().strip_suffix('|')?;
    // A bar that belongs to a cell is escaped.
    let marked = inside.replace("\\|", "\0");
    Some(marked.split('|').map(|cell| cell.trim().replace('\0', "|")).collect())
}

fn note(
    targets: &Targets,
    verdicts: &mut BTreeMap<String, (Verdict, String)>,
    page: &str,
    id: String,
    verdict: String,
) -> Result<(), CountsError> {
    let found = Verdict::ALL.into_iter().find(|one| one.to_string() == verdict);
    let Some(found) = found.filter(|_| targets.get(&id).is_some()) else {
        return Err(CountsError::Unknown { page: page.to_owned(), id, verdict });
    };
    match verdicts.insert(id.clone(), (found, page.to_owned())) {
        Some((_, other)) => Err(CountsError::Twice { id, pages: [other, page.to_owned()] }),
        None => Ok(()),
    }
}

const INTRODUCTION: &str = "\
Made by `weft-paper --counts` from the targets (`bench/paper/targets`) and the pages beside this one, and after each command that writes one; [counts.csv](counts.csv) has a line for each target. \
A row has one verdict, on one page.";
const ASKED: &str =
    "Figures are within their band, orders and findings hold; of those that have a verdict.";
const NOT_ASKED: &str = "\
What a machine was calibrated on, what was put in, rows for which an input was chosen after a look at them, and cycles of another machine are no predictions. Each has its reason in `bench/paper/targets/reasons.csv`, \
and on the page of its paper. Settings are how an experiment was set up.";

#[cfg(test)]
mod tests;
