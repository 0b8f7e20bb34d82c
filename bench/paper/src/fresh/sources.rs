//! Sources of crates, and hashes of them.

use anyhow::{Context, Result};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Folder of this crate's sources.
const OWN: &str = "bench/paper/src";
/// Hexadecimal digits of a hash that are written down.
const DIGITS: usize = 16;
/// Beginning of a line that is a comment.
const COMMENT: &str = "//";

/// Sources of a workspace.
pub struct Sources {
    root: PathBuf,
    /// Folders of its crates, by name.
    folders: BTreeMap<String, PathBuf>,
}

/// Parts of a manifest that are read.
#[derive(Deserialize)]
struct Manifest {
    #[serde(default)]
    workspace: Workspace,
    #[serde(default)]
    dependencies: BTreeMap<String, toml::Value>,
}

#[derive(Deserialize, Default)]
struct Workspace {
    #[serde(default)]
    dependencies: BTreeMap<String, toml::Value>,
}

impl Sources {
    /// Sources of the workspace in a folder.
    ///
    /// # Errors
    /// Its manifest cannot be read.
    pub fn read(root: &Path) -> Result<Self> {
        let manifest = manifest(root)?;
        let path = |value: &toml::Value| Some(root.join(value.get("path")?.as_str()?));
        let all = manifest.workspace.dependencies.iter();
        let folders = all.filter_map(|(name, value)| Some((name.clone(), path(value)?))).collect();
        Ok(Sources { root: root.to_owned(), folders })
    }

    /// Hash of the sources of crates and all that these use, without some, and of files and folders
    /// of this crate.
    ///
    /// # Errors
    /// A source cannot be read.
    pub fn hash(&self, crates: &[&str], without: &[&str], own: &[&str]) -> Result<String> {
        let mut hasher = blake3::Hasher::new();
        let mut files = Vec::new();
        for name in self.used(crates, without)? {
            list(&self.folders[&name], true, &mut files)?;
        }
        for path in own {
            list(&self.root.join(OWN).join(path), path.ends_with('/'), &mut files)?;
        }
        files.sort();
        for file in files {
            let context = || format!("cannot read {}", file.display());
            let text = std::fs::read_to_string(&file).with_context(context)?;
            let place = file.strip_prefix(&self.root).unwrap_or(&file);
            hasher.update(format!("{}\n", place.display()).as_bytes());
            lines(&text).for_each(|line| {
                hasher.update(format!("{line}\n").as_bytes());
            });
        }
        Ok(hasher.finalize().to_hex()[..DIGITS].to_owned())
    }

    /// Crates of the workspace that these use, and these, without some.
    fn used(&self, crates: &[&str], without: &[&str]) -> Result<BTreeSet<String>> {
        let mut used = BTreeSet::new();
        let mut next: Vec<String> = crates.iter().map(|&name| name.to_owned()).collect();
        while let Some(name) = next.pop() {
            if without.contains(&&*name) || used.contains(&name) {
                continue;
            }
            let folder =
                self.folders.get(&name).with_context(|| format!("there is no crate {name}"))?;
            let uses = manifest(folder)?.dependencies.into_keys();
            next.extend(uses.filter(|name| self.folders.contains_key(name)));
            used.insert(name);
        }
        Ok(used)
    }
}

fn manifest(folder: &Path) -> Result<Manifest> {
    let path = folder.join("Cargo.toml");
    let context = || format!("cannot read {}", path.display());
    let text = std::fs::read_to_string(&path).with_context(context)?;
    toml::from_str(&text).with_context(context)
}

/// Lines of a source that count.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with(COMMENT))
}

/// Adds a file, or those of a folder, but no tests and no other crate's.
fn list(path: &Path, is_folder: bool, files: &mut Vec<PathBuf>) -> Result<()> {
    const TESTS: [&str; 3] = ["tests", "tests.rs", "benches"];
    if !is_folder {
        files.push(path.to_owned());
        return Ok(());
    }
    let context = || format!("cannot read {}", path.display());
    for entry in std::fs::read_dir(path).with_context(context)? {
        let path = entry.with_context(context)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let is_source = name.ends_with(".rs") || name.ends_with(".toml");
        if TESTS.contains(&&*name) || name == "Cargo.toml" {
            continue;
        } else if path.is_dir() && !path.join("Cargo.toml").exists() {
            list(&path, true, files)?;
        } else if path.is_file() && is_source {
            files.push(path);
        }
    }
    Ok(())
}
