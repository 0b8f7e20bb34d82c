//! Output of a benchmark.

use crate::micro::launch::Spec;
use crate::micro::switches::Switches;
use serde::Serialize;
use std::borrow::Cow;

/// One measurement. The names of the fields are stable.
#[derive(Serialize, Debug)]
pub struct Row {
    /// Name of the benchmark.
    pub bench: Cow<'static, str>,
    /// Over which link.
    pub link: &'static str,
    /// With how many ranks.
    pub ranks: usize,
    /// Bytes of each message.
    pub size: usize,
    /// The unit of all figures.
    pub unit: &'static str,
    /// The median.
    pub p50: f64,
    /// 99 of 100 samples were no worse.
    pub p99: f64,
    /// Of all samples: what hiccups cost, which the median does not show.
    pub mean: f64,
    /// The least.
    pub min: f64,
    /// Samples taken.
    pub rounds: usize,
    /// Nanoseconds of a line's way between the first two cores, just before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line_ns: Option<f64>,
    /// Processor time of all ranks for a message.
    #[serde(flatten)]
    pub processor: Option<Processor>,
    /// Wake-ups and system calls of all ranks in a turn, if those were counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub switches: Option<Switches>,
    /// Floors: the same movement by barer means, in the same run.
    pub floors: Vec<Floor>,
    /// Limit on the median in units of the first floor's, where that is a promise.
    #[serde(skip)]
    pub limit: Option<Limit>,
}

/// Limit on a ratio.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Limit {
    /// No more than this.
    AtMost(f64),
    /// No less than this.
    AtLeast(f64),
}

impl Limit {
    /// True if this ratio is within it.
    pub fn is_kept(self, ratio: f64) -> bool {
        match self {
            Limit::AtMost(most) => ratio <= most,
            Limit::AtLeast(least) => ratio >= least,
        }
    }

    /// For a person: what the limit is and whether it was kept.
    pub fn text(self, ratio: f64) -> String {
        let kept = if self.is_kept(ratio) { "kept" } else { "NOT KEPT" };
        match self {
            Limit::AtMost(most) => format!("at most {most}: {kept}"),
            Limit::AtLeast(least) => format!("at least {least}: {kept}"),
        }
    }
}

/// A floor.
#[derive(Serialize, Debug)]
pub struct Floor {
    /// Name of the floor.
    pub what: &'static str,
    /// Its median; `None` if it was not measured.
    pub p50: Option<f64>,
    /// 99 of 100 samples were no worse.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p99: Option<f64>,
    /// The mean of its samples.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean: Option<f64>,
    /// Reason why it was not measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<Cow<'static, str>>,
    /// Processor time of both ends for a message.
    #[serde(flatten)]
    pub processor: Option<Processor>,
}

/// Load of processors, in programs and in the kernel.
#[derive(Serialize, Clone, Copy, Debug)]
pub struct Processor {
    /// Nanoseconds for a message.
    pub processor_ns_per_message: f64,
    /// Nanoseconds for a million bytes.
    pub processor_ns_per_megabyte: f64,
}

impl Processor {
    fn new(per_message: f64, size: usize) -> Self {
        let per_megabyte = per_message * 1e6 / size.max(1) as f64;
        Processor { processor_ns_per_message: per_message, processor_ns_per_megabyte: per_megabyte }
    }

    /// For a person: a message's or, of large ones, a megabyte's.
    fn text(self, size: usize) -> String {
        if size >= 1 << 16 {
            return format!("{:.0} us of processors a MB", self.processor_ns_per_megabyte / 1e3);
        }
        format!("{:.2} us of processors a message", self.processor_ns_per_message / 1e3)
    }
}

impl Floor {
    /// The floor with these samples in `unit`.
    pub fn measured(what: &'static str, unit: &str, samples: Vec<f64>) -> Self {
        let sorted = sort(samples);
        Floor {
            what,
            p50: Some(quantile(&sorted, 0.5)),
            p99: Some(quantile(&sorted, bad_end(unit))),
            mean: Some(mean_of(&sorted)),
            missing: None,
            processor: None,
        }
    }

    /// A floor that could not be measured, and why.
    pub fn missing(what: &'static str, why: impl Into<Cow<'static, str>>) -> Self {
        Floor { what, p50: None, p99: None, mean: None, missing: Some(why.into()), processor: None }
    }
}

