//! Roll call of all hosts of a job, which their agents answer. Sans-IO: who has answered, and until
//! when the others are waited for.

use crate::roll::{Standing, add_stacks};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use weft_wire::Rank;

/// Longest wait for agents to answer.
const PATIENCE: Duration = Duration::from_secs(1);
/// Longest wait for the stacks that they took to have their names. Whoever asks waits for longer.
const STACKS_PATIENCE: Duration = Duration::from_millis(1600);

/// The roll call that was made last.
#[derive(Debug, Default)]
pub(super) struct RollCall {
    number: u32,
    /// Hosts that have not answered; none if nobody is waited for.
    missing: BTreeSet<u16>,
    /// Hosts that have not sent stacks; none if none are wanted.
    missing_stacks: BTreeSet<u16>,
    since: Duration,
    standings: BTreeMap<Rank, Standing>,
    stacks: Vec<(Rank, String)>,
}

impl RollCall {
    /// Begins another one, of these hosts, with stacks or without. Returns its number, for the
    /// agents.
    pub fn begin(
        &mut self,
        now: Duration,
        hosts: impl IntoIterator<Item = u16>,
        stacks: bool,
    ) -> u32 {
        let hosts: BTreeSet<_> = hosts.into_iter().collect();
        let missing_stacks = if stacks { hosts.clone() } else { BTreeSet::new() };
        let number = self.number.wrapping_add(1);
        *self =
            RollCall { number, missing: hosts, missing_stacks, since: now, ..RollCall::default() };
        number
    }

    /// A host has answered. What it says to one before this is late.
    pub fn heard(&mut self, host: u16, number: u32, standings: Vec<Standing>) {
        if number == self.number && self.missing.remove(&host) {
            self.standings.extend(standings.into_iter().map(|it| (it.rank, it)));
        }
    }

    /// A host has sent the stacks of some of its ranks.
    pub fn heard_stacks(&mut self, host: u16, number: u32, stacks: Vec<(Rank, String)>) {
        if number == self.number && self.missing_stacks.remove(&host) {
            self.stacks.extend(stacks);
        }
    }

    /// A host is gone, and is waited for no more.
    pub fn lost(&mut self, host: u16) {
        self.missing.remove(&host);
        self.missing_stacks.remove(&host);
    }

    /// True while it waits for answers.
    pub fn is_open(&self, now: Duration) -> bool {
        (!self.missing.is_empty() && now < self.since + PATIENCE)
            || (!self.missing_stacks.is_empty() && now < self.since + STACKS_PATIENCE)
    }

    /// Standings of the ranks of those that have answered.
    pub fn standings(&self) -> Vec<Standing> {
        let mut all: Vec<_> = self.standings.values().cloned().collect();
        add_stacks(&mut all, self.stacks.clone());
        all
    }
}

#[cfg(test)]
mod tests;
