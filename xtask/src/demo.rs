//! Cost of the build that `make demo` makes: its crates, and its seconds of processor time.

use anyhow::{Context, Result, bail, ensure};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Crates that the demo's build may have at most. **Who adds one raises it, and says why.**
pub const CRATES_MAX: usize = 123;
/// Seconds of processor time that the build may take at most, from nothing. It took 124 on a
/// virtual machine of two cores that others used, too. Only `cargo run -p xtask -- demo` looks at
/// it, because that takes as long.
const SECONDS_MAX: f64 = 150.0;
/// Units of processor time in `/proc/self/stat`, in each second, on all of Linux's machines.
const TICKS: f64 = 100.0;

/// Builds the demo from nothing and checks what that costs.
///
/// # Errors
/// It costs too much, or cannot be built.
pub fn run(root: &Path) -> Result<()> {
    let crates = crates(root)?.len();
    ensure!(crates <= CRATES_MAX, "the demo takes {crates} crates, more than {CRATES_MAX}");
    let target = root.join("target/demo-cost");
    if target.exists() {
        fs::remove_dir_all(&target)?;
    }
    let before = children_seconds()?;
    let mut build = Command::new("cargo");
    build.args(["build", "--locked", "--profile", "demo", "--target-dir"]).arg(&target);
    let status = build.args(words(root)?).current_dir(root).status()?;
    ensure!(status.success(), "the demo cannot be built");
    fs::remove_dir_all(&target)?;
    let seconds = children_seconds()? - before;
    println!("demo: {crates} crates, {seconds:.0} s of processor time");
    ensure!(seconds <= SECONDS_MAX, "building the demo takes more than {SECONDS_MAX} s");
    Ok(())
}

/// Crates of the demo's build: those that are linked, and those that run while it is built.
///
/// # Errors
/// Cargo cannot tell.
pub fn crates(root: &Path) -> Result<BTreeSet<String>> {
    let mut tree = Command::new("cargo");
    tree.args(["tree", "--locked", "--offline", "--edges", "normal,build"]);
    tree.args(["--prefix", "none", "--format", "{p}", "--no-dedupe"]);
    let words = words(root)?;
    let packages = words.chunks(2).filter(|pair| pair[0] != "--bin").flatten();
    let output = tree.args(packages).current_dir(root).output()?;
    if !output.status.success() {
        bail!("cargo tree: {}", String::from_utf8_lossy(&output.stderr));
    }
    let text = String::from_utf8(output.stdout)?;
    // `syn v2.0.119 (proc-macro)`, `weft v0.1.0 (/a/folder)`.
    let name = |line: &str| Some(line.split(' ').take(2).collect::<Vec<_>>().join(" "));
    Ok(text.lines().filter(|line| !line.is_empty()).filter_map(name).collect())
}

/// Words for Cargo, as the Makefile has them.
fn words(root: &Path) -> Result<Vec<String>> {
    let makefile = fs::read_to_string(root.join("Makefile"))?;
    let words = makefile.lines().find_map(|line| line.strip_prefix("DEMO := "));
    let words = words.context("the Makefile does not say what the demo builds")?;
    Ok(words.split_whitespace().map(str::to_owned).collect())
}

/// Seconds of processor time of all children that have ended.
fn children_seconds() -> Result<f64> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    let (_, after_name) = stat.rsplit_once(") ").context("no /proc/self/stat")?;
    // The name is the second, the times of children in user and kernel mode are the 16th and 17th.
    let times = after_name.split(' ').skip(13).take(2).map(str::parse::<f64>);
    Ok(times.sum::<Result<f64, _>>()? / TICKS)
}

#[cfg(test)]
mod tests;
