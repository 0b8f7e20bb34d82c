//! Roll call of a job as whoever asks for it gets it: what the job is, and what its ranks do.
//!
//! ```text
//! mark "weft" (4) | version (2) | kind (2) | ranks (2) | program (text) | time in ns (8)
//! | ranks (2) x standing, as `messages/hosts/roll.rs` has it
//! | threads (2) x { rank (2), thread (4) } | stacks (2) x { rank (2), stack (text) }
//! ```

use crate::desk::ANSWER_BYTES_MAX;
use crate::messages::BadMessage;
use crate::messages::bytes::{begin, open_long, put_text};
use crate::messages::hosts::{put_list, put_roll, put_stacks, take_rank, take_roll, take_stacks};
use crate::messages::{RANKS_MAX, cut};
use crate::roll::{self, StacksOf, Standing, lines};
use std::time::Duration;

/// Kind of the message: no other is one.
const JOB_ROLL: u16 = 96;

/// Roll call of a job.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct JobRoll {
    /// Ranks of the job.
    pub(crate) ranks: u16,
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

    /// Activities of its ranks, in lines for a person: who keeps the others first.
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

    /// The roll call as bytes; texts are cut to their limit.
    pub(crate) fn emit(&self) -> Vec<u8> {
        let mut bytes = begin(JOB_ROLL);
        bytes.extend(self.ranks.to_le_bytes());
        put_text(&mut bytes, cut(&self.program));
        bytes.extend((self.time.as_nanos() as u64).to_le_bytes());
        put_roll(&mut bytes, &self.standings);
        let all = || self.standings.iter();
        let threads: Vec<_> = all().filter_map(|it| Some((it.rank, it.thread?))).collect();
        put_list(&mut bytes, &threads, |bytes, (rank, thread)| {
            bytes.extend(rank.0.to_le_bytes());
            bytes.extend(thread.to_le_bytes());
        });
        let stacks: Vec<_> = all().filter_map(|it| Some((it.rank, it.stack.clone()?))).collect();
        put_stacks(&mut bytes, &stacks);
        bytes
    }

    /// The roll call in `bytes`.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, BadMessage> {
        let (kind, mut body) = open_long(bytes, ANSWER_BYTES_MAX)?;
        if kind != JOB_ROLL {
            return Err(BadMessage::Kind(kind));
        }
        let (ranks, program) = (body.u16()?, body.text()?);
        let time = Duration::from_nanos(u64::from_le_bytes(body.take()?));
        let mut standings = take_roll(&mut body)?;
        let threads = body.list(RANKS_MAX.into(), |body| Ok((take_rank(body)?, body.u32()?)))?;
        for (rank, thread) in threads {
            let standing = standings.iter_mut().find(|standing| standing.rank == rank);
            standing.ok_or(BadMessage::Range("rank"))?.thread = Some(thread);
        }
        roll::add_stacks(&mut standings, take_stacks(&mut body)?);
        body.end()?;
        Ok(JobRoll { ranks, program, time, standings })
    }
}

#[cfg(test)]
mod tests;
