//! The rule of crates that are for a registry: they are there together, all of one version.

use super::finding::Finding;
use super::manifest::{Arrow, Manifest};
use super::tree::Tree;

/// Applies the rule to every manifest of a package that is published.
pub fn check(tree: &Tree, findings: &mut Vec<Finding>) {
    let root = tree.manifests.iter().find(|manifest| manifest.folder.is_empty());
    let version = root.and_then(Manifest::common_version).unwrap_or_default();
    for manifest in tree.manifests.iter().filter(|manifest| manifest.is_published()) {
        for arrow in manifest.arrows(root) {
            let to = tree.manifests.iter().find(|other| other.folder == arrow.to);
            let refused = refuse(&arrow, to.is_some_and(Manifest::is_published), version);
            findings.extend(refused.map(|(what, reason)| Finding {
                path: manifest.path(),
                line: arrow.line,
                rule: "published",
                what,
                reason: reason.into(),
            }));
        }
    }
}

/// Fault of a dependency of a published crate, and why it is one.
fn refuse(arrow: &Arrow, is_published: bool, version: &str) -> Option<(String, &'static str)> {
    let (to, said) = (&arrow.to, arrow.version.as_deref());
    if arrow.dev {
        return said.map(|_| {
            (
                format!("tests depend on {to} by a version"),
                "cargo leaves out what tests depend on only if it has a path and no version: \
                 otherwise crates that test one another could never be published",
            )
        });
    }
    if !is_published {
        let reason = "on a registry it would depend on what is not there";
        return Some((format!("it is published, and {to} is not"), reason));
    }
    (said != Some(&format!("={version}"))).then(|| {
        (
            format!("{to} has the version {}, not ={version}", said.unwrap_or("none")),
            "crates of one release are tested with one another, and with no other",
        )
    })
}

#[cfg(test)]
mod tests;
