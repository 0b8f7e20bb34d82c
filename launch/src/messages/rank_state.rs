//! States of ranks, for programs that show them.

use super::parts::text;
use serde::{Deserialize, Serialize};
use std::fmt;

/// State of a rank.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum RankState {
    /// Its program has ended, while others go on.
    Left,
    /// It runs, and has not joined the job.
    NotJoined,
    /// Somebody has stopped its process.
    Stopped,
    /// It is in the program, or polls.
    #[default]
    Computes,
    /// It sleeps, and not in Weft.
    Sleeps,
    /// It waits in Weft for this.
    Waits(#[serde(with = "text")] String),
}

impl RankState {
    /// A word for it, the same in all releases.
    pub fn word(&self) -> &'static str {
        match self {
            RankState::Left => "left",
            RankState::NotJoined => "not-joined",
            RankState::Stopped => "stopped",
            RankState::Computes => "computes",
            RankState::Sleeps => "sleeps",
            RankState::Waits(_) => "waits",
        }
    }

    /// Text of what it waits for, if it waits.
    pub fn awaited(&self) -> Option<&str> {
        match self {
            RankState::Waits(what) => Some(what),
            _ => None,
        }
    }
}

/// `computes or polls`, `waits for a reply`.
impl fmt::Display for RankState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            RankState::Left => "has left",
            RankState::NotJoined => "has not joined",
            RankState::Stopped => "was stopped",
            RankState::Computes => "computes or polls",
            RankState::Sleeps => "sleeps outside of Weft",
            RankState::Waits(what) => return write!(f, "waits for {what}"),
        })
    }
}
