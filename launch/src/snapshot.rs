//! A job as it is now: for programs that show it.

use crate::desk::ANSWER_BYTES_MAX;
use crate::messages::hosts::{check_look, is_time};
use crate::messages::parts::text;
use crate::messages::{BadMessage, Message, ensure};
use crate::roll::Standing;
use rustix::param::{clock_ticks_per_second, page_size};
use rustix::process::Pid;
use serde::{Deserialize, Serialize};
use std::fs;
use weft_link::gauge::Counts;
use weft_link::status::Status;
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
    /// State, in words: `computes`, or `waits for a message on port 'rows'`.
    #[serde(with = "text")]
    pub state: String,
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
        ensure(is_time(self.seconds), "time")?;
        check_look(&self.ranks)
    }
}

impl RankNow {
    /// A rank with this process; `None` if there is none.
    pub(crate) fn of(
        rank: Rank,
        process: u32,
        status: Option<Status>,
        counts: Option<Counts>,
    ) -> Option<Self> {
        let standing = Standing::of(rank, Pid::from_raw(process.cast_signed())?, status)?;
        let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
        let (processor_seconds, memory_bytes) = used(&stat).unwrap_or_default();
        Some(RankNow {
            rank: rank.0,
            host: None,
            process,
            state: standing.in_words(),
            since: standing.since.map(|since| since.as_secs_f64()),
            processor_seconds,
            memory_bytes,
            counts,
        })
    }
}

/// Processor time in seconds, and memory in bytes, in the text of a process's `stat`.
fn used(stat: &str) -> Option<(f64, u64)> {
    let fields: Vec<&str> = stat.rsplit_once(") ")?.1.split_whitespace().collect();
    let number = |field: usize| fields.get(field)?.parse::<u64>().ok();
    // Counted from the third: user and system time, and resident pages.
    let ticks = number(11)? + number(12)?;
    let bytes = number(21)?.saturating_mul(page_size() as u64);
    Some((ticks as f64 / clock_ticks_per_second() as f64, bytes))
}

#[cfg(test)]
mod tests;
