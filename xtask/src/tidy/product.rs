//! The crates that are the product, and their code without tests.

use super::tree::{Source, Tree};

/// Folder of what only tests it.
const TESTING: &str = "testing/";

/// A crate of the product.
pub struct Crate<'a> {
    /// The folder, from the root, with forward slashes.
    pub folder: &'a str,
    /// Its sources below `src`, but those of tests.
    pub sources: Vec<&'a Source>,
}

/// The crates of the product, those that have sources.
pub fn crates(tree: &Tree) -> Vec<Crate<'_>> {
    let packages = tree.manifests.iter().filter(|manifest| manifest.is_package());
    let product = packages.filter(|manifest| !manifest.folder.starts_with(TESTING));
    let with_sources = product.map(|manifest| {
        let folder = manifest.folder.as_str();
        let is_ours = |source: &&Source| {
            let below = source.path.strip_prefix(folder).unwrap_or_default();
            below.starts_with("/src/")
                && !source.shipped.is_empty()
                && tree.owner(&source.path).is_some_and(|owner| owner.folder == folder)
        };
        Crate { folder, sources: tree.sources.iter().filter(is_ours).collect() }
    });
    with_sources.filter(|one| !one.sources.is_empty()).collect()
}

#[cfg(test)]
mod tests;
