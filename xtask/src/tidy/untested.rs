//! Manifests say which libraries have no tests of their own.

use super::finding::Finding;
use super::manifest::Manifest;
use super::tree::{Source, Tree};

/// Applies the rule to every library.
pub fn check(tree: &Tree, findings: &mut Vec<Finding>) {
    let packages = tree.manifests.iter().filter(|manifest| manifest.is_package());
    findings.extend(packages.filter_map(|manifest| look(tree, manifest)));
}

fn look(tree: &Tree, manifest: &Manifest) -> Option<Finding> {
    let root = format!("{}/src/lib.rs", manifest.folder);
    tree.file(&root)?;
    let sources = || tree.sources.iter().filter(|source| is_of_library(tree, manifest, source));
    let has_tests = sources().any(|source| source.split.code.contains("#[test]"));
    let (what, reason) = match (has_tests, manifest.tests_its_library()) {
        (true, false) => ("has tests, and `test = false`", "Cargo would run none of them"),
        (false, true) => {
            ("has no tests, and no `test = false`", "linking a program of no tests takes time")
        }
        _ => return None,
    };
    let what = format!("the library {what}");
    Some(Finding { path: manifest.path(), line: 1, rule: "untested", what, reason: reason.into() })
}

/// True if a source is the library's: not a program's, nor of tests of their own.
fn is_of_library(tree: &Tree, manifest: &Manifest, source: &Source) -> bool {
    let owned = tree.owner(&source.path).is_some_and(|owner| owner.folder == manifest.folder);
    let below = source.path.strip_prefix(&*manifest.folder).and_then(|p| p.strip_prefix("/src/"));
    owned && below.is_some_and(|path| path != "main.rs" && !path.starts_with("bin/"))
}

#[cfg(test)]
mod tests;
