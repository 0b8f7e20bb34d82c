//! Names of types that libraries export: each of one crate only, so that a word has one meaning.

use super::finding::Finding;
use super::lexer::line_of;
use super::modules::Modules;
use super::product::{self, Crate};
use super::ratchet::stale;
use super::tree::Tree;
use std::collections::{BTreeMap, BTreeSet};

const LIST: &str = "xtask/src/tidy/types.rs";
const RULE: &str = "public types";

/// Folders of crates that may use the words of others: programs, what tests and measures, the
/// bindings, which name things as their languages do, and compilers, which use nothing of Weft.
const APART: [&str; 11] = [
    "apps",
    "bench",
    "bindings",
    "cli",
    "programs",
    "report",
    "simulator",
    "systems/orca",
    "systems/rules",
    "testing",
    "xtask",
];

/// A name, and the reason why several crates may have it.
type Listed = (&'static str, &'static str);

/// Names that several libraries export, sorted.
const LISTED: &[Listed] = &[
    ("Actions", "outputs of a sans-IO machine, of protocols and of regions"),
    ("Breach", "a peer's violation, of regions and of events; each is of its own machine"),
    ("Bug", "a mistake that is planted for tests of the crate"),
    ("Call", "of messaging a user's, of regions an input of the coherence machine"),
    ("Counters", "counts of the crate's own work"),
    ("Destination", "receiver of a packet, in the terms of its system"),
    ("Error", "the crate's own, as libraries in Rust call it"),
    ("Header", "first bytes of a packet of the crate's layer; formats are read one at a time"),
    ("Message", "of messaging a user's; of regions that of CRL's coherence protocol"),
    ("Nanoseconds", "the same time for both, as protocols know no link"),
    ("Operation", "of collectives and of objects what their papers call so; both are users' names"),
    ("Pending", "an operation that goes on by itself, of a team and of an object; users' names"),
    ("Planted", "a mistake that is planted for tests of the crate"),
    ("Posted", "memory as the link has it, and around it the endpoint's with its proof"),
    ("Protocol", "of wire the number of a system; of events the presets of the paper"),
    ("Read", "an operation on objects, and a guard of regions: users' names"),
    ("Result", "the crate's own, as libraries in Rust call it"),
    ("Settings", "the crate's own"),
    ("Statistics", "the crate's own"),
    ("Trace", "a rank's that is written, and the file's that is read"),
    ("Write", "an operation on objects, and a guard of regions: users' names"),
];

/// A library that exports a name, and where.
struct Place<'a> {
    folder: &'a str,
    path: &'a str,
    line: usize,
}

/// Applies the rule to every library.
pub fn check(tree: &Tree, findings: &mut Vec<Finding>) {
    hold(tree, LISTED, findings);
}

fn hold(tree: &Tree, listed: &[Listed], findings: &mut Vec<Finding>) {
    let crates = product::crates(tree);
    let mut names: BTreeMap<&str, Vec<Place>> = BTreeMap::new();
    for one in crates.iter().filter(|one| is_library(one)) {
        for exported in Modules::of(one).exported() {
            let source = one.sources[exported.file];
            let line = line_of(&source.shipped, exported.at);
            let place = Place { folder: one.folder, path: &source.path, line };
            names.entry(exported.name).or_default().push(place);
        }
    }
    names.retain(|_, places| places.iter().any(|place| place.folder != places[0].folder));
    for (name, places) in &names {
        if listed.iter().all(|(allowed, _)| allowed != name) {
            findings.extend(places.iter().map(|place| refuse(name, place, places)));
        }
    }
    for (name, _) in listed.iter().filter(|(name, _)| !names.contains_key(name)) {
        let what = format!("fewer than two crates export a type {name}: take it off the list");
        findings.extend(stale(tree, LIST, RULE, &[name], what));
    }
}

fn is_library(one: &Crate) -> bool {
    let is_inside = |folder: &&str| {
        one.folder
            .strip_prefix(*folder)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let root = format!("{}/src/lib.rs", one.folder);
    !APART.iter().any(is_inside) && one.sources.iter().any(|source| source.path == root)
}

fn refuse(name: &str, place: &Place, places: &[Place]) -> Finding {
    let Place { folder, path, line } = *place;
    let others: BTreeSet<&str> = places.iter().map(|place| place.folder).collect();
    let others: Vec<&str> = others.into_iter().filter(|other| *other != folder).collect();
    Finding {
        path: path.into(),
        line,
        rule: RULE,
        what: format!("{folder} exports a type {name}, as {} does", others.join(", ")),
        reason: "a reader who searches for a word finds one thing".into(),
    }
}

#[cfg(test)]
mod tests;
