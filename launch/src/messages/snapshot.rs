//! A job as it is now: for programs that show it.

use super::bounds::{ANSWER_BYTES_MAX, RANKS_MAX};
use super::checks::{at_most, check_rank, check_time};
use super::format::{BadMessage, Message};
use super::parts::text;
use super::rank_state::RankState;
use serde::{Deserialize, Serialize};
use weft_link::gauge::Counts;
use weft_wire::Rank;

/// A job as it is now.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Snapshot {
    /// The program.
    #[serde(with = "text")]
    pub program: String,
    /// Time since it was started, in seconds.
    pub seconds: f64,
    /// The ranks that have joined, and not ended.
    pub ranks: Vec<RankNow>,
}

/// A rank as it is now.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct RankNow {
    /// The rank.
    pub rank: u16,
    /// Its host, if the job is on several.
    pub host: Option<String>,
    /// Its process there.
    pub process: u32,
    /// Its state.
    pub state: RankState,
    /// Time since it is in this state, in seconds, if that is known.
    pub since: Option<f64>,
    /// Time that its threads have run, in seconds.
    pub processor_seconds: f64,
    /// Memory that it has, in bytes.
    pub memory_bytes: u64,
    /// Counts since its start. They are known once somebody has asked before.
    pub counts: Option<Counts>,
}

impl Message for Snapshot {
    const KIND: u16 = 6;
    const BYTES_MAX: usize = ANSWER_BYTES_MAX;

    fn check(&self) -> Result<(), BadMessage> {
        check_time(self.seconds)?;
        check_ranks(&self.ranks)
    }
}

/// Checks ranks as they are now.
pub fn check_ranks(ranks: &[RankNow]) -> Result<(), BadMessage> {
    at_most(ranks, RANKS_MAX.into())?;
    ranks.iter().try_for_each(|now| {
        check_rank(Rank(now.rank))?;
        now.since.map_or(Ok(()), check_time)?;
        check_time(now.processor_seconds)
    })
}

#[cfg(test)]
mod tests;
