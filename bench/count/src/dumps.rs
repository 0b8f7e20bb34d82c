//! Dumps of a program's figures, and their averages.

use crate::budget::Figures;
use crate::callgrind::Dump;
use anyhow::{Context, Result, bail};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The dump of a figure.
pub struct Counted {
    /// Rounds that its step was played.
    pub rounds: u64,
    /// Parts of it in all of them: as many as rounds, or twice as many where both ranks have one.
    pub parts: u64,
    /// Counts of all rounds.
    pub dump: Dump,
}

/// Dumps of a program, by figure.
pub type Dumps = BTreeMap<String, Counted>;

impl Counted {
    /// Instructions of a round, without those that each part takes whatever is in it.
    fn each(&self, empty: f64) -> f64 {
        (self.dump.total as f64 - empty * self.parts as f64) / self.rounds as f64
    }
}

/// Reads the dumps beside `out`. The program has `said` their names, rounds and, where these are
/// not as many, parts, in their order.
///
/// # Errors
/// It has said something else, or a dump is missing.
pub fn read(said: &str, out: &Path) -> Result<Dumps> {
    let mut dumps = Dumps::new();
    for (number, line) in (1..).zip(said.lines()) {
        let (name, played) = line.split_once(' ').context("a program says name and rounds")?;
        let numbers = played.split_whitespace().map(str::parse).collect::<Result<Vec<_>, _>>();
        let numbers = numbers.context("a program says how many rounds it has played")?;
        let (rounds, parts) = match numbers[..] {
            [rounds] => (rounds, rounds),
            [rounds, parts] => (rounds, parts),
            _ => bail!("a program says rounds and parts, and not '{played}'"),
        };
        let dump = Dump::read(&PathBuf::from(format!("{}.{number}", out.display())))?;
        dumps.insert(name.to_owned(), Counted { rounds, parts, dump });
    }
    Ok(dumps)
}

/// Instructions of each step, without those of an empty one.
///
/// # Errors
/// There is no empty one.
pub fn averages(dumps: &Dumps) -> Result<Figures> {
    let empty = dumps.get("empty").context("an empty step is counted, too")?;
    let empty = empty.dump.total as f64 / empty.parts as f64;
    let steps = dumps.iter().filter(|(name, _)| *name != "empty");
    Ok(steps.map(|(name, counted)| (name.clone(), counted.each(empty))).collect())
}

#[cfg(test)]
mod tests;
