//! `cargo deny`, as `./setup test` installs it below `target/`.

use anyhow::{Context, Result, ensure};
use std::path::Path;
use std::process::Command;

/// Place of the program, below the repository.
const PROGRAM: &str = "target/tools/bin/cargo-deny";
/// Longest time for which the advisories may be on their way, in seconds.
const FETCH_LIMIT_S: &str = "60";

/// Checks what we depend on against `deny.toml`: licences, bans and sources always, advisories
/// where they can be had from the network.
///
/// # Errors
/// If something is not to be used, or nobody can tell because `cargo-deny` is not there.
pub fn run(root: &Path) -> Result<()> {
    check(root, &["check", "licenses", "bans", "sources"])?;
    match advisories(root)? {
        Ok(()) => check(root, &["--offline", "check", "advisories"]),
        Err(reason) => {
            println!("advisories not checked: they cannot be had here\n{reason}");
            Ok(())
        }
    }
}

fn check(root: &Path, words: &[&str]) -> Result<()> {
    let status = Command::new(root.join(PROGRAM)).args(words).current_dir(root).status();
    let status = status.context("cargo-deny is not installed; './setup test' installs it")?;
    ensure!(status.success(), "cargo-deny did not pass; see above, and deny.toml for the reasons");
    Ok(())
}

/// Fetches the advisories; the reason if they cannot be had.
fn advisories(root: &Path) -> Result<std::result::Result<(), String>> {
    let mut fetch = Command::new("timeout");
    fetch.arg(FETCH_LIMIT_S).arg(root.join(PROGRAM)).args(["fetch", "db"]).current_dir(root);
    let fetched = fetch.output().context("there is no 'timeout' to fetch advisories with")?;
    if fetched.status.success() {
        return Ok(Ok(()));
    }
    let said = String::from_utf8_lossy(&fetched.stderr);
    Ok(Err(format!("{}\n{}", fetched.status, said.trim())))
}
