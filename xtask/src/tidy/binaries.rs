//! Files that are not text: assets of known types, and what fuzzing needs.

use super::finding::Finding;
use super::tree::Tree;

/// Types of assets, by the ends of their names.
const ASSETS: [&str; 5] = [".gif", ".ico", ".jpg", ".png", ".woff2"];

/// Folders of files that may hold any bytes: inputs of fuzzing, and what cargo-fuzz finds.
const ANY_BYTES: [&str; 2] = ["testing/fuzz/corpus/", "testing/fuzz/cargo-fuzz/"];

/// Applies the rule to every file that is not UTF-8.
pub fn check(tree: &Tree, findings: &mut Vec<Finding>) {
    let is_asset = |path: &str| ASSETS.iter().any(|end| path.ends_with(end));
    let is_input = |path: &str| ANY_BYTES.iter().any(|folder| path.starts_with(folder));
    let refused = tree.binaries.iter().filter(|path| !is_asset(path) && !is_input(path));
    findings.extend(refused.map(|path| Finding {
        path: path.clone(),
        line: 1,
        rule: "binaries",
        what: "a file that is not text".into(),
        reason:
            "what can be built is built, and what is built does not belong to the sources".into(),
    }));
}

#[cfg(test)]
mod tests;
