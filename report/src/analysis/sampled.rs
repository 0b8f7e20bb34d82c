//! Recordings by samples: how often ranks were looked at, and what their counters counted.

use super::balance::spread;
use serde::Serialize;
use std::collections::BTreeMap;
use weft_trace::event::COUNTERS;
use weft_trace::{RankTrace, Trace, What};

/// Facts about a recording by samples.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Sampled {
    /// Looks a second, as they were meant to be.
    pub looks_per_second: u32,
    /// Number of looks at the rank that was looked at most.
    pub looks: u64,
    /// Longest time between two looks.
    pub longest_gap_ns: u64,
    /// Counters by rank.
    pub counters: Vec<CounterRow>,
    /// Packets and bytes over time.
    pub over_time: OverTime,
}

/// Growth of a rank's counters during the recording.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct CounterRow {
    /// The rank.
    pub rank: u32,
    /// By the names of counters.
    #[serde(flatten)]
    pub counters: BTreeMap<&'static str, u64>,
}

/// Bins of time, and what was sent in each, by rank. Of what was sent between two readings of a
/// counter each moment has the same part.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct OverTime {
    /// Length of a bin.
    pub bin_ns: f64,
    /// Data packets that ranks sent.
    pub packets_sent: Vec<Vec<f64>>,
    /// Their bytes.
    pub bytes_sent: Vec<Vec<f64>>,
}

impl OverTime {
    /// Number of bins.
    pub const BINS: usize = 40;
}

impl Sampled {
    /// That of a recording of which these are the times of events, until `end`; `None` of a trace.
    pub fn new<'a>(trace: &Trace, times_of: impl Fn(u32) -> &'a [u64], end: u64) -> Option<Self> {
        let looks_per_second = trace.run.looks_per_second?;
        let bin_ns = end.max(1) as f64 / OverTime::BINS as f64;
        let over_time = OverTime { bin_ns, ..OverTime::default() };
        let (looks, longest_gap_ns, counters) = (0, 0, Vec::new());
        let mut sampled = Sampled { looks_per_second, looks, longest_gap_ns, counters, over_time };
        for (rank, of) in (0..).zip(&trace.ranks) {
            sampled.add(rank, of, times_of(rank));
        }
        Some(sampled)
    }

    /// Sum of a counter over all ranks.
    pub fn sum(&self, counter: &str) -> u64 {
        let counts = self.counters.iter().filter_map(|row| row.counters.get(counter));
        counts.fold(0, |sum: u64, count| sum.saturating_add(*count))
    }

    fn add(&mut self, rank: u32, of: &RankTrace, times: &[u64]) {
        let mut counters: BTreeMap<_, u64> = COUNTERS.map(|name| (name, 0)).into();
        let [mut packets, mut bytes] = [(); 2].map(|()| vec![0.0; OverTime::BINS]);
        let (mut looks, mut read) = (0_u64, times.first().copied().unwrap_or_default());
        for (event, time) in of.events.iter().zip(times) {
            match event.what {
                What::Looked { times, longest_ns } => {
                    looks = looks.saturating_add(times);
                    self.longest_gap_ns = self.longest_gap_ns.max(longest_ns);
                    read = *time;
                }
                What::Counted { counter, more } => {
                    let Some(name) = COUNTERS.get(usize::from(counter)) else { continue };
                    let sum = counters.entry(name).or_default();
                    *sum = sum.saturating_add(more);
                    let bins = match *name {
                        "packets_sent" => &mut packets,
                        "bytes_sent" => &mut bytes,
                        _ => continue,
                    };
                    self.over_time.spread(bins, more, read, *time);
                }
                _ => {}
            }
        }
        self.looks = self.looks.max(looks);
        self.counters.push(CounterRow { rank, counters });
        self.over_time.packets_sent.push(packets);
        self.over_time.bytes_sent.push(bytes);
    }
}

impl OverTime {
    /// Adds so much, which came between two times.
    fn spread(&self, bins: &mut [f64], more: u64, from: u64, to: u64) {
        let at = |time: u64| time as f64 / self.bin_ns;
        let length = at(to) - at(from);
        if length > 0.0 {
            return spread(bins, at(from), at(to), more as f64 / length);
        }
        // All at once, and at the end in the last bin.
        let bin = (at(to) as usize).min(bins.len() - 1);
        bins[bin] += more as f64;
    }
}

#[cfg(test)]
mod tests;