impl Row {
    /// The row for `samples` in `unit`, with the samples of its floor.
    pub fn new(
        bench: impl Into<Cow<'static, str>>,
        (ranks, size): (usize, usize),
        unit: &'static str,
        samples: Vec<f64>,
        floors: Vec<(&'static str, Vec<f64>)>,
    ) -> Self {
        let rounds = samples.len();
        let sorted = sort(samples);
        Row {
            bench: bench.into(),
            link: "shm",
            ranks,
            size,
            unit,
            p50: quantile(&sorted, 0.5),
            p99: quantile(&sorted, bad_end(unit)),
            mean: mean_of(&sorted),
            min: quantile(&sorted, 0.0),
            rounds,
            line_ns: None,
            processor: None,
            switches: None,
            limit: None,
            floors: floors
                .into_iter()
                .map(|(what, samples)| Floor::measured(what, unit, samples))
                .collect(),
        }
    }

    /// Says how much of processors a message took.
    pub fn with_processor(mut self, per_message_ns: f64) -> Self {
        self.processor = Some(Processor::new(per_message_ns, self.size));
        self
    }

    /// Adds a floor, and how much of processors one of its messages took.
    pub fn beside(&mut self, mut floor: Floor, per_message_ns: f64) {
        floor.processor = Some(Processor::new(per_message_ns, self.size));
        self.floors.push(floor);
    }

    /// Prints the row of this benchmark, as one JSON object or for a person.
    pub fn print(mut self, spec: &Spec) {
        self.line_ns = spec.line.map(|line| (10.0 * line).round() / 10.0);
        if !spec.json {
            return self.print_text();
        }
        match serde_json::to_string(&self) {
            Ok(line) => weft_app_common::say!("{line}"),
            Err(error) => eprintln!("weft: cannot print the result: {error}"),
        }
    }

    fn print_text(&self) {
        let Row { bench, link, ranks, size, rounds, .. } = self;
        let line = self.line_ns.map(|line| format!("   (a line crosses in {line:.0} ns)"));
        let line = line.unwrap_or_default();
        weft_app_common::say!("{bench} of {}, {ranks} ranks, {link}:{line}", bytes(*size));
        let figures = [self.p50, self.p99, self.mean, self.min];
        let [p50, p99, mean, min] = figures.map(|figure| self.figure(figure));
        let used = |processor: Option<Processor>| match processor {
            Some(processor) => format!("   {}", processor.text(*size)),
            None => String::new(),
        };
        let own = used(self.processor);
        weft_app_common::say!(
            "  p50 {p50}   p99 {p99}   mean {mean}   min {min}   ({rounds} samples){own}"
        );
        if let Some(switches) = &self.switches {
            weft_app_common::say!("  a turn: {}", switches.text());
        }
        let mut limit = self.limit;
        for floor in &self.floors {
            match floor.p50 {
                Some(p50) => {
                    let (ratio, used) = (self.p50 / p50, used(floor.processor));
                    let (what, figure) = (floor.what, self.figure(p50));
                    let rest = [("p99", floor.p99), ("mean", floor.mean)];
                    let rest = rest.into_iter().filter_map(|(name, value)| Some((name, value?)));
                    let rest = rest.map(|(name, value)| format!(", {name} {}", self.figure(value)));
                    let rest: String = rest.collect();
                    let limit = limit.take().map(|limit| format!("   ({})", limit.text(ratio)));
                    let limit = limit.unwrap_or_default();
                    weft_app_common::say!("  {ratio:.2} x {what}: {figure}{rest}{used}{limit}");
                }
                None => {
                    let why = floor.missing.as_deref().unwrap_or_default();
                    weft_app_common::say!("  {}: not measured: {why}", floor.what);
                }
            }
        }
    }

    fn figure(&self, value: f64) -> String {
        match self.unit {
            "ns" if value < 10_000.0 => format!("{value:.1} ns"),
            "ns" => format!("{:.1} us", value / 1e3),
            "per_second" if value < 1e4 => format!("{value:.0} /s"),
            "per_second" if value < 1e6 => format!("{:.0} k/s", value / 1e3),
            "per_second" => format!("{:.2} M/s", value / 1e6),
            "bytes_per_second" if value < 1e9 => format!("{:.0} MB/s", value / 1e6),
            "bytes_per_second" => format!("{:.2} GB/s", value / 1e9),
            unit => format!("{value} {unit}"),
        }
    }
}

/// A size, for a person.
fn bytes(size: usize) -> String {
    match size {
        size if size >= 1 << 20 && size.is_multiple_of(1 << 20) => format!("{} MiB", size >> 20),
        size if size >= 1 << 10 && size.is_multiple_of(1 << 10) => format!("{} KiB", size >> 10),
        size => format!("{size} B"),
    }
}

/// The part of all samples that is better than the worst hundredth. Of rates more is better, so
/// their bad end is the low one.
fn bad_end(unit: &str) -> f64 {
    if unit == "ns" { 0.99 } else { 0.01 }
}

/// The median.
pub fn median(samples: Vec<f64>) -> f64 {
    quantile_of(samples, 0.5)
}

fn mean_of(samples: &[f64]) -> f64 {
    samples.iter().sum::<f64>() / samples.len() as f64
}

/// The sample that this part of all samples, 0 to 1, is no larger than.
pub fn quantile_of(samples: Vec<f64>, part: f64) -> f64 {
    quantile(&sort(samples), part)
}

fn sort(mut samples: Vec<f64>) -> Vec<f64> {
    samples.sort_by(f64::total_cmp);
    samples
}

fn quantile(sorted: &[f64], part: f64) -> f64 {
    let last = sorted.len().saturating_sub(1);
    sorted.get((last as f64 * part).round() as usize).copied().unwrap_or(f64::NAN)
}
