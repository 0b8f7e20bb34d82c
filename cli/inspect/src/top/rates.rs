//! Work of the ranks of a job between two looks.

use serde::Serialize;
use std::fmt::Write as _;
use weft_launch::{Counts, RankNow, RankState, Snapshot};

/// Column by which ranks are sorted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Column {
    /// Number of the rank.
    #[default]
    Rank,
    /// Share of a processor.
    Processor,
    /// Packets sent a second.
    Sent,
    /// Packets received a second.
    Received,
    /// Bytes sent and received a second.
    Bytes,
    /// Sends that waited for a credit, a second.
    Blocked,
    /// Time until the slowest peer acknowledges a packet.
    Acknowledged,
    /// Interrupts a second.
    Interrupts,
    /// Memory.
    Memory,
}

/// All columns but the state, from left to right.
pub(crate) const COLUMNS: [(Column, &str); 9] = [
    (Column::Rank, "rank"),
    (Column::Processor, "cpu %"),
    (Column::Sent, "out/s"),
    (Column::Received, "in/s"),
    (Column::Bytes, "bytes/s"),
    (Column::Blocked, "blocked/s"),
    (Column::Acknowledged, "ack us"),
    (Column::Interrupts, "intr/s"),
    (Column::Memory, "memory"),
];

/// Order of ranks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Order {
    /// Column that it is by.
    pub by: Column,
    /// True if the largest is first.
    pub descends: bool,
}

/// A rank, and what it did in a second.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Rate {
    /// The rank as it is now.
    pub now: RankNow,
    /// Share of a processor, 1 for all of one.
    pub processor: f64,
    /// Packets sent a second.
    pub sent: f64,
    /// Packets received a second.
    pub received: f64,
    /// Bytes sent and received a second.
    pub bytes: f64,
    /// Sends that had to wait for a credit, a second.
    pub blocked: f64,
    /// Time that the slowest peer takes now to acknowledge a packet, in microseconds; 0 if that is
    /// not measured.
    pub acknowledged_us: f64,
    /// Interrupts a second.
    pub interrupts: f64,
}

/// All ranks of a job.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Rates {
    /// The program.
    pub program: String,
    /// Time since it was started, in seconds.
    pub seconds: f64,
    /// By rank.
    pub ranks: Vec<Rate>,
}

/// The ranks of a job, for programs.
#[derive(Serialize)]
struct JobJson<'a> {
    job: u32,
    program: &'a str,
    running_us: u64,
    ranks: Vec<RankJson<'a>>,
}

/// A rank, for programs: rates are of the time between two looks.
#[derive(Serialize)]
struct RankJson<'a> {
    rank: u16,
    host: Option<&'a str>,
    process: u32,
    state: &'static str,
    waits_for: Option<&'a str>,
    since_us: Option<u64>,
    processor_share: f64,
    packets_sent_per_second: f64,
    packets_received_per_second: f64,
    bytes_per_second: f64,
    blocked_sends_per_second: f64,
    interrupts_per_second: f64,
    acknowledged_us: Option<f64>,
    memory_bytes: u64,
}

impl Rates {
    /// Rates between two looks at a job. Of a rank that was not there before all are 0.
    pub fn between(before: &Snapshot, now: &Snapshot) -> Self {
        let time = (now.seconds - before.seconds).max(1e-3);
        let rate = |rank: &RankNow| {
            let was = before.ranks.iter().find(|was| was.rank == rank.rank);
            // A counter that is new is no change.
            let was = was.filter(|was| was.counts.is_some()).unwrap_or(rank);
            let (counts, before) =
                (rank.counts.unwrap_or_default(), was.counts.unwrap_or_default());
            let per_second = |now: u64, before: u64| now.saturating_sub(before) as f64 / time;
            let bytes = |of: Counts| of.bytes_sent.saturating_add(of.bytes_received);
            Rate {
                processor: (rank.processor_seconds - was.processor_seconds).max(0.0) / time,
                sent: per_second(counts.packets_sent, before.packets_sent),
                received: per_second(counts.packets_received, before.packets_received),
                bytes: per_second(bytes(counts), bytes(before)),
                blocked: per_second(counts.blocked_sends, before.blocked_sends),
                acknowledged_us: counts.acknowledged_ns as f64 / 1e3,
                interrupts: per_second(counts.interrupts, before.interrupts),
                now: rank.clone(),
            }
        };
        let ranks = now.ranks.iter().map(rate).collect();
        Rates { program: now.program.clone(), seconds: now.seconds, ranks }
    }

