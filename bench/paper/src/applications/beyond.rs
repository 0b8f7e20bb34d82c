//! The ten applications on more ranks than the thesis had, and under protocols that came after it.
//!
//! A file beside the page keeps what was seen, so that some of the runs can be done again and
//! the page has them all.

mod section;

pub use section::HEADING;

use super::model::{Model, Problem, Variation};
use super::observe::Kind;
use super::parts::Parts;
use super::run::{Cell, Seen};
use crate::Targets;
use crate::lines;
use crate::suite::{on_threads, threads};
use anyhow::Result;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;
use weft_bench::suite::Application;
use weft_simulator::Preset;

/// File that holds what was seen.
const FILE: &str = "applications-beyond.csv";

/// Protocols that are compared: a name, a preset, and how receive buffers are divided.
const WAYS: [(&str, Preset, Variation); 4] = [
    ("nrx-imc", Preset::NrxImc, Variation::Usual),
    ("adaptive", Preset::NrxImc, Variation::Adaptive),
    ("hrx-hmc", Preset::HrxHmc, Variation::Usual),
    ("pupa", Preset::Pupa, Variation::Usual),
];

/// Numbers of ranks.
const RANKS: [u16; 3] = [64, 256, 1024];

/// Fixes everything that is random.
const SEED: u64 = 1;

/// Result of a run.
#[derive(Serialize, Deserialize, Clone, PartialEq, Debug)]
struct Line {
    application: String,
    ranks: u16,
    /// Name in [`WAYS`].
    protocol: String,
    /// Seconds of the parallel phase, and of one rank.
    seconds: f64,
    one: f64,
    /// Parts of the time, in percent, as in [`Parts`].
    computing: f64,
    host: f64,
    ni: f64,
    busiest_host: f64,
    busiest_ni: f64,
    /// Packets of all ranks: with data, acknowledgements and credits, others.
    data: u64,
    acknowledgements: u64,
    others: u64,
    interrupts: u64,
    /// Sends that waited for a credit or the window.
    blocked: u64,
    retransmissions: u64,
    no_buffer: u64,
    /// Seconds that the simulation took.
    took: f64,
}

/// Times of an application on one rank.
struct Alone {
    /// Nanoseconds of an operation, by which the thesis's problem takes as long as in table 8.6.
    operation_ns: f64,
    /// Seconds of the problem that is run here.
    seconds: f64,
}

/// Results of all runs.
#[derive(Default, Debug)]
pub struct Beyond {
    lines: Vec<Line>,
}

