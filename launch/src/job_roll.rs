//! Roll call of a job, as `weft why` gets it: what the job is, and what its ranks do.

use crate::messages::parts::text;
use crate::messages::{ANSWER_BYTES_MAX, BadMessage, Message, Standing, check_roll};
use crate::roll::{self, RollFindings, StacksOf, findings, lines};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Job with its ranks, for programs: times in microseconds.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct JobReport {
    /// The program, or several, with ` : ` between them.
    pub program: String,
    /// Ranks of the job.
    pub ranks: u16,
    /// Time since it began.
    pub running_us: u64,
    /// Ranks that do not go on.
    #[serde(flatten)]
    pub findings: RollFindings,
    /// Activities of its ranks, as far as they are known, by rank.
    pub standings: Vec<RankReport>,
}

/// Activity of a rank, for programs.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct RankReport {
    /// The rank.
    pub rank: u16,
    /// Word for its state: see [`RankState::word`](crate::RankState::word).
    pub state: &'static str,
    /// Text of what it waits for, if it waits.
    pub waits_for: Option<String>,
    /// Time for which it has waited, or since its last long wait, if that is known.
    pub since_us: Option<u64>,
    /// True if the thread that waits sleeps.
    pub is_asleep: bool,
    /// True if a handler, or another thread of its program, goes on meanwhile.
    pub is_busy: bool,
    /// Functions that it is in, the innermost first, if its stack was taken.
    pub stack: Option<String>,
}

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

    /// The program, or several, with ` : ` between them.
    pub fn program(&self) -> &str {
        &self.program
    }

    /// Number of its ranks.
    pub fn ranks(&self) -> u16 {
        self.ranks
    }

    /// Time since it began.
    pub fn time(&self) -> Duration {
        self.time
    }

    /// All of it, for programs.
    pub fn report(&self) -> JobReport {
        let micros = |time: Duration| time.as_micros() as u64;
        let rank = |standing: &Standing| {
            let state = standing.state();
            RankReport {
                rank: standing.rank.0,
                state: state.word(),
                waits_for: state.awaited().map(str::to_owned),
                since_us: standing.since.map(micros),
                is_asleep: standing.is_asleep,
                is_busy: standing.is_busy,
                stack: standing.stack.clone(),
            }
        };
        JobReport {
            program: self.program.clone(),
            ranks: self.ranks,
            running_us: micros(self.time),
            findings: findings(&self.standings, self.ranks),
            standings: self.standings.iter().map(rank).collect(),
        }
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
