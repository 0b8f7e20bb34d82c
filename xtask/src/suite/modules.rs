//! Modules of a program of tests, each of which may run in a process of its own.

use super::recorded::Recorded;
use anyhow::{Context, Result, ensure};
use std::collections::{BTreeMap, BTreeSet};

/// Module at the top of a program, with the paths of its tests that are not ignored: there is one
/// at least.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Module {
    /// Name; empty for tests that are in no module.
    pub name: String,
    pub tests: Vec<String>,
}

impl Module {
    /// The words that have the program run these tests and no others. A filter of the module's name
    /// would choose those of every other module, too, in whose path it is.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        std::iter::once("--exact").chain(self.tests.iter().map(String::as_str))
    }
}

/// The modules of a program, which is asked for them.
///
/// # Errors
/// It cannot be run, or fails.
pub fn modules(program: &Recorded) -> Result<Vec<Module>> {
    let ignored: BTreeSet<String> = list(program, &["--ignored"])?.into_iter().collect();
    let mut tests = list(program, &[])?;
    tests.retain(|test| !ignored.contains(test));
    Ok(group(tests))
}

/// The paths of the tests that a program lists, ignored ones included.
fn list(program: &Recorded, which: &[&str]) -> Result<Vec<String>> {
    let mut command = program.command(&[]);
    command.args(["--list", "--format", "terse"]).args(which);
    let output = command.output().with_context(|| format!("cannot run {}", program.name()))?;
    let errors = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{} does not list its tests: {errors}", program.name());
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned).collect())
}

/// Tests by the first part of their path.
pub(super) fn group(tests: Vec<String>) -> Vec<Module> {
    let mut modules = BTreeMap::<String, Vec<String>>::new();
    for test in tests {
        let module = test.split_once("::").map_or("", |(module, _)| module);
        modules.entry(module.to_owned()).or_default().push(test);
    }
    modules.into_iter().map(|(name, tests)| Module { name, tests }).collect()
}
