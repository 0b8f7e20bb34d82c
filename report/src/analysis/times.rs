//! Times of events on one clock, that of the run: nanoseconds since its first event.

use super::clocks::{Clock, Clocks};
use weft_trace::Trace;

/// Longest run, in nanoseconds (39 hours): the sum of the times of 65,536 ranks has room, and times
/// are exact in JavaScript, too. A later time counts as this one.
pub const LONGEST_NS: u64 = 1 << 47;

/// Times of all events of a run.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Times {
    ranks: Vec<Vec<u64>>,
}

impl Times {
    /// Times by each host's own clock, from the first event of the host on. Those of a rank never
    /// go backward: events that threads wrote down out of order happen at once.
    pub fn of_hosts(trace: &Trace, host_of: &[usize]) -> Self {
        let hosts = host_of.iter().max().map_or(0, |last| last + 1);
        let mut first = vec![u64::MAX; hosts];
        for (of, host) in trace.ranks.iter().zip(host_of) {
            let earliest = of.events.iter().map(|event| event.time).min();
            first[*host] = first[*host].min(earliest.unwrap_or(u64::MAX));
        }
        let ranks = trace.ranks.iter().zip(host_of).map(|(of, host)| {
            let mut now = 0;
            let mut next = |time: u64| {
                now = (time - first[*host]).min(LONGEST_NS).max(now);
                now
            };
            of.events.iter().map(|event| next(event.time)).collect()
        });
        Times { ranks: ranks.collect() }
    }

    /// These times by the clock of the run.
    #[must_use]
    pub fn on_one_clock(&self, clocks: &Clocks, host_of: &[usize]) -> Self {
        let clock = |host: &usize| clocks.hosts.get(*host).copied().unwrap_or_default();
        let moved = |times: &[u64], clock: Clock| -> Vec<f64> {
            times.iter().map(|time| clock.to_run(*time as f64)).collect()
        };
        let ranks: Vec<Vec<f64>> =
            self.ranks.iter().zip(host_of).map(|(times, host)| moved(times, clock(host))).collect();
        let first =
            ranks.iter().filter_map(|times| times.first()).copied().fold(f64::MAX, f64::min);
        let since = |time: f64| ((time - first).round().max(0.0) as u64).min(LONGEST_NS);
        let ranks = ranks.iter().map(|times| times.iter().map(|time| since(*time)).collect());
        Times { ranks: ranks.collect() }
    }

    /// Time of an event of a rank; 0 if there is none.
    pub fn at(&self, rank: u32, event: u32) -> u64 {
        self.of(rank).get(event as usize).copied().unwrap_or_default()
    }

    /// Times of the events of a rank, in order.
    pub fn of(&self, rank: u32) -> &[u64] {
        self.ranks.get(rank as usize).map_or(&[], Vec::as_slice)
    }

    /// Time of the last event of all.
    pub fn end(&self) -> u64 {
        self.ranks.iter().filter_map(|times| times.last()).copied().max().unwrap_or(0)
    }
}
