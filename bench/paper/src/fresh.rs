//! Pages that are older than what they measure.
//!
//! The rule: a part of a page depends on crates, and is as old as their sources. When it is made, a
//! hash of these is written down in [`FILE`] beside the page; it is older than what it measures
//! once that is another one. Sources are what is compiled, and the files of simulated machines,
//! without blank lines, comments and tests. What is simulated depends on no real link and on
//! nothing that starts processes ([`NOT_SIMULATED`]).

mod sources;

pub use sources::Sources;

use crate::lines;
use crate::regions::table;
use crate::targets::Paper;
use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// File that holds what the pages were made of.
pub const FILE: &str = "made.csv";
/// Page that lists what is older.
const LIST: &str = "README.md";
/// Marks around the list.
const MARKS: [&str; 2] =
    ["<!-- older than what they measure: weft-paper --stale -->\n", "<!-- end -->\n"];

/// Crates that no simulated run goes through.
const NOT_SIMULATED: [&str; 9] = [
    "weft-bulk",
    "weft-datagram",
    "weft-fabric",
    "weft-launch",
    "weft-link-shm",
    "weft-mixed",
    "weft-net",
    "weft-udp",
    "weft-xdp",
];

/// Thing that a part of a page is measured on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum On {
    /// The simulator.
    Simulator,
    /// The machine that ran it.
    Machine,
}

/// Way to make a part of a page again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Made {
    /// The experiments of a paper.
    Experiments(Paper),
    /// Answers of this machine's links to a paper.
    Today(Paper),
    /// [`crate::adaptive`].
    Adaptive,
    /// [`crate::rendezvous`].
    Rendezvous,
    /// [`crate::regions`].
    Regions,
    /// [`crate::objects`].
    Objects,
    /// [`crate::zero_copy`].
    ZeroCopy,
    /// [`crate::today::zero_copy`].
    ZeroCopyLinks,
    /// [`crate::applications`].
    Study,
    /// [`crate::applications::Beyond`].
    Beyond,
    /// [`crate::today::applications`].
    Hosts,
}

/// Part of a page that is made at once.
#[derive(Debug)]
pub struct Part {
    /// The page.
    pub page: &'static str,
    /// Name.
    pub part: &'static str,
    /// Way to make it.
    pub made: Made,
    /// Options of `weft-paper` that make it.
    pub options: &'static str,
    on: On,
    /// Crates, and files and folders of this one, that it goes through, with what these use.
    crates: &'static [&'static str],
    own: &'static [&'static str],
}

const SIMULATOR: &str = "weft-simulator";
/// Crates that every real link goes through.
const LINKS: &[&str] = &["weft", "weft-link-shm", "weft-udp", "weft-xdp"];

macro_rules! part {
    ($page:literal, $part:literal, $made:expr, $options:literal, $on:ident, $crates:expr, $own:expr) => {
        Part {
            page: $page,
            part: $part,
            made: $made,
            options: $options,
            on: On::$on,
            crates: $crates,
            own: $own,
        }
    };
}

/// All parts of pages.
#[rustfmt::skip]
pub const PARTS: [Part; 17] = [
    part!("thesis.md", "simulated", Made::Experiments(Paper::Thesis), "--only thesis", Simulator,
        &[SIMULATOR, "weft-object"], &["cluster.rs", "experiments/", "objects.rs"]),
    part!("careful.md", "simulated", Made::Experiments(Paper::Careful), "--only careful", Simulator,
        &[SIMULATOR, "weft-events"], &["experiments/events/", "experiments/events.rs"]),
    part!("sender.md", "steps", Made::Experiments(Paper::Sender), "--only sender", Machine,
        LINKS, &["experiments/sender/", "experiments/sender.rs", "today/steps.rs"]),
    part!("pupa.md", "simulated", Made::Experiments(Paper::Pupa), "--only pupa", Simulator,
        &[SIMULATOR], &["experiments/pupa/"]),
    part!("adaptive.md", "simulated", Made::Adaptive, "--adaptive", Simulator,
        &[SIMULATOR], &["adaptive.rs"]),
    part!("rendezvous.md", "simulated", Made::Rendezvous, "--rendezvous", Simulator,
        &[SIMULATOR], &["rendezvous.rs"]),
    part!("regions.md", "simulated", Made::Regions, "--regions", Simulator,
        &[SIMULATOR, "weft-apps"], &["regions.rs", "regions/write_miss.rs", "systems.rs"]),
    part!("objects.md", "simulated", Made::Objects, "--objects", Simulator,
        &[SIMULATOR, "weft-object"], &["cluster.rs", "objects.rs", "objects/shared.rs"]),
    part!("zero-copy.md", "simulated", Made::ZeroCopy, "--zero-copy", Simulator,
        &[SIMULATOR, "weft-apps"], &["regions.rs", "systems.rs", "zero_copy.rs"]),
    part!("zero-copy.md", "today", Made::ZeroCopyLinks, "--zero-copy --links", Machine,
        LINKS, &["today/zero_copy.rs"]),
    part!("applications.md", "64 ranks", Made::Study, "--applications", Simulator,
        &[SIMULATOR, "weft-apps", "weft-asp"],
        &["applications/inputs.rs", "applications/model.rs", "applications/run.rs", "systems.rs"]),
    part!("applications.md", "more ranks", Made::Beyond, "--beyond", Simulator,
        &[SIMULATOR, "weft-apps", "weft-asp"],
        &["applications/beyond.rs", "applications/model.rs", "applications/run.rs", "systems.rs"]),
    part!("applications.md", "hosts", Made::Hosts, "--on-hosts", Machine,
        &["weft", "weft-udp", "weft-xdp", "weft-apps", "weft-asp"], &["today/applications.rs"]),
    part!("thesis.md", "today", Made::Today(Paper::Thesis), "--today thesis", Machine,
        LINKS, &["today/bench.rs", "today/thesis.rs", "today/thesis/"]),
    part!("careful.md", "today", Made::Today(Paper::Careful), "--today careful", Machine,
        &["weft", "weft-events", "weft-link-shm", "weft-udp", "weft-xdp"], &["today/bench.rs", "today/careful.rs"]),
    part!("sender.md", "today", Made::Today(Paper::Sender), "--today sender", Machine,
        LINKS, &["today/bench.rs", "today/sender.rs", "today/steps.rs"]),
    part!("pupa.md", "today", Made::Today(Paper::Pupa), "--today pupa", Machine,
        LINKS, &["today/bench.rs", "today/pupa.rs"]),
];

