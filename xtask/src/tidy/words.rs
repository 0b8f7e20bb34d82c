//! Words that do not belong in a source: crashes, clocks that are set, notes to self, somebody's
//! folders.

use super::finding::Finding;
use super::lexer::{is_word, line_of, words};
use super::tree::Tree;

/// Marks of unfinished work. Spelled in halves, or this file would be the first finding.
const MARKS: [&str; 3] = [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X")];

/// First folders of paths of people and machines.
const MACHINES: [&str; 3] = [concat!("/ho", "me/"), concat!("/ro", "ot/"), concat!("/wo", "rk/")];

/// Names of clocks that people and time servers set, in Rust and C.
const SET_CLOCKS: [&str; 5] =
    ["SystemTime", "Realtime", "RealtimeCoarse", "CLOCK_REALTIME", "gettimeofday"];

/// Applies the rules to every file.
pub fn check(tree: &Tree, findings: &mut Vec<Finding>) {
    check_unwraps(tree, findings);
    check_clocks(tree, findings);
    check_marks(tree, findings);
    check_machine_paths(tree, findings);
    check_openings(tree, findings);
}

fn check_unwraps(tree: &Tree, findings: &mut Vec<Finding>) {
    for source in &tree.sources {
        findings.extend(source.shipped.match_indices(".unwrap()").map(|(at, _)| Finding {
            path: source.path.clone(),
            line: line_of(&source.shipped, at),
            rule: "unwrap",
            what: "unwrap() outside tests".into(),
            reason:
                "an error has a type and a message; what cannot fail says why with expect".into(),
        }));
    }
}

fn check_clocks(tree: &Tree, findings: &mut Vec<Finding>) {
    let rust = tree.sources.iter().map(|source| (&source.path, &*source.split.code));
    let is_c = |path: &str| [".c", ".h"].iter().any(|ending| path.ends_with(ending));
    let c = tree.files.iter().filter(|file| is_c(&file.path));
    let c = c.map(|file| (&file.path, &*file.text));
    for (path, code) in rust.chain(c) {
        for clock in SET_CLOCKS {
            findings.extend(words(code, clock).map(|at| {
                Finding {
                    path: path.clone(),
                    line: line_of(code, at),
                    rule: "clocks",
                    what: format!("{clock}, a clock that may jump"),
                    reason:
                        "limits and pauses are measured by the monotonic clock, which nobody sets"
                            .into(),
                }
            }));
        }
    }
}

fn check_marks(tree: &Tree, findings: &mut Vec<Finding>) {
    for source in &tree.sources {
        let comments = &source.split.comments;
        for mark in MARKS {
            findings.extend(words(comments, mark).map(|at| Finding {
                path: source.path.clone(),
                line: line_of(comments, at),
                rule: "marks",
                what: format!("{mark} in a comment"),
                reason: "what is not done is in the list of what is left, not in the code".into(),
            }));
        }
    }
}

fn check_machine_paths(tree: &Tree, findings: &mut Vec<Finding>) {
    for file in &tree.files {
        for machine in MACHINES {
            // Preceded by a name it is part of a longer path, or of an address.
            let absolute = |at: &usize| {
                let before = file.text[..*at].chars().next_back();
                !before.is_some_and(|char| is_word(char) || "-.~/})".contains(char))
            };
            let places = file.text.match_indices(machine).map(|(at, _)| at).filter(absolute);
            findings.extend(places.map(|at| Finding {
                path: file.path.clone(),
                line: line_of(&file.text, at),
                rule: "machine paths",
                what: format!("an absolute path below {machine}"),
                reason: "the tree works wherever it is checked out".into(),
            }));
        }
    }
}

/// A crate opens with a paragraph that says what lives there.
fn check_openings(tree: &Tree, findings: &mut Vec<Finding>) {
    for manifest in tree.manifests.iter().filter(|manifest| manifest.is_package()) {
        let root = |name: &str| tree.file(&format!("{}/src/{name}", manifest.folder));
        let Some(file) = root("lib.rs").or_else(|| root("main.rs")) else { continue };
        if !file.text.starts_with("//!") {
            findings.push(Finding {
                path: file.path.clone(),
                line: 1,
                rule: "opening",
                what: "the crate does not open with //!".into(),
                reason: "a newcomer reads first what lives here, what it may use, what it keeps"
                    .into(),
            });
        }
    }
}

#[cfg(test)]
mod tests;
