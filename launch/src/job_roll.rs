//! Roll call of a job, as `weft why` gets it: what the job is, and what its ranks do.

use crate::messages::parts::text;
use crate::messages::{ANSWER_BYTES_MAX, BadMessage, Message, Standing, check_roll};
use crate::roll::{self, StacksOf, lines};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Roll call of a job.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct JobRoll {
    /// Ranks of the job.
    pub(crate) ranks: u16,
    #[serde(with = "text")]
    pub(crate) program: String,
    /// Time since it began.
    pub(crate) time: Duration,
    /// Activities of its ranks, as far as they are known, with the stacks that the job could take.
    pub(crate) standings: Vec<Standing>,
}

impl JobRoll {
    /// The job, in a line: `4 ranks of asp, for 3.1 s`.
    pub fn title(&self) -> String {
        let JobRoll { ranks, program, time, .. } = self;
        let whose = if *ranks == 1 { "rank" } else { "ranks" };
        format!("{ranks} {whose} of {program}, for {:.1} s", time.as_secs_f64())
    }

    /// Activities of its ranks, in lines for a person: ranks that keep others waiting first.
    pub fn lines(&self) -> Vec<String> {
        lines(&self.standings, self.ranks)
    }

    /// Adds stacks of ranks that are on this host, of as many kinds as people read of. Of those
    /// that the job has taken by itself none is taken again.
    pub fn add_stacks(&mut self, stacks_of: StacksOf) {
        let taken = roll::TakenStacks::of(&self.standings, stacks_of);
        roll::add_stacks(&mut self.standings, taken.name());
    }

    /// Numbers of threads mean nothing here.
    pub(crate) fn forget_threads(&mut self) {
        self.standings.iter_mut().for_each(|standing| standing.thread = None);
    }
}

impl Message for JobRoll {
    const KIND: u16 = 5;
    const BYTES_MAX: usize = ANSWER_BYTES_MAX;

    fn check(&self) -> Result<(), BadMessage> {
        check_roll(&self.standings)
    }
}

#[cfg(test)]
mod tests;