impl Beyond {
    /// Names of the protocols that are compared.
    pub fn protocols() -> impl Iterator<Item = &'static str> {
        WAYS.iter().map(|(name, ..)| *name)
    }

    /// Results that a folder has.
    ///
    /// # Errors
    /// Its file is wrong.
    pub fn read(folder: &Path) -> Result<Self> {
        Ok(Beyond { lines: lines::read(&folder.join(FILE))? })
    }

    /// Runs applications on these numbers of ranks, and under these protocols, or all that are
    /// worth their time where none are named, and keeps the results in a folder in place of those
    /// that it has of the same. `progress` hears of each run.
    ///
    /// # Errors
    /// Those of a rank or the simulator, or the file cannot be written.
    pub fn run(
        folder: &Path,
        applications: &[Application],
        ranks: &[u16],
        protocols: &[String],
        progress: impl Fn(&str) + Sync,
    ) -> Result<Self> {
        let alone = on_threads(threads(), applications, |&application| {
            let alone = Cell::new(application, 1, Preset::NrxImc);
            let operation_ns = alone.operation_ns(Problem::Thesis, SEED)?;
            let seen = alone.run(Problem::Beyond, operation_ns, SEED)?;
            Ok((application, Alone { operation_ns, seconds: seen.seconds }))
        });
        let alone = alone.into_iter().collect::<Result<BTreeMap<_, _>>>()?;
        let kept = Mutex::new(Beyond::read(folder)?);
        let cells = cells(applications, ranks, protocols);
        let done = on_threads(threads(), &cells, |(name, cell)| -> Result<()> {
            let start = Instant::now();
            let alone = &alone[&cell.application];
            let seen = cell.run(Problem::Beyond, alone.operation_ns, SEED)?;
            let took = start.elapsed().as_secs_f64();
            let line = Line::new(name, cell, &seen, alone, took)?;
            progress(&format!(
                "{} {} {name}: {:.4} s of {:.2}, in {took:.0} s",
                cell.application, cell.ranks, line.seconds, line.one
            ));
            let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
            kept.keep(line);
            kept.write(folder)
        });
        done.into_iter().collect::<Result<()>>()?;
        Ok(kept.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    fn keep(&mut self, line: Line) {
        self.lines.retain(|other| other.key() != line.key());
        self.lines.push(line);
        self.lines.sort_by_key(Line::key);
    }

    fn write(&self, folder: &Path) -> Result<()> {
        lines::write(&folder.join(FILE), &self.lines)
    }
}

impl Line {
    fn new(name: &str, cell: &Cell, seen: &Seen, alone: &Alone, took: f64) -> Result<Self> {
        let Alone { operation_ns, seconds: one } = *alone;
        let model = Model::new(cell.application, Problem::Beyond, &Targets::read()?)?;
        let parts = Parts::of(cell, &model, seen, one, operation_ns)?;
        let of = |kind: Kind| seen.rates.packets[kind as usize];
        let tenth = |percent: f64| (percent * 10.0).round() / 10.0;
        Ok(Line {
            application: cell.application.name().to_owned(),
            ranks: cell.ranks,
            protocol: name.to_owned(),
            seconds: seen.seconds,
            one,
            computing: tenth(parts.computing),
            host: tenth(parts.host),
            ni: tenth(parts.ni),
            busiest_host: tenth(parts.busiest_host),
            busiest_ni: tenth(parts.busiest_ni),
            data: of(Kind::Unicast) + of(Kind::Multicast),
            acknowledgements: of(Kind::Acknowledgement),
            others: of(Kind::Synchronization),
            interrupts: seen.traffic.interrupts,
            blocked: seen.traffic.blocked_sends,
            retransmissions: seen.retransmissions,
            no_buffer: seen.no_buffer,
            took: took.round(),
        })
    }

    /// Place among all.
    fn key(&self) -> (usize, u16, usize) {
        let application = Application::ALL.iter().position(|one| one.name() == self.application);
        let way = WAYS.iter().position(|(name, ..)| *name == self.protocol);
        (application.unwrap_or(usize::MAX), self.ranks, way.unwrap_or(usize::MAX))
    }
}

/// Runs of applications on these numbers of ranks, and under these protocols, or those that are
/// worth their time where none are named.
fn cells(
    applications: &[Application],
    ranks: &[u16],
    protocols: &[String],
) -> Vec<(&'static str, Cell)> {
    let is_named = |name: &str| protocols.is_empty() || protocols.iter().any(|one| one == name);
    let mut cells = Vec::new();
    for &application in applications {
        for &count in if ranks.is_empty() { &RANKS } else { ranks } {
            for (way, (name, preset, variation)) in WAYS.into_iter().enumerate() {
                let is_asked = !(ranks.is_empty() && protocols.is_empty());
                if is_named(name) && (is_asked || is_worth(application, count, way)) {
                    let cell = Cell::new(application, count, preset);
                    cells.push((name, Cell { variation, ..cell }));
                }
            }
        }
    }
    cells
}

/// True if a run, under a protocol of [`WAYS`], takes four minutes at most.
fn is_worth(application: Application, ranks: u16, way: usize) -> bool {
    match (application, ranks) {
        (Application::Awari, ranks) => ranks == RANKS[0],
        (Application::Sor, _) => true,
        (_, ranks) => ranks < RANKS[2] || way < 2,
    }
}

#[cfg(test)]
mod tests;
