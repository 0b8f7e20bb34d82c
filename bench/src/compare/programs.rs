//! Whole MPI programs on Weft beside Open MPI's own TCP, between two hosts.
//!
//! A [`Program`] is one of `apps/mpi`, compiled then and there, or a user's. Each runs in every
//! [`Setting`] by every [`Way`], in turns, A B C A B C, and says itself how long it took: how long
//! MPI takes to start is no part of that. A program, or a way, that fails is named with what it
//! said, and stops nobody else.

mod kernels;
mod report;
mod ways;

use crate::compare::figures::number;
use crate::compare::testbed::Testbed;
use crate::compare::tool;
use anyhow::{Context, Result, bail};
use std::path::Path;
use std::process::Command;

pub use kernels::Program;
use ways::Way;

/// Number of turns unless a user says another: programs take longer than figures.
const TURNS: u16 = 3;

/// Ranks of a program, and their cores.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Setting {
    /// Two ranks, one on each host, each with a core of its own.
    OwnCores,
    /// Four ranks, two on each host, all of them on the same two cores.
    SharedCores,
}

impl Setting {
    const ALL: [Setting; 2] = [Setting::OwnCores, Setting::SharedCores];

    fn ranks(self) -> u32 {
        match self {
            Setting::OwnCores => 2,
            Setting::SharedCores => 4,
        }
    }

    fn title(self) -> &'static str {
        match self {
            Setting::OwnCores => "2 ranks, one on each of two hosts, with a core each",
            Setting::SharedCores => "4 ranks, two on each of two hosts, which share two cores",
        }
    }
}

/// Times of a program in a setting by one way.
#[derive(Clone, PartialEq, Debug)]
struct Outcome {
    program: String,
    setting: Setting,
    way: Way,
    /// Seconds of each turn, or the reason why there are none.
    turns: Result<Vec<f64>, String>,
}

impl Outcome {
    fn median(&self) -> Option<f64> {
        crate::compare::turns::median(self.turns.as_ref().ok()?.iter().copied())
    }

    fn mean(&self) -> Option<f64> {
        let turns = self.turns.as_ref().ok().filter(|turns| !turns.is_empty())?;
        Some(turns.iter().sum::<f64>() / turns.len() as f64)
    }
}

/// Compares, and prints.
///
/// # Errors
/// A name is none that is known here, the hosts cannot be made, or the result cannot be printed.
/// That programs fail is part of the result.
pub fn run(
    programs: &[String],
    only: &[String],
    turns: Option<u16>,
    json: bool,
    folder: &Path,
) -> Result<()> {
    let ways = ways::chosen(only)?;
    let programs = kernels::named(programs)?;
    let testbed = Testbed::ethernet()?;
    ways::write_scripts(folder)?;
    let mut outcomes = Vec::new();
    for program in &programs {
        let compiled = program.compile(folder);
        for setting in Setting::ALL {
            let ready = compiled.as_ref().map_err(|error| format!("{error:#}"));
            let bench = Bench { testbed: &testbed, folder, program, setting };
            let turns = turns.unwrap_or(TURNS);
            outcomes.extend(bench.take(&ways, turns, ready.map(String::as_str)));
        }
    }
    match json {
        true => report::print_json(&outcomes),
        false => report::print_tables(&outcomes),
    }
}

/// A program in a setting.
struct Bench<'a> {
    testbed: &'a Testbed,
    folder: &'a Path,
    program: &'a Program,
    setting: Setting,
}

impl Bench<'_> {
    /// Runs it by all ways in turns. `ready` is its executable.
    fn take(&self, ways: &[Way], turns: u16, ready: Result<&str, String>) -> Vec<Outcome> {
        let mut outcomes: Vec<Outcome> = ways
            .iter()
            .map(|&way| Outcome {
                program: self.program.to_string(),
                setting: self.setting,
                way,
                turns: match &ready {
                    Ok(_) => way.ready().map(|()| Vec::new()).map_err(|error| format!("{error:#}")),
                    Err(why) => Err(why.clone()),
                },
            })
            .collect();
        for turn in 1..=turns {
            for outcome in &mut outcomes {
                let (Ok(seconds), Ok(executable)) = (&mut outcome.turns, &ready) else { continue };
                eprintln!(
                    "weft: {}, {} ranks, turn {turn} of {turns}: {}",
                    self.program.name(),
                    self.setting.ranks(),
                    outcome.way.title()
                );
                match self.seconds(outcome.way, executable) {
                    Ok(measured) => seconds.push(measured),
                    Err(error) => outcome.turns = Err(format!("{error:#}")),
                }
            }
        }
        outcomes
    }

    fn seconds(&self, way: Way, executable: &str) -> Result<f64> {
        let mut command: Command =
            way.command(self.testbed, self.folder, self.setting, executable)?;
        command.args(self.program.options());
        seconds_in(&tool::output(&mut command)?)
    }
}

/// The time that a program prints: `time: 0.25 s`, and more on that line if it likes, or, as the
/// NAS benchmarks do, `Time in seconds = 0.25`.
///
/// # Errors
/// It prints no such line.
fn seconds_in(text: &str) -> Result<f64> {
    let of_line = |line: &str| -> Option<String> {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["time:", seconds, "s", ..] => Some((*seconds).to_owned()),
            ["Time", "in", "seconds", "=", seconds] => Some((*seconds).to_owned()),
            _ => None,
        }
    };
    let said = text.lines().find_map(of_line);
    let seconds = number(&said.context("it printed no line like `time: 0.25 s`")?)?;
    if seconds <= 0.0 {
        bail!("it was done in less than it can tell: it needs a larger problem");
    }
    Ok(seconds)
}

#[cfg(test)]
mod tests;
