//! Results of experiments.

use crate::picture::Picture;
use crate::plot::Plot;
use std::collections::BTreeMap;

/// A figure with its dimension, so that nobody converts units by hand.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Quantity {
    /// A time in nanoseconds.
    Nanoseconds(f64),
    /// Bytes a second.
    BytesPerSecond(f64),
    /// A number of things, or a quotient.
    Count(f64),
}

/// A mebibyte, which the papers call a Mbyte: 33.33 MHz x 32 bits are their 127 Mbyte/s.
pub(crate) const MBYTE: f64 = (1u64 << 20) as f64;

impl Quantity {
    /// The figure in `unit` as the targets name it; `None` if the unit is of another dimension.
    pub fn in_unit(self, unit: &str) -> Option<f64> {
        let scale = match (self, unit) {
            (Quantity::Nanoseconds(_), "ns") => 1.0,
            (Quantity::Nanoseconds(_), "us" | "us per forward") => 1e-3,
            (Quantity::Nanoseconds(_), "ms") => 1e-6,
            (Quantity::Nanoseconds(_), "s") => 1e-9,
            (Quantity::Nanoseconds(_), "ns/bit") => 1.0,
            (Quantity::BytesPerSecond(_), "Mbyte/s") => 1.0 / MBYTE,
            (Quantity::BytesPerSecond(_), "Mbps") => 8e-6,
            (Quantity::Nanoseconds(_) | Quantity::BytesPerSecond(_), _) => return None,
            (
                Quantity::Count(_),
                "ns" | "us" | "us per forward" | "ms" | "s" | "Mbyte/s" | "Mbps",
            ) => return None,
            (Quantity::Count(_), _) => 1.0,
        };
        let (Quantity::Nanoseconds(value)
        | Quantity::BytesPerSecond(value)
        | Quantity::Count(value)) = self;
        Some(value * scale)
    }
}

/// Result for one target.
#[derive(Clone, PartialEq, Debug)]
pub enum Seen {
    /// A figure.
    Figure(Quantity),
    /// A statement's truth, and the figures that it rests on.
    Statement {
        /// True if it holds.
        holds: bool,
        /// The figures, for a reader.
        evidence: String,
    },
}

/// Results of the experiments, by id.
#[derive(Default, Debug)]
pub struct Results {
    seen: BTreeMap<&'static str, Seen>,
    plots: Vec<Plot>,
    pictures: Vec<Picture>,
}

impl Results {
    /// Records a figure.
    pub fn figure(&mut self, id: &'static str, quantity: Quantity) {
        self.record(id, Seen::Figure(quantity));
    }

    /// Records whether a statement holds, with the figures that say so.
    pub fn statement(&mut self, id: &'static str, holds: bool, evidence: impl Into<String>) {
        self.record(id, Seen::Statement { holds, evidence: evidence.into() });
    }

    /// Records the statement that figures grow in the order given, each strictly.
    pub fn ascending(&mut self, id: &'static str, named: &[(&str, f64)]) {
        let holds = named.windows(2).all(|pair| pair[0].1 < pair[1].1);
        self.statement(id, holds, listed(named));
    }

    /// Adds a figure to draw.
    pub fn plot(&mut self, plot: Plot) {
        self.plots.push(plot);
    }

    /// Adds a picture of a run.
    pub fn picture(&mut self, picture: Picture) {
        self.pictures.push(picture);
    }

    /// Result for `id`.
    pub fn get(&self, id: &str) -> Option<&Seen> {
        self.seen.get(id)
    }

    /// Everything seen, by id.
    pub fn all(&self) -> impl Iterator<Item = (&'static str, &Seen)> {
        self.seen.iter().map(|(&id, seen)| (id, seen))
    }

    /// The figures to draw, in the order they came.
    pub fn plots(&self) -> &[Plot] {
        &self.plots
    }

    /// The pictures of runs, in the order they came.
    pub fn pictures(&self) -> &[Picture] {
        &self.pictures
    }

    fn record(&mut self, id: &'static str, seen: Seen) {
        let before = self.seen.insert(id, seen);
        assert!(before.is_none(), "{id} is measured twice");
    }
}

/// `nrx 11.0, irx 12.0`: figures in microseconds or whatever they are, for evidence.
pub fn listed(named: &[(&str, f64)]) -> String {
    let parts: Vec<String> =
        named.iter().map(|(name, value)| format!("{name} {}", short(*value))).collect();
    parts.join(", ")
}

/// A part in percent, with one decimal.
pub fn percent(value: f64) -> String {
    // What is nothing has no sign.
    let value = if value.abs() < 0.05 { 0.0 } else { value };
    format!("{value:.1} %")
}

/// A figure with three significant digits or so.
pub fn short(value: f64) -> String {
    match value.abs() {
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}