    /// Sorts the ranks.
    pub fn sort(&mut self, order: Order) {
        self.ranks.sort_by(|a, b| {
            let ascending = a.key(order.by).total_cmp(&b.key(order.by));
            let sorted = if order.descends { ascending.reverse() } else { ascending };
            sorted.then(a.now.rank.cmp(&b.now.rank))
        });
    }

    /// All of it as one JSON object.
    ///
    /// # Errors
    /// None that this data can cause.
    pub fn json(&self, job: u32) -> serde_json::Result<String> {
        let ranks = self.ranks.iter().map(Rate::json).collect();
        let running_us = micros_of(self.seconds);
        serde_json::to_string(&JobJson { job, program: &self.program, running_us, ranks })
    }

    /// The job in a line.
    pub fn title(&self) -> String {
        let count = self.ranks.len();
        let whose = if count == 1 { "rank" } else { "ranks" };
        format!("{count} {whose} of {}, for {:.1} s", self.program, self.seconds)
    }

    /// All of it as text.
    pub fn table(&self) -> String {
        let mut text = format!("{}\n", self.title());
        for (_, name) in COLUMNS {
            let _ = write!(text, "{name:>10}");
        }
        text += "  state\n";
        for rank in &self.ranks {
            rank.cells().iter().for_each(|cell| {
                let _ = write!(text, "{cell:>10}");
            });
            let _ = writeln!(text, "  {}", rank.state());
        }
        text
    }
}

impl Rate {
    /// The cells of [`COLUMNS`].
    pub fn cells(&self) -> [String; COLUMNS.len()] {
        [
            self.now.rank.to_string(),
            format!("{:.0}", 100.0 * self.processor),
            count(self.sent),
            count(self.received),
            bytes(self.bytes),
            count(self.blocked),
            micros(self.acknowledged_us),
            count(self.interrupts),
            bytes(self.now.memory_bytes as f64),
        ]
    }

    /// State in words, and since when, if that is long.
    pub fn state(&self) -> String {
        let has_packets = self.sent + self.received > 0.0;
        match self.now.since {
            // What waits for nothing may be seen to do more.
            _ if has_packets && self.now.state == RankState::Computes => "exchanges packets".into(),
            Some(since) if since >= 1.0 => format!("{}, for {since:.1} s", self.now.state),
            _ => self.now.state.to_string(),
        }
    }

    fn json(&self) -> RankJson<'_> {
        let now = &self.now;
        RankJson {
            rank: now.rank,
            host: now.host.as_deref(),
            process: now.process,
            state: now.state.word(),
            waits_for: now.state.awaited(),
            since_us: now.since.map(micros_of),
            processor_share: self.processor,
            packets_sent_per_second: self.sent,
            packets_received_per_second: self.received,
            bytes_per_second: self.bytes,
            blocked_sends_per_second: self.blocked,
            interrupts_per_second: self.interrupts,
            acknowledged_us: Some(self.acknowledged_us).filter(|time| *time > 0.0),
            memory_bytes: now.memory_bytes,
        }
    }

    fn key(&self, by: Column) -> f64 {
        match by {
            Column::Rank => self.now.rank.into(),
            Column::Processor => self.processor,
            Column::Sent => self.sent,
            Column::Received => self.received,
            Column::Bytes => self.bytes,
            Column::Blocked => self.blocked,
            Column::Acknowledged => self.acknowledged_us,
            Column::Interrupts => self.interrupts,
            Column::Memory => self.now.memory_bytes as f64,
        }
    }
}

fn micros_of(seconds: f64) -> u64 {
    (seconds * 1e6).round() as u64
}

/// A number in few letters: `950`, `12.3k`, `1.2M`.
fn count(number: f64) -> String {
    match number {
        0.0..1e3 => format!("{number:.0}"),
        1e3..1e6 => format!("{:.1}k", number / 1e3),
        _ => format!("{:.1}M", number / 1e6),
    }
}

/// A time in microseconds in few letters: `7.3`, `250`; `-` if it is not known.
fn micros(time_us: f64) -> String {
    match time_us {
        0.0 => "-".into(),
        0.0..100.0 => format!("{time_us:.1}"),
        _ => count(time_us),
    }
}

/// Bytes in few letters: `950`, `12.3 Ki`, `1.2 Mi`.
pub(crate) fn bytes(number: f64) -> String {
    const UNIT: f64 = 1024.0;
    let names = ["", " Ki", " Mi", " Gi", " Ti"];
    let (mut number, mut at) = (number, 0);
    while number >= UNIT && at + 1 < names.len() {
        (number, at) = (number / UNIT, at + 1);
    }
    let digits = usize::from(at > 0);
    format!("{number:.digits$}{}", names[at])
}

#[cfg(test)]
mod tests;
