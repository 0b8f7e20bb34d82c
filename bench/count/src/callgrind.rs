//! Running callgrind, and reading what it writes.

use anyhow::{Context, Result, bail};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};

/// The options that all runs have in common: names and lines are written in full.
pub fn options(counted: &str, written: &str, out: &Path) -> Vec<OsString> {
    let mut file = OsString::from("--callgrind-out-file=");
    file.push(out);
    let mut options: Vec<OsString> = [
        "--tool=callgrind",
        "--collect-atstart=no",
        "--compress-pos=no",
        "--compress-strings=no",
        counted,
        written,
    ]
    .map(OsString::from)
    .into();
    options.push(file);
    options
}

/// Has callgrind run a program, and returns what that says on standard output.
///
/// # Errors
/// There is no valgrind, or the program failed.
pub fn run(options: &[OsString], program: &Path, arguments: &[&str]) -> Result<String> {
    let output = Command::new("valgrind")
        .args(options)
        .arg(program)
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .context("valgrind does not run; `make setup` installs it")?;
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        bail!("{} failed under valgrind:\n{said}", program.display());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Counts between two of callgrind's dumps.
#[derive(Default, Debug, PartialEq)]
pub struct Dump {
    /// Instructions in all.
    pub total: u64,
    /// By function: its own, and with those that it calls.
    pub functions: BTreeMap<String, Cost>,
    /// By file and line.
    pub lines: BTreeMap<(String, u64), u64>,
    /// By program and library.
    pub objects: BTreeMap<String, u64>,
}

/// Cost of a function.
#[derive(Clone, Copy, Default, Debug, PartialEq)]
pub struct Cost {
    /// Its own instructions.
    pub own: u64,
    /// These, and those of what it calls.
    pub inclusive: u64,
}

impl Dump {
    /// Reads a dump.
    ///
    /// # Errors
    /// There is none, or callgrind writes it otherwise.
    pub fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("callgrind has not written {}", path.display()))?;
        Dump::parse(&text)
            .with_context(|| format!("what callgrind has written to {}", path.display()))
    }

    /// Reads the text of a dump, in which neither names nor lines are abbreviated.
    ///
    /// # Errors
    /// It is something else.
    pub fn parse(text: &str) -> Result<Self> {
        let mut dump = Dump::default();
        let mut location = Location::default();
        let (mut is_call, mut has_total) = (false, false);
        for line in text.lines() {
            if let Some(total) = line.strip_prefix("summary: ") {
                (dump.total, has_total) = (number(total)?, true);
            } else if line.starts_with("calls=") {
                is_call = true;
            } else if line.starts_with(|first: char| first.is_ascii_digit()) {
                let (at, cost) = line.split_once(' ').context("a line has a cost")?;
                dump.add(location, (number(at)?, number(cost)?), is_call);
                is_call = false;
            } else if let Some((what, name)) = line.split_once('=') {
                location.enter(what, name);
            }
        }
        if !has_total {
            bail!("it has no summary");
        }
        Ok(dump)
    }

    /// Counts the cost of a line, or of a call there.
    fn add(&mut self, location: Location<'_>, (line, cost): (u64, u64), is_call: bool) {
        let function = self.functions.entry(location.function.to_owned()).or_default();
        function.inclusive += cost;
        if !is_call {
            function.own += cost;
            *self.lines.entry((location.file.to_owned(), line)).or_default() += cost;
            *self.objects.entry(location.object.to_owned()).or_default() += cost;
        }
    }
}

/// Location in the program of the costs that follow.
#[derive(Clone, Copy, Default)]
struct Location<'a> {
    object: &'a str,
    file: &'a str,
    function: &'a str,
}

impl<'a> Location<'a> {
    fn enter(&mut self, what: &str, name: &'a str) {
        match what {
            "ob" => self.object = name,
            "fl" | "fi" | "fe" => self.file = name,
            "fn" => self.function = name,
            // Callees, whose own costs stand elsewhere, and the head.
            _ => {}
        }
    }
}

fn number(text: &str) -> Result<u64> {
    text.trim().parse().with_context(|| format!("'{text}' is no number"))
}

#[cfg(test)]
mod tests;
