//! Time of ranks and of spans, and how evenly work is divided.

use super::names::Names;
use super::states::{Life, RankState};
use serde::Serialize;
use std::collections::BTreeMap;
use weft_trace::{RankTrace, Trace, What};

/// Time in which a rank waited for another.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct WaitsFor {
    /// Rank of which a packet ended the waits; none if no packet did.
    pub rank: Option<u32>,
    /// Time.
    pub ns: u64,
}

/// Time of a rank, and how it spent it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct RankTime {
    /// The rank.
    pub rank: u32,
    /// Its host.
    pub host: String,
    /// Time of its first event.
    pub begin_ns: u64,
    /// Time of its last.
    pub end_ns: u64,
    /// Time outside of waits and handlers.
    pub computing_ns: u64,
    /// Time in waits in which it looked for packets.
    pub waiting_ns: u64,
    /// Time in waits in which it slept.
    pub asleep_ns: u64,
    /// Time in handlers.
    pub handler_ns: u64,
    /// Time of which its events were lost.
    pub lost_ns: u64,
    /// Time for which its first thread had a core, as far as the system said.
    pub on_core_ns: u64,
    /// Time for which it was ready to run and had none.
    pub run_delay_ns: u64,
    /// Number of waits.
    pub waits: u64,
    /// Number of times that it was interrupted to take packets.
    pub interrupts: u64,
    /// Number of its events.
    pub events: u64,
    /// Number of events that were lost.
    pub lost_events: u64,
    /// Ranks that it waited for, the longest time first.
    pub waits_for: Vec<WaitsFor>,
}

impl RankTime {
    /// Time from its first event to its last.
    pub fn total(&self) -> u64 {
        self.end_ns - self.begin_ns
    }

    /// Time in waits.
    pub fn idle(&self) -> u64 {
        self.waiting_ns + self.asleep_ns
    }

    /// Times of all ranks.
    pub fn all(trace: &Trace, lives: &[Life]) -> Vec<Self> {
        (0..).zip(lives).map(|(rank, life)| RankTime::new(rank, trace, life)).collect()
    }

    fn new(rank: u32, trace: &Trace, life: &Life) -> Self {
        let states = life.in_states();
        let of = &trace.ranks[rank as usize];
        let (on_core_ns, run_delay_ns) = scheduled(of);
        RankTime {
            rank,
            host: trace.run.hosts.get(rank as usize).cloned().unwrap_or_default(),
            begin_ns: life.begin,
            end_ns: life.end,
            computing_ns: states[RankState::Computing as usize],
            waiting_ns: states[RankState::Waiting as usize],
            asleep_ns: states[RankState::Asleep as usize],
            handler_ns: states[RankState::Handler as usize],
            lost_ns: states[RankState::Lost as usize],
            on_core_ns,
            run_delay_ns,
            waits: life.waits.len() as u64,
            interrupts: life.interrupts,
            events: of.events.len() as u64,
            lost_events: of.lost,
            waits_for: waits_for(life),
        }
    }
}

/// Time on a core, and time in the queue of one.
fn scheduled(of: &RankTrace) -> (u64, u64) {
    of.events.iter().fold((0, 0), |(on_core, delay): (u64, u64), event| match event.what {
        What::Scheduled { on_core_ns, run_delay_ns } => {
            (on_core.saturating_add(on_core_ns), delay.saturating_add(run_delay_ns))
        }
        _ => (on_core, delay),
    })
}

fn waits_for(life: &Life) -> Vec<WaitsFor> {
    let mut times: BTreeMap<Option<u32>, u64> = BTreeMap::new();
    for wait in &life.waits {
        *times.entry(wait.ended_by.map(|(_, rank)| rank)).or_default() += wait.idle;
    }
    let mut waits: Vec<_> = times
        .into_iter()
        .filter(|(_, ns)| *ns > 0)
        .map(|(rank, ns)| WaitsFor { rank, ns })
        .collect();
    waits.sort_by_key(|of| std::cmp::Reverse(of.ns));
    waits
}

/// Time in spans of one name, at all ranks.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct SpanRow {
    /// Name of the spans; none is the time outside of all.
    pub name: Option<String>,
    /// Number of spans.
    pub count: u64,
    /// Number of ranks that had some.
    pub ranks: u64,
    /// Time from beginning to end, what is within it included.
    pub total_ns: u64,
    /// Time of that outside of other spans, waits and handlers.
    pub computing_ns: u64,
    /// Time in waits, outside of other spans.
    pub idle_ns: u64,
    /// Time in handlers, outside of other spans.
    pub handler_ns: u64,
    /// Longest time that one rank spent in them.
    pub most_ns: u64,
    /// That rank.
    pub most_rank: u32,
}

