//! `./setup` on a machine where nothing is installed.
#![allow(clippy::unwrap_used)] // Helpers of tests are tests, too.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Output};

/// Output of `./setup` with this argument, where there are no other commands than it uses itself.
fn setup(part: &str) -> Output {
    let bare = tempfile::tempdir().unwrap();
    let path = std::env::var_os("PATH").unwrap();
    for name in ["bash", "dirname", "sed", "id", "awk", "paste"] {
        let found = std::env::split_paths(&path).map(|folder| folder.join(name));
        symlink(found.into_iter().find(|file| file.is_file()).unwrap(), bare.path().join(name))
            .unwrap();
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    Command::new(root.join("setup")).arg(part).env("PATH", bare.path()).output().unwrap()
}

/// Asserts that a part is refused, in one message, for want of all of these.
fn assert_refused(part: &str, missing: &[&str]) {
    let output = setup(part);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert_eq!(said.matches("setup: ").count(), 1, "{said}");
    assert!(missing.iter().all(|name| said.contains(name)), "{part}: {said}");
}

#[test]
fn all_that_is_missing_is_said_at_once() {
    let packages = "in Debian they are: gcc libc6-dev\n";
    assert_refused("demo", &["for make demo there is no cc, Rust 1.", packages, "rustup.rs"]);
    assert_refused("test", &[" cc", "clang", "valgrind", "mpich", "openmpi-bin", "g++", "Rust 1."]);
}

#[test]
fn a_part_that_there_is_not_is_answered_with_those_that_there_are() {
    assert_refused("world", &["no part 'world': demo, build, bench"]);
}
