//! What a benchmark prints.

use serde::Serialize;

/// One measurement. The names of the fields are stable.
#[derive(Serialize, Debug)]
pub struct Row {
    /// Which benchmark.
    pub bench: &'static str,
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
    /// The least.
    pub min: f64,
    /// Samples taken.
    pub rounds: usize,
    /// The same movement by barer means, in the same run.
    pub floors: Vec<Floor>,
}

/// A floor.
#[derive(Serialize, Debug)]
pub struct Floor {
    /// What was measured.
    pub what: &'static str,
    /// Its median.
    pub p50: f64,
}

impl Row {
    /// The row for `samples` in `unit`, with the samples of its floor.
    pub fn new(
        bench: &'static str,
        (ranks, size): (usize, usize),
        unit: &'static str,
        samples: Vec<f64>,
        floors: Vec<(&'static str, Vec<f64>)>,
    ) -> Self {
        let rounds = samples.len();
        let sorted = sort(samples);
        // For rates more is better, so the bad end is the low one.
        let worst = if unit == "ns" { 0.99 } else { 0.01 };
        Row {
            bench,
            link: "shm",
            ranks,
            size,
            unit,
            p50: quantile(&sorted, 0.5),
            p99: quantile(&sorted, worst),
            min: quantile(&sorted, 0.0),
            rounds,
            floors: floors
                .into_iter()
                .map(|(what, samples)| Floor { what, p50: median(samples) })
                .collect(),
        }
    }

    /// Prints the row, as one JSON object or for a person.
    pub fn print(&self, json: bool) {
        if json {
            match serde_json::to_string(self) {
                Ok(line) => println!("{line}"),
                Err(error) => eprintln!("weft: cannot print the result: {error}"),
            }
            return;
        }
        let Row { bench, link, ranks, size, rounds, .. } = self;
        println!("{bench} of {}, {ranks} ranks, {link}:", bytes(*size));
        let [p50, p99, min] = [self.p50, self.p99, self.min].map(|figure| self.figure(figure));
        println!("  p50 {p50}   p99 {p99}   min {min}   ({rounds} samples)");
        for floor in &self.floors {
            let ratio = self.p50 / floor.p50;
            println!("  {:.2} x {}: {}", ratio, floor.what, self.figure(floor.p50));
        }
    }

    fn figure(&self, value: f64) -> String {
        match self.unit {
            "ns" if value < 10_000.0 => format!("{value:.1} ns"),
            "ns" => format!("{:.1} us", value / 1e3),
            "per_second" => format!("{:.2} M/s", value / 1e6),
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

/// The median.
pub fn median(samples: Vec<f64>) -> f64 {
    quantile(&sort(samples), 0.5)
}

fn sort(mut samples: Vec<f64>) -> Vec<f64> {
    samples.sort_by(f64::total_cmp);
    samples
}

fn quantile(sorted: &[f64], part: f64) -> f64 {
    let last = sorted.len().saturating_sub(1);
    sorted.get((last as f64 * part).round() as usize).copied().unwrap_or(f64::NAN)
}
