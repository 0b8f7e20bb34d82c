//! The experiments of careful-protocols 6: its two protocols on its cluster, simulated.
//!
//! The machine is `links/sim/machines/medusa.toml`, made of the paper's settings. What each
//! protocol costs by itself are the totals of appendix A; so these rows are what goes in, and are
//! not claimed as measured. What the protocols *do* is `weft-events`, the code that runs on real
//! machines.
//!
//! Bands, stated before anything was measured: 25 percent of times and throughputs; 6 percentage
//! points of what careful is better or worse by, which is a quarter of its usual advantage of 24.

pub mod flooding;
pub mod jacobi;
pub mod latency;
pub mod throughput;
pub mod traffic;

use crate::claim::Claim;
use crate::conditions::{EventConditions, LOOP_CYCLES, conditions, machine};
use crate::counter::Counter;
use crate::experiment::{Experiment, Setting};
use crate::results::Results;
use anyhow::{Context, Result, anyhow};
use std::sync::LazyLock;
use std::time::Duration;
use weft_events::{Events, Protocol, Settings, Statistics};
use weft_simulator::{Options, Outcome, Report, Shape, Simulation, Tape};
use weft_trace::{Run, Trace};

/// The cluster.
const MACHINE: &str = "medusa";
/// The band of times and throughputs, in percent.
const PERCENT: f64 = 25.0;
/// Least and most percentage points of the band of what careful is better by: a quarter of it.
const POINTS: [f64; 2] = [2.0, 6.0];
/// Cycles that a word costs a program that writes it to the board and waits for no answer, as one
/// that reads it does ([`EventConditions::read_cycles`]): 5 of 66 MHz.
const WRITE_CYCLES: u64 = LOOP_CYCLES + 4;
/// Cycles of an operation on an element of a grid: two loads, the operation, a store, and the loop,
/// as a compiler translates them that does not do it well (6.1).
const ELEMENT_CYCLES: u64 = 6;
/// Bytes of a word.
const WORD: usize = 4;
/// Nothing takes so long, in virtual time, that ends.
const LIMIT: Duration = Duration::from_secs(5);
/// Receivers ask again after so long: the paper has it "too large" and does not say how large.
const REQUEST_AFTER: Duration = Duration::from_millis(50);

/// A protocol on some nodes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cluster {
    /// Number of nodes.
    pub nodes: u16,
    /// Protocol.
    pub protocol: Protocol,
}

/// A table of the paper's: all of them run on the same cluster.
pub struct Table {
    name: &'static str,
    title: &'static str,
    claims: &'static LazyLock<Vec<Claim>>,
    settings: &'static [Setting],
    notes: &'static str,
    counters: &'static [Counter],
    run: fn(&mut Results) -> Result<()>,
}

impl Experiment for Table {
    fn name(&self) -> &'static str {
        self.name
    }

    fn title(&self) -> &'static str {
        self.title
    }

    fn machines(&self) -> &'static [&'static str] {
        &[MACHINE]
    }

    fn claims(&self) -> &'static [Claim] {
        self.claims
    }

    fn settings(&self) -> &'static [Setting] {
        self.settings
    }

    fn notes(&self) -> &'static str {
        self.notes
    }

    fn counters(&self) -> &'static [Counter] {
        self.counters
    }

    fn run(&self, results: &mut Results) -> Result<()> {
        (self.run)(results)
    }
}

/// Result of a run.
#[derive(Debug)]
pub enum Ran<T> {
    /// Results and counters of each node.
    Ended(Vec<(T, Statistics)>),
    /// It did not end in [`LIMIT`].
    Never,
}

impl<T> Ran<T> {
    /// Results of the nodes.
    ///
    /// # Errors
    /// It never ended.
    pub fn values(self) -> Result<Vec<T>> {
        Ok(self.counted()?.into_iter().map(|(value, _)| value).collect())
    }

    /// Results of the nodes, with their counters.
    ///
    /// # Errors
    /// Those of [`Self::values`].
    pub fn counted(self) -> Result<Vec<(T, Statistics)>> {
        match self {
            Ran::Ended(values) => Ok(values),
            Ran::Never => Err(anyhow!("nothing came of it in {LIMIT:?} of virtual time")),
        }
    }
}

impl Cluster {
    /// Settings of the cluster's events: its boards, and appendix A's costs.
    pub fn settings(&self) -> Settings {
        let EventConditions { traditional_cycles, receive_buffers, .. } = conditions().events;
        let [send_operations, receive_operations] = match self.protocol {
            Protocol::Careful => [42, 109],
            Protocol::Traditional => traditional_cycles,
        };
        Settings {
            protocol: self.protocol,
            receive_buffers,
            kept_of_one: Some(receive_buffers),
            // What a sender has besides what it is sending.
            send_buffers: 8,
            request_after: REQUEST_AFTER,
            send_operations,
            receive_operations,
            ..Settings::default()
        }
    }

