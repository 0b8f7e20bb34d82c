//! Events in a job: the launcher has them of its own host's ranks, and agents send it those of
//! theirs.

use std::io;

use rustix::process::Signal;
use serde::{Deserialize, Serialize};
use weft_wire::Rank;

use super::ending::Ending;
use super::parts::text;

/// Event in a job. Of those that are skipped only the launcher itself learns: they never travel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Event {
    /// A program asked for its place.
    Hello(Rank),
    /// A program takes part.
    Joined(Rank),
    /// A program ends cleanly.
    Leaving(Rank),
    /// A program's last words.
    Report(Rank, #[serde(with = "text")] String),
    /// A program sent what is no message.
    BadMessage(Rank, #[serde(with = "text")] String),
    /// A rank's program could not be executed.
    CannotStart(Rank, i32),
    /// These processes have ended, seen at the same time.
    Ended(Vec<(Rank, Ending)>),
    /// A program asks that the job go on after a loss.
    GoOn(Rank),
    /// A rank asks for so many more of them.
    Spawn(Rank, u16),
    /// A rank lets in so many of those who wait at the door.
    Admit(Rank, u16),
    /// A visitor waits at the door.
    #[serde(skip)]
    Knocked(Visitor),
    /// A visitor waits no more.
    #[serde(skip)]
    WentAway(Visitor),
    /// The host of these ranks is gone, and why.
    #[serde(skip)]
    HostLost(Vec<Rank>, String),
    /// Somebody sent the launcher a signal.
    #[serde(skip)]
    Signal(Signal),
    /// All ranks wait for one another, and the job is to end then.
    #[serde(skip)]
    Deadlock,
    /// Nobody reads the job's output any more.
    #[serde(skip)]
    OutputClosed,
}

/// A process at the door of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Visitor {
    /// The host's number; 0 in a job on one.
    pub host: u16,
    /// Its number there.
    pub number: u32,
}

/// Exit status, as shells have it, of a rank that could not be started.
const NOT_STARTED: i32 = 126;

impl Event {
    /// Events of a rank whose process could not be started.
    pub fn not_started(rank: Rank, error: &io::Error) -> [Event; 2] {
        let errno = error.raw_os_error().unwrap_or_default();
        let ended = vec![(rank, Ending::Exited(NOT_STARTED))];
        [Event::CannotStart(rank, errno), Event::Ended(ended)]
    }

    /// The ranks that this is about.
    pub fn ranks(&self) -> Vec<Rank> {
        match self {
            Event::Hello(rank)
            | Event::Joined(rank)
            | Event::Leaving(rank)
            | Event::Report(rank, _)
            | Event::BadMessage(rank, _)
            | Event::CannotStart(rank, _)
            | Event::GoOn(rank)
            | Event::Spawn(rank, _)
            | Event::Admit(rank, _) => vec![*rank],
            Event::Ended(endings) => endings.iter().map(|(rank, _)| *rank).collect(),
            Event::HostLost(ranks, _) => ranks.clone(),
            Event::Knocked(_) | Event::WentAway(_) => Vec::new(),
            Event::Signal(_) | Event::Deadlock | Event::OutputClosed => Vec::new(),
        }
    }
}