/// Time by span, the longest first.
pub fn spans(lives: &[Life], names: &Names) -> Vec<SpanRow> {
    let mut rows: BTreeMap<u32, SpanRow> = BTreeMap::new();
    for (rank, life) in (0..).zip(lives) {
        for (name, time) in &life.spans {
            let row = rows.entry(*name).or_default();
            row.count += time.count;
            row.total_ns += time.total;
            row.ranks += 1;
            if time.total > row.most_ns {
                (row.most_ns, row.most_rank) = (time.total, rank);
            }
        }
        for (piece, time) in life.within(life.begin, life.end) {
            let row = rows.entry(piece.span).or_default();
            match piece.state {
                RankState::Computing => row.computing_ns += time,
                RankState::Waiting | RankState::Asleep => row.idle_ns += time,
                RankState::Handler => row.handler_ns += time,
                RankState::Lost => {}
            }
        }
    }
    let named =
        |(name, row): (u32, SpanRow)| SpanRow { name: names.text(name).map(Into::into), ..row };
    let mut rows: Vec<_> = rows.into_iter().map(named).collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.computing_ns + row.idle_ns + row.handler_ns));
    rows
}

/// Balance of computing among ranks.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Balance {
    /// Longest computing time of a rank, in units of the mean; 1 is even.
    pub max_over_mean: f64,
    /// Rank with the longest computing time.
    pub most_loaded: u32,
    /// Mean computing time.
    pub mean_ns: u64,
    /// Longest computing time.
    pub max_ns: u64,
}

impl Balance {
    /// The balance of these ranks.
    pub fn new(ranks: &[RankTime]) -> Self {
        let most = ranks.iter().rev().max_by_key(|of| of.computing_ns);
        let Some(most) = most else { return Balance::default() };
        let sum: u64 = ranks.iter().map(|of| of.computing_ns).sum();
        let mean = sum as f64 / ranks.len() as f64;
        Balance {
            max_over_mean: if sum == 0 { 1.0 } else { most.computing_ns as f64 / mean },
            most_loaded: most.rank,
            mean_ns: mean as u64,
            max_ns: most.computing_ns,
        }
    }
}

/// Bins of time, and the mean number of ranks in each state.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Utilization {
    /// Length of a bin.
    pub bin_ns: f64,
    /// Ranks that compute, by bin.
    pub computing: Vec<f64>,
    /// Ranks that wait awake.
    pub waiting: Vec<f64>,
    /// Ranks that wait asleep.
    pub asleep: Vec<f64>,
    /// Ranks in handlers.
    pub handler: Vec<f64>,
    /// Ranks of which nothing is known.
    pub lost: Vec<f64>,
}

impl Utilization {
    /// Number of bins.
    pub const BINS: usize = 200;

    /// Utilization of a run of this length.
    pub fn new(lives: &[Life], end: u64) -> Self {
        let bin = end.max(1) as f64 / Self::BINS as f64;
        let mut bins = vec![vec![0.0; Self::BINS]; RankState::ALL.len()];
        for life in lives {
            for (piece, time) in life.within(life.begin, life.end) {
                let of = &mut bins[piece.state as usize];
                spread(of, piece.start as f64 / bin, (piece.start + time) as f64 / bin, 1.0);
            }
        }
        let mut of = |state: RankState| std::mem::take(&mut bins[state as usize]);
        Utilization {
            bin_ns: bin,
            computing: of(RankState::Computing),
            waiting: of(RankState::Waiting),
            asleep: of(RankState::Asleep),
            handler: of(RankState::Handler),
            lost: of(RankState::Lost),
        }
    }
}

/// Adds so much for each bin from one place in these bins to another.
pub(super) fn spread(bins: &mut [f64], from: f64, to: f64, more: f64) {
    let mut bin = from as usize;
    while bin < bins.len() && (bin as f64) < to {
        let part = to.min(bin as f64 + 1.0) - from.max(bin as f64);
        bins[bin] += more * part.max(0.0);
        bin += 1;
    }
}

#[cfg(test)]
mod tests;
