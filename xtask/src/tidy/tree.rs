//! The files of the repository, read once.

use super::finding::Finding;
use super::lexer::{self, Split};
use super::manifest::Manifest;
use anyhow::{Context, Result};
use std::fs;
use std::path::Path;

/// Hidden folders that are ours; all others belong to tools.
const HIDDEN: [&str; 3] = [".cargo", ".ci", ".github"];
/// File that Cargo and others put into folders that can be made again.
const CACHE_MARK: &str = "CACHEDIR.TAG";

/// All text of the repository.
pub struct Tree {
    /// Every file that is UTF-8, by path.
    pub files: Vec<File>,
    /// Paths of all other files.
    pub binaries: Vec<String>,
    /// Every Rust source.
    pub sources: Vec<Source>,
    /// Every manifest of a package, and the root's.
    pub manifests: Vec<Manifest>,
    /// Manifests that are none.
    pub malformed: Vec<Finding>,
}

/// A text file.
pub struct File {
    /// From the root, with forward slashes.
    pub path: String,
    /// All of it.
    pub text: String,
}

/// A Rust source.
pub struct Source {
    /// From the root, with forward slashes.
    pub path: String,
    /// Code and comments, for the rules to look at.
    pub split: Split,
    /// The code without items that are compiled for tests only; none in a test file.
    pub shipped: String,
}

impl Tree {
    /// Reads the tree at `root`.
    ///
    /// # Errors
    /// If a folder or file cannot be read.
    pub fn read(root: &Path) -> Result<Tree> {
        let mut tree = Tree {
            files: vec![],
            binaries: vec![],
            sources: vec![],
            manifests: vec![],
            malformed: vec![],
        };
        tree.read_folder(root, "")?;
        tree.read_code();
        Ok(tree)
    }

    /// Looks at the files that Cargo reads.
    fn read_code(&mut self) {
        for file in &self.files {
            if file.path.ends_with(".rs") {
                self.sources.push(Source::new(file));
            }
            if file.path == "Cargo.toml" || file.path.ends_with("/Cargo.toml") {
                match Manifest::parse(file) {
                    Ok(manifest) => self.manifests.push(manifest),
                    Err(finding) => self.malformed.push(finding),
                }
            }
        }
        let for_tests: Vec<String> = self.sources.iter().flat_map(modules_for_tests).collect();
        for source in &mut self.sources {
            if for_tests.iter().any(|module| is_inside(module, &source.path)) {
                source.shipped.clear();
            }
        }
    }

    /// The file at `path`.
    pub fn file(&self, path: &str) -> Option<&File> {
        self.files.iter().find(|file| file.path == path)
    }

    /// The manifest of the package that the file at `path` belongs to: the innermost.
    pub fn owner(&self, path: &str) -> Option<&Manifest> {
        let packages = self.manifests.iter().filter(|manifest| manifest.is_package());
        let around = packages.filter(|manifest| {
            path.strip_prefix(&*manifest.folder).is_some_and(|rest| rest.starts_with('/'))
        });
        around.max_by_key(|manifest| manifest.folder.len())
    }

    fn read_folder(&mut self, folder: &Path, path: &str) -> Result<()> {
        let unreadable = || format!("cannot read {}", folder.display());
        let mut entries = fs::read_dir(folder)
            .and_then(Iterator::collect::<std::io::Result<Vec<_>>>)
            .with_context(unreadable)?;
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let name = entry.file_name().to_string_lossy().into_owned();
            let inner = if path.is_empty() { name.clone() } else { format!("{path}/{name}") };
            let kind = entry.file_type().with_context(unreadable)?;
            if kind.is_dir() {
                let ours = !name.starts_with('.') || HIDDEN.contains(&&*name);
                if ours && !entry.path().join(CACHE_MARK).exists() {
                    self.read_folder(&entry.path(), &inner)?;
                }
            } else if kind.is_file() && name != ".git" {
                let bytes =
                    fs::read(entry.path()).with_context(|| format!("cannot read {inner}"))?;
                match String::from_utf8(bytes) {
                    Ok(text) => self.files.push(File { path: inner, text }),
                    Err(_) => self.binaries.push(inner),
                }
            }
        }
        Ok(())
    }
}

impl Source {
    fn new(file: &File) -> Self {
        let split = lexer::split(&file.text);
        let shipped = if is_test(&file.path) { String::new() } else { without_tests(&split.code) };
        Source { path: file.path.clone(), split, shipped }
    }

    /// True if this file holds tests and nothing else.
    pub fn is_test(&self) -> bool {
        is_test(&self.path)
    }
}

/// Tests are in `tests.rs` or below a folder `tests`.
fn is_test(path: &str) -> bool {
    path.split('/').any(|part| part == "tests" || part == "tests.rs")
}

/// The modules that `source` declares for tests only, as paths without `.rs`.
fn modules_for_tests(source: &Source) -> Vec<String> {
    let shipped: Vec<&str> = lexer::declared_modules(&source.shipped).collect();
    let all = lexer::declared_modules(&source.split.code);
    let folder = folder_of_modules(&source.path);
    all.filter(|name| !shipped.contains(name)).map(|name| format!("{folder}/{name}")).collect()
}

/// The folder of the modules that the file at `path` declares.
fn folder_of_modules(path: &str) -> &str {
    let is_root = |folder: &str| folder.is_empty() || folder.ends_with('/');
    let root = ["lib.rs", "main.rs", "mod.rs"]
        .iter()
        .find_map(|name| path.strip_suffix(name).filter(|folder| is_root(folder)));
    root.map_or(path.trim_end_matches(".rs"), |folder| folder.trim_end_matches('/'))
}

/// True if the file at `path` is `module`, a path without `.rs`, or one of the modules inside it.
pub fn is_inside(module: &str, path: &str) -> bool {
    path.strip_prefix(module).is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
}

/// `code` with the items under `#[cfg(test)]` and its like blanked.
fn without_tests(code: &str) -> String {
    let mut shipped = code.to_owned();
    for (start, _) in code.match_indices("#[cfg(") {
        let Some(length) = code[start..].find(']') else { break };
        let attribute = &code[start..start + length];
        let for_tests = lexer::words(attribute, "test").next().is_some();
        if for_tests && !attribute.contains("not(test") {
            let end = lexer::end_of_item(code, start + length + 1);
            // A blank for a byte, so that offsets stay.
            let blank = code[start..end].bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' });
            shipped.replace_range(start..end, &blank.collect::<String>());
        }
    }
    shipped
}

#[cfg(test)]
mod tests;
