//! Activities of ranks.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use weft_link::status::Awaited;
use weft_wire::Rank;

use super::bounds::{RANKS_MAX, STACKS_MAX};
use super::checks::{at_most, check_rank};
use super::format::BadMessage;
use super::parts::{self, check_stack};
use super::rank_state::RankState;

/// Age of a wait from which on it is one to speak of: what ends it would long have been seen.
const SETTLED: Duration = Duration::from_millis(500);

/// Age of a wait from which on a rank that polls, or wants a core to do so, has seen what came.
pub const SEEN: Duration = Duration::from_secs(2);

/// Activity of a rank.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub enum Doing {
    /// Its program has ended, while others go on.
    HasLeft,
    /// Somebody has stopped its process.
    IsStopped,
    /// It has a core, or wants one: it is in the program, or polls, and has not waited for long.
    Computes,
    /// It sleeps, and not in Weft.
    Sleeps,
    /// It runs, and has not joined the job.
    HasNotJoined,
    /// It waits in Weft, for this.
    Waits(#[serde(with = "parts::wait")] Awaited),
}

/// Activity of a rank, since when, and by which thread.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Standing {
    pub rank: Rank,
    pub doing: Doing,
    /// Time for which it has waited, or since its last long wait, if there was any.
    pub since: Option<Duration>,
    /// True if the thread that waits sleeps: nothing has come that it could act on.
    pub is_asleep: bool,
    /// True if it waits, and goes on by itself meanwhile: a handler, or another thread of its
    /// program, computes or sleeps for a time.
    pub is_busy: bool,
    /// The thread that does this, or that goes on meanwhile, if its process is here.
    pub thread: Option<u32>,
    /// Functions that that thread is in, once [they are asked for](TakenStacks).
    #[serde(serialize_with = "parts::cut_stack")]
    pub stack: Option<String>,
}

impl Standing {
    /// That of a rank which has not joined, or of one that has left.
    pub fn outside(rank: Rank, doing: Doing) -> Self {
        let (since, thread, stack) = (None, None, None);
        Standing { rank, doing, since, is_asleep: false, is_busy: false, thread, stack }
    }

    /// True if it has waited for so long that this is one to speak of.
    pub fn is_settled(&self) -> bool {
        self.since.is_some_and(|since| since >= SETTLED)
    }

    /// True if nothing can have come that ends its wait: its process sleeps until something does,
    /// or has polled for so long that it would have seen it.
    pub fn is_certain(&self) -> bool {
        self.is_settled() && (self.is_asleep || self.since >= Some(SEEN))
    }

    /// Its state, for programs that show it.
    pub fn state(&self) -> RankState {
        match &self.doing {
            Doing::HasLeft => RankState::Left,
            Doing::HasNotJoined => RankState::NotJoined,
            Doing::IsStopped => RankState::Stopped,
            Doing::Computes => RankState::Computes,
            Doing::Sleeps => RankState::Sleeps,
            Doing::Waits(awaited) => RankState::Waits(awaited.what.clone()),
        }
    }
}

/// Checks the standings of ranks, of which a few have stacks.
pub fn check_roll(all: &[Standing]) -> Result<(), BadMessage> {
    at_most(all, RANKS_MAX.into())?;
    all.iter().try_for_each(|standing| check_rank(standing.rank))?;
    let stacks: Vec<_> = all.iter().filter_map(|standing| standing.stack.as_deref()).collect();
    at_most(&stacks, STACKS_MAX)?;
    stacks.into_iter().try_for_each(check_stack)
}
