//! Limit on circles of modules inside a crate: of files that name one another.

mod components;

use super::finding::Finding;
use super::modules::Modules;
use super::product::{self, Crate};
use super::ratchet::{Count, Ratchet};
use super::tree::Tree;

/// The most files of a circle.
const LIMIT: usize = 3;

/// Files of the largest circle of a crate.
const CIRCLES: Ratchet = Ratchet {
    rule: "circles",
    limit: LIMIT,
    unit: "files in a circle",
    reason: "files that name one another are read, tested and moved together, or not at all",
    list: "xtask/src/tidy/circles.rs",
    listed: &[("bench", 41), ("bench, all circles", 54)],
};

/// Applies the rule to every crate of the product.
pub fn check(tree: &Tree, findings: &mut Vec<Finding>) {
    hold(tree, &CIRCLES, findings);
}

fn hold(tree: &Tree, ratchet: &Ratchet, findings: &mut Vec<Finding>) {
    let counts: Vec<Count> = product::crates(tree).iter().flat_map(count).collect();
    ratchet.hold(tree, &counts, findings);
}

/// The largest circle of a crate, and all that are too large, if there are several.
fn count(one: &Crate) -> Vec<Count> {
    let mut circles = components::components(&Modules::of(one).edges());
    circles.sort_by_key(|files| std::cmp::Reverse(files.len()));
    let too_large: Vec<_> = circles.iter().filter(|files| files.len() > LIMIT).collect();
    let mut counts = Vec::new();
    counts.extend(circles.first().map(|files| count_files(one, one.folder, files)));
    if too_large.len() > 1 {
        let files: Vec<usize> = too_large.into_iter().flatten().copied().collect();
        counts.push(count_files(one, &format!("{}, all circles", one.folder), &files));
    }
    counts
}

fn count_files(one: &Crate, name: &str, files: &[usize]) -> Count {
    let mut paths: Vec<&str> = files.iter().map(|&file| &*one.sources[file].path).collect();
    paths.sort_unstable();
    Count {
        name: name.to_owned(),
        number: files.len(),
        path: paths[0].to_owned(),
        line: 1,
        detail: format!(" of its {} ({})", one.sources.len(), paths.join(", ")),
    }
}

#[cfg(test)]
mod tests;
