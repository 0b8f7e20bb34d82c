//! Roll call of all hosts of a job, which their agents answer. Sans-IO: who has answered, and until
//! when the others are waited for.

use crate::roll::Standing;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use weft_wire::Rank;

/// Longest wait for agents to answer. Whoever asks waits for longer.
const PATIENCE: Duration = Duration::from_secs(1);

/// The roll call that was made last.
#[derive(Debug, Default)]
pub(super) struct RollCall {
    number: u32,
    /// Hosts that have not answered; none if nobody is waited for.
    missing: BTreeSet<u16>,
    until: Duration,
    standings: BTreeMap<Rank, Standing>,
}

impl RollCall {
    /// Begins another one, of these hosts. Returns its number, for the agents.
    pub fn begin(&mut self, now: Duration, hosts: impl IntoIterator<Item = u16>) -> u32 {
        self.number = self.number.wrapping_add(1);
        self.missing = hosts.into_iter().collect();
        self.until = now + PATIENCE;
        self.standings.clear();
        self.number
    }

    /// A host has answered. What it says to one before this is late.
    pub fn heard(&mut self, host: u16, number: u32, standings: Vec<Standing>) {
        if number == self.number && self.missing.remove(&host) {
            self.standings.extend(standings.into_iter().map(|it| (it.rank, it)));
        }
    }

    /// A host is gone, and is waited for no more.
    pub fn lost(&mut self, host: u16) {
        self.missing.remove(&host);
    }

    /// True while it waits for answers.
    pub fn is_open(&self, now: Duration) -> bool {
        !self.missing.is_empty() && now < self.until
    }

    /// Standings of the ranks of those that have answered.
    pub fn standings(&self) -> Vec<Standing> {
        self.standings.values().cloned().collect()
    }
}

#[cfg(test)]
mod tests;
