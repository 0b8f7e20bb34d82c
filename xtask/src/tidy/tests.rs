//! The rules on this repository, and what the rules' own tests share.

use super::*;
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;

/// A made-up repository, gone when dropped.
pub struct Repository {
    folder: TempDir,
}

impl Repository {
    /// A repository of these files.
    pub fn new(files: &[(&str, &str)]) -> Self {
        let empty = Repository { folder: TempDir::new().unwrap() };
        let add = |made: Repository, (path, text): &(&str, &str)| made.with(path, text.as_bytes());
        files.iter().fold(empty, add)
    }

    /// The repository with one more file.
    pub fn with(self, path: &str, bytes: &[u8]) -> Self {
        let path = self.folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
        self
    }

    pub fn tree(&self) -> Tree {
        Tree::read(self.folder.path()).unwrap()
    }

    /// Findings of `check` in it, as `path:line: what`.
    pub fn finds(&self, check: fn(&Tree, &mut Vec<Finding>)) -> Vec<String> {
        let mut findings = Vec::new();
        check(&self.tree(), &mut findings);
        findings.sort();
        findings.iter().map(|f| format!("{}:{}: {}", f.path, f.line, f.what)).collect()
    }
}

/// Findings of `check` in a repository of these files.
pub fn found(files: &[(&str, &str)], check: fn(&Tree, &mut Vec<Finding>)) -> Vec<String> {
    Repository::new(files).finds(check)
}

#[test]
fn this_repository_is_tidy() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..");
    let findings = tidy(&root).unwrap();
    let lines: Vec<String> = findings.iter().map(Finding::to_string).collect();
    assert!(lines.is_empty(), "\n{}", lines.join("\n"));
}

#[test]
fn findings_are_sorted_and_give_place_rule_and_reason() {
    let repository = Repository::new(&[
        ("ARCHITECTURE.md", "## Modules that may use `unsafe`\n```\n```\n"),
        (
            "wire/Cargo.toml",
            "[package]\nname = \"wire\"\npublish = false\n[dependencies]\n\
             endpoint.path = \"../endpoint\"\n[lib]\ntest = false\n",
        ),
        ("wire/src/lib.rs", "//! Wire.\n#![forbid(unsafe_code)]\nfn f() { g().unwrap() }\n"),
        ("endpoint/Cargo.toml", "[package]\nname = \"endpoint\"\n"),
    ]);
    let findings = tidy(repository.folder.path()).unwrap();
    let lines: Vec<String> = findings.iter().map(Finding::to_string).collect();
    let expected = [
        "wire/Cargo.toml:5: layers: wire must not depend on endpoint. \
         Why: wire is header layouts and nothing else.",
        "wire/src/lib.rs:3: unwrap: unwrap() outside tests. \
         Why: an error has a type and a message; what cannot fail says why with expect.",
    ];
    assert_eq!(lines, expected);
}