/// A line of [`FILE`].
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
struct Line {
    page: String,
    part: String,
    sources: String,
}

impl Part {
    /// Hash of what it is made of.
    fn sources(&self, sources: &Sources) -> Result<String> {
        let without: &[&str] = if self.on == On::Simulator { &NOT_SIMULATED } else { &[] };
        sources.hash(self.crates, without, self.own)
    }
}

/// Sources that this program was compiled from.
pub fn here() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Notes that the parts of a folder's pages that are made in these ways were made from the sources
/// as they are.
///
/// # Errors
/// The sources cannot be read, or the file cannot be written.
pub fn note(folder: &Path, made: &[Made]) -> Result<()> {
    let sources = Sources::read(&here())?;
    let path = folder.join(FILE);
    let mut lines: Vec<Line> = lines::read(&path)?;
    for part in PARTS.iter().filter(|part| made.contains(&part.made)) {
        lines.retain(|line| (&*line.page, &*line.part) != (part.page, part.part));
        let (page, name) = (part.page.to_owned(), part.part.to_owned());
        lines.push(Line { page, part: name, sources: part.sources(&sources)? });
    }
    lines.sort();
    lines::write(&path, lines)
}

/// Parts of a folder's pages that are older than what they measure.
///
/// # Errors
/// The sources or the file cannot be read.
pub fn stale(folder: &Path) -> Result<Vec<&'static Part>> {
    let sources = Sources::read(&here())?;
    let lines: Vec<Line> = lines::read(&folder.join(FILE))?;
    let mut stale = Vec::new();
    for part in &PARTS {
        let line = lines.iter().find(|line| (&*line.page, &*line.part) == (part.page, part.part));
        let now = part.sources(&sources)?;
        if line.is_none_or(|line| line.sources != now) {
            stale.push(part);
        }
    }
    Ok(stale)
}

/// The list of these parts, for people.
pub fn listed(stale: &[&Part]) -> String {
    if stale.is_empty() {
        return "No page is older than what it measures.\n".to_owned();
    }
    let mut table = table(["page", "part", "again"]);
    for part in stale {
        let command = format!("`weft-paper {}`", part.options);
        table.add_row([format!("[{0}]({0})", part.page), part.part.to_owned(), command]);
    }
    format!("{OLDER}\n\n{table}\n")
}

/// Puts a list into the folder's overview, if it has one, in place of the list that is there.
///
/// # Errors
/// The overview has no marks, or it cannot be written.
pub fn write(folder: &Path, list: &str) -> Result<()> {
    let path = folder.join(LIST);
    if !path.exists() {
        return Ok(());
    }
    let page = std::fs::read_to_string(&path)
        .with_context(|| format!("cannot read {}", path.display()))?;
    let (front, end) = around(&page).with_context(|| format!("no marks in {}", path.display()))?;
    let page = format!("{front}\n{list}\n{end}");
    std::fs::write(&path, page).with_context(|| format!("cannot write {}", path.display()))
}

/// Text before a page's list, and behind it.
fn around(page: &str) -> Option<(&str, &str)> {
    let from = page.find(MARKS[0])? + MARKS[0].len();
    let to = from + page[from..].find(MARKS[1])?;
    Some((&page[..from], &page[to..]))
}

const OLDER: &str = "\
These parts are older than what they measure: the sources of the crates that they go through have changed since, or were not written down. `weft-paper --again` makes all of them.";

#[cfg(test)]
mod tests;
