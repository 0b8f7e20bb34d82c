//! Snapshots of a job on several hosts. A client gets the last one while that is fresh, so that
//! agents are asked once a second however many clients there are. Sans-IO.

use super::inquiry::Inquiry;
use crate::messages::RankNow;
use std::time::Duration;

/// Longest wait for agents to answer. The asking command waits for longer.
const PATIENCE: Duration = Duration::from_secs(1);
/// Time for which a snapshot is fresh.
const FRESH: Duration = Duration::from_secs(1);

/// The snapshots of a job.
#[derive(Debug, Default)]
pub(super) struct Snapshots {
    pub inquiry: Inquiry<RankNow>,
    /// True from the question on, until all have answered that will.
    is_under_way: bool,
    /// Time of the last snapshot, and the ranks, in their order.
    last: Option<(Duration, Vec<RankNow>)>,
}

impl Snapshots {
    /// Begins another one, of these hosts. Returns its number, for the agents.
    pub fn begin(&mut self, now: Duration, hosts: impl IntoIterator<Item = u16>) -> u32 {
        self.is_under_way = true;
        self.inquiry.begin(hosts, now + PATIENCE)
    }

    /// Ends the snapshot that is under way, if all have answered that will. True if none is under
    /// way.
    pub fn end(&mut self, now: Duration) -> bool {
        if self.is_under_way && !self.inquiry.is_open(now) {
            self.is_under_way = false;
            let mut ranks = self.inquiry.answers().to_vec();
            ranks.sort_by_key(|rank| rank.rank);
            self.last = Some((now, ranks));
        }
        !self.is_under_way
    }

    /// The last snapshot, and its time, if it is fresh.
    pub fn fresh(&self, now: Duration) -> Option<&(Duration, Vec<RankNow>)> {
        self.last.as_ref().filter(|(at, _)| now < *at + FRESH)
    }
}

#[cfg(test)]
mod tests;
