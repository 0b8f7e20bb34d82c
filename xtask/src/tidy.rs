//! The rules, and the tree that they are applied to.

mod binaries;
mod circles;
mod comments;
mod fields;
mod finding;
mod layers;
mod lexer;
mod manifest;
mod methods;
mod modules;
mod pages;
mod product;
mod published;
mod ratchet;
mod references;
mod sizes;
mod statics;
mod tree;
mod types;
mod unsafety;
mod untested;
mod words;

use anyhow::Result;
pub use finding::Finding;
use std::path::Path;
use tree::Tree;

/// Everything that is not tidy in the repository at `root`, in the order of paths and lines.
///
/// # Errors
/// If the tree cannot be read.
pub fn tidy(root: &Path) -> Result<Vec<Finding>> {
    let tree = Tree::read(root)?;
    let mut findings = Vec::new();
    layers::check(&tree, &mut findings);
    published::check(&tree, &mut findings);
    unsafety::check(&tree, &mut findings);
    unsafety::check_list(&tree, &mut findings);
    sizes::check(&tree, &mut findings);
    words::check(&tree, &mut findings);
    comments::check(&tree, &mut findings);
    binaries::check(&tree, &mut findings);
    untested::check(&tree, &mut findings);
    pages::check(&tree, &mut findings);
    references::check(&tree, &mut findings);
    methods::check(&tree, &mut findings);
    circles::check(&tree, &mut findings);
    statics::check(&tree, &mut findings);
    fields::check(&tree, &mut findings);
    types::check(&tree, &mut findings);
    findings.sort();
    Ok(findings)
}

#[cfg(test)]
mod tests;