    /// Runs `program` on every node.
    ///
    /// # Errors
    /// The job cannot be, or what a node returned.
    pub fn run<T: 'static>(
        &self,
        program: impl Fn(Events) -> weft_events::Result<(T, Statistics)> + 'static,
    ) -> Result<Ran<T>> {
        self.run_with(self.settings(), program)
    }

    /// Runs the program, where the events have other `settings`.
    ///
    /// # Errors
    /// Those of [`Self::run`].
    pub fn run_with<T: 'static>(
        &self,
        settings: Settings,
        program: impl Fn(Events) -> weft_events::Result<(T, Statistics)> + 'static,
    ) -> Result<Ran<T>> {
        let context = || format!("{self:?}");
        let report = self.simulate(settings, (LIMIT, None), program)?;
        if report.outcomes.iter().any(|outcome| matches!(outcome, Outcome::Unfinished)) {
            return Ok(Ran::Never);
        }
        let values = report.into_values().map_err(|what| anyhow!(what)).with_context(context)?;
        Ok(Ran::Ended(values))
    }

    /// Trace of a run of `program`, which is ended after `limit` of virtual time.
    ///
    /// # Errors
    /// The job cannot be.
    pub fn trace<T: 'static>(
        &self,
        limit: Duration,
        program: impl Fn(Events) -> weft_events::Result<(T, Statistics)> + 'static,
    ) -> Result<Trace> {
        let tape = Tape::new(self.nodes);
        self.simulate(self.settings(), (limit, Some(tape.clone())), program)?;
        let hosts = vec!["simulated".to_owned(); self.nodes.into()];
        Ok(tape.trace(&Run { hosts, is_simulated: true, ..Run::default() })?)
    }

    fn simulate<T: 'static>(
        &self,
        settings: Settings,
        (limit, tape): (Duration, Option<Tape>),
        program: impl Fn(Events) -> weft_events::Result<(T, Statistics)> + 'static,
    ) -> Result<Report<(T, Statistics)>> {
        let options = Options::on(machine(MACHINE)?, self.nodes);
        let protocol = weft_simulator::Settings { shape: Shape::Flat, ..options.settings };
        let options = Options { settings: protocol, limit, stuck_after: LIMIT, tape, ..options };
        let simulation = Simulation::new(options).with_context(|| format!("{self:?}"))?;
        Ok(simulation.run_packets(move |packets| program(Events::open(&packets, settings)?)))
    }
}

/// A row of a table: both protocols in the same place.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Nodes.
    pub nodes: u16,
    /// Words of payload.
    pub words: usize,
    /// True if programs touch the words.
    pub processing: bool,
    /// The ids of what it says of the traditional protocol, of the careful one, and of both.
    pub ids: [&'static str; 3],
}

/// Rows with ids that begin as given.
macro_rules! rows {
    ($(($id:literal, $nodes:literal, $words:literal)),* $(,)?) => {
        &[$(
            $crate::experiments::events::Row {
                nodes: $nodes,
                words: $words,
                processing: false,
                ids: [concat!($id, "-trad"), concat!($id, "-care"), concat!($id, "-delta")],
            },
            $crate::experiments::events::Row {
                nodes: $nodes,
                words: $words,
                processing: true,
                ids: [
                    concat!($id, "-proc-trad"),
                    concat!($id, "-proc-care"),
                    concat!($id, "-proc-delta"),
                ],
            },
        )*]
    };
}
pub(crate) use rows;

/// Claims on all of `rows`, less those that the paper has not; `misses` are explained.
pub(crate) fn claims(
    rows: &[Row],
    absent: &[&str],
    others: &[Claim],
    misses: &[(&'static str, &[&str])],
) -> Vec<Claim> {
    let row = |row: &Row| {
        let [trad, care, delta] = row.ids;
        [
            Claim::figure(trad).percent(PERCENT),
            Claim::figure(care).percent(PERCENT),
            Claim::points(delta, POINTS),
        ]
    };
    let all = rows.iter().flat_map(row).filter(|claim| !absent.contains(&claim.id));
    let why = |id: &str| misses.iter().find(|(_, ids)| ids.contains(&id)).map(|(why, _)| *why);
    all.chain(others.iter().copied())
        .map(|claim| match why(claim.id) {
            Some(why) => claim.misses(why),
            None => claim,
        })
        .collect()
}

/// By how many percent `care` is more than `trad`.
pub(crate) fn delta(trad: f64, care: f64) -> f64 {
    (care / trad - 1.0) * 100.0
}

/// The time at this node, in nanoseconds.
pub(crate) fn now(events: &Events) -> f64 {
    events.packets().now().as_nanos() as f64
}

/// A program's bytes, and what touching them costs it.
pub(crate) struct Payload {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// Words that it touches.
    touched: u64,
}

impl Payload {
    pub fn new(words: usize, processing: bool) -> Self {
        let touched = if processing { words as u64 } else { 0 };
        Payload { bytes: vec![0; words * WORD], touched }
    }

    /// Each word is written once.
    pub fn write(&self, events: &Events) {
        self.touch(events, WRITE_CYCLES);
    }

    /// Each word is read once.
    pub fn read(&self, events: &Events) {
        self.touch(events, conditions().events.read_cycles);
    }

    fn touch(&self, events: &Events, cycles: u64) {
        if self.touched > 0 {
            events.packets().work(self.touched * cycles);
        }
    }
}
