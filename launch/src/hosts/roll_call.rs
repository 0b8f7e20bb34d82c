//! Roll call of all hosts of a job, which their agents answer; stacks come later. Sans-IO.

use super::inquiry::Inquiry;
use crate::messages::Standing;
use crate::roll::add_stacks;
use std::time::Duration;
use weft_wire::Rank;

/// Longest wait for agents to answer.
const PATIENCE: Duration = Duration::from_secs(1);
/// Longest wait for the stacks that they took to have their names. Whoever asks waits for longer.
const STACKS_PATIENCE: Duration = Duration::from_millis(1600);

/// The roll call that was made last.
#[derive(Debug, Default)]
pub(super) struct RollCall {
    pub standings: Inquiry<Standing>,
    /// Stacks of some ranks, by the same numbers; of no host if none are wanted.
    pub stacks: Inquiry<(Rank, String)>,
}

impl RollCall {
    /// Begins another one, of these hosts, with stacks or without. Returns its number, for the
    /// agents.
    pub fn begin(
        &mut self,
        now: Duration,
        hosts: impl Iterator<Item = u16> + Clone,
        stacks: bool,
    ) -> u32 {
        self.stacks.begin(hosts.clone().filter(|_| stacks), now + STACKS_PATIENCE);
        self.standings.begin(hosts, now + PATIENCE)
    }

    /// A host is gone, and is waited for no more.
    pub fn lost(&mut self, host: u16) {
        self.standings.lost(host);
        self.stacks.lost(host);
    }

    /// True while it waits for answers.
    pub fn is_open(&self, now: Duration) -> bool {
        self.standings.is_open(now) || self.stacks.is_open(now)
    }

    /// Standings of the ranks of those that have answered, by rank, some with stacks.
    pub fn called(&self) -> Vec<Standing> {
        let mut all = self.standings.answers().to_vec();
        all.sort_by_key(|standing| standing.rank);
        add_stacks(&mut all, self.stacks.answers().to_vec());
        all
    }
}

#[cfg(test)]
mod tests;
