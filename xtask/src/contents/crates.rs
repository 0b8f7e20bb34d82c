//! Crates inside what is packaged, as Cargo knows them.

use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Crates whose programs and libraries are packaged.
const SHIPPED: [&str; 6] = [
    "weft-c",
    "weft-command",
    "weft-libfabric",
    "weft-libfabric-host",
    "weft-net",
    "weft-programs",
];

/// The answer of `cargo metadata`, as far as it is wanted.
#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    resolve: Resolve,
}

#[derive(Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Deserialize)]
struct Node {
    id: String,
    deps: Vec<Need>,
}

#[derive(Deserialize)]
struct Need {
    pkg: String,
    dep_kinds: Vec<Kind>,
}

#[derive(Deserialize)]
struct Kind {
    kind: Option<String>,
}

/// A crate.
#[derive(Deserialize)]
pub struct Package {
    id: String,
    /// The name.
    pub name: String,
    /// The version.
    pub version: String,
    license: Option<String>,
    manifest_path: PathBuf,
    /// Address of its sources.
    pub repository: Option<String>,
    source: Option<String>,
}

impl Package {
    /// True if it is not Weft's.
    pub fn is_foreign(&self) -> bool {
        self.source.is_some()
    }

    /// Its licences as SPDX writes them; Cargo had a slash for "or" once.
    pub fn expression(&self) -> String {
        self.license.as_deref().unwrap_or("NOASSERTION").replace('/', " OR ").replace("  ", " ")
    }

    /// Folder of its sources.
    pub fn folder(&self) -> PathBuf {
        self.manifest_path.parent().map(Path::to_path_buf).unwrap_or_default()
    }
}

#[derive(Deserialize)]
struct Lock {
    package: Vec<Locked>,
}

#[derive(Deserialize)]
struct Locked {
    name: String,
    version: String,
    checksum: Option<String>,
}

/// All crates inside what is packaged.
pub struct Contents {
    /// By name and version.
    packages: BTreeMap<(String, String), Package>,
    /// Crates that each needs, by what Cargo calls them.
    needs: BTreeMap<String, BTreeSet<String>>,
    checksums: BTreeMap<(String, String), String>,
}

impl Contents {
    /// Asks Cargo about the workspace at `root`, built for this machine.
    ///
    /// # Errors
    /// Cargo cannot tell.
    pub fn read(root: &Path) -> Result<Self> {
        let host = output(root, "rustc", &["-vV"])?;
        let host = host.lines().find_map(|line| line.strip_prefix("host: "));
        let host = host.context("rustc does not say what it compiles for")?;
        let words = ["metadata", "--locked", "--format-version", "1", "--filter-platform", host];
        let metadata: Metadata = serde_json::from_str(&output(root, "cargo", &words)?)?;
        let lock: Lock = toml::from_str(&fs::read_to_string(root.join("Cargo.lock"))?)?;
        let is_inside = |need: &&Need| need.dep_kinds.iter().any(|kind| kind.kind.is_none());
        let needs = metadata.resolve.nodes.into_iter().map(|node| {
            let inside = node.deps.iter().filter(is_inside).map(|need| need.pkg.clone()).collect();
            (node.id, inside)
        });
        let needs: BTreeMap<String, BTreeSet<String>> = needs.collect();
        let shipped = metadata.packages.iter().filter(|one| SHIPPED.contains(&&*one.name));
        let reached = reach(shipped.map(|package| package.id.clone()).collect(), &needs);
        let inside = metadata.packages.into_iter().filter(|package| reached.contains(&package.id));
        let key = |package: &Package| (package.name.clone(), package.version.clone());
        let checksums = lock.package.into_iter();
        let checksums = checksums.filter_map(|one| Some(((one.name, one.version), one.checksum?)));
        Ok(Contents {
            packages: inside.map(|package| (key(&package), package)).collect(),
            needs,
            checksums: checksums.collect(),
        })
    }

    /// All, by name and version.
    pub fn packages(&self) -> impl Iterator<Item = &Package> {
        self.packages.values()
    }

    /// Those whose programs and libraries are packaged.
    pub fn shipped(&self) -> impl Iterator<Item = &Package> {
        self.packages().filter(|package| SHIPPED.contains(&&*package.name))
    }

    /// Crates that a crate needs.
    pub fn needs<'a>(&'a self, package: &'a Package) -> impl Iterator<Item = &'a Package> {
        let needed = self.needs.get(&package.id);
        self.packages().filter(move |other| needed.is_some_and(|ids| ids.contains(&other.id)))
    }

    /// SHA-256 of the archive that a crate came in.
    pub fn checksum(&self, package: &Package) -> Option<&str> {
        let key = (package.name.clone(), package.version.clone());
        self.checksums.get(&key).map(String::as_str)
    }

    /// The version of Weft.
    pub fn version(&self) -> &str {
        self.shipped().next().map_or("", |package| &package.version)
    }
}

/// All that can be reached from `first`.
fn reach(first: Vec<String>, needs: &BTreeMap<String, BTreeSet<String>>) -> BTreeSet<String> {
    let mut reached = BTreeSet::new();
    let mut next = first;
    while let Some(id) = next.pop() {
        if !reached.contains(&id) {
            next.extend(needs.get(&id).into_iter().flatten().cloned());
            let _ = reached.insert(id);
        }
    }
    reached
}

fn output(root: &Path, program: &str, words: &[&str]) -> Result<String> {
    let output = Command::new(program).args(words).current_dir(root).output();
    let output = output.with_context(|| format!("cannot run {program}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{program} {}: {}", words.join(" "), said.trim());
    Ok(String::from_utf8(output.stdout)?)
}
