//! `cargo deny`, if it is installed.

use anyhow::{Result, bail};
use std::path::Path;
use std::process::{Command, Stdio};

/// Checks what we depend on against `deny.toml`.
///
/// # Errors
/// If something is not to be used, or nobody can tell because `cargo-deny` is not there.
pub fn run(root: &Path) -> Result<()> {
    let mut version = Command::new("cargo");
    version.args(["deny", "--version"]).stdout(Stdio::null()).stderr(Stdio::null());
    if !version.status()?.success() {
        bail!("cargo-deny is not installed; 'cargo install --locked cargo-deny' installs it");
    }
    let status = Command::new("cargo").args(["deny", "check"]).current_dir(root).status()?;
    if !status.success() {
        bail!("cargo deny did not pass; see above, and deny.toml for the reasons");
    }
    Ok(())
}
