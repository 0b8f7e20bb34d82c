//! Report of a simulation.

use std::time::Duration;
use weft_link_sim::{Happened, Injected, RunEnd};
use weft_wire::Rank;

pub use weft_endpoint::Statistics;

/// Outcome of a rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome<T> {
    /// Its program returned this.
    Returned(T),
    /// Its program, or joining or leaving the job, failed and said this.
    Failed(String),
    /// It failed once the job had lost another rank: what it said follows from that.
    Victim(String),
    /// Its program panicked and said this.
    Panicked(String),
    /// It was crashed on purpose.
    Crashed,
    /// Nobody asked for it: it is one that the job did not begin with.
    NeverCame,
    /// It had not ended when the simulation had to.
    Unfinished,
}

impl<T> Outcome<T> {
    /// Value that the program returned, if it did.
    pub fn returned(&self) -> Option<&T> {
        match self {
            Outcome::Returned(value) => Some(value),
            _ => None,
        }
    }
}

/// Report of a simulation.
#[derive(Clone, Debug)]
pub struct Report<T> {
    /// End of the run as a whole.
    pub ended: RunEnd,
    /// Outcome of each rank.
    pub outcomes: Vec<Outcome<T>>,
    /// The time that passed in the simulation.
    pub virtual_time: Duration,
    /// Counters of each rank's node.
    pub statistics: Vec<Statistics>,
    /// True if computation was charged as measured ([`crate::Options::measured`]): then all times,
    /// and the trace, are those of this run alone.
    pub measured: bool,
    /// Stands for everything that happened.
    pub trace_hash: u64,
    /// Number of events.
    pub events: u64,
    /// Faults that were injected on purpose.
    pub injected: Injected,
    /// The most receive buffers of its NI that each rank had in use at a time.
    pub most_received: Vec<usize>,
    /// The last events of each rank, oldest first; as many as the options asked for.
    pub last_events: Vec<Vec<Happened>>,
    /// Memory that each rank took, program and stack included: what the process grew by from before
    /// the ranks were made to their end. Not part of what a seed fixes.
    pub bytes_per_rank: u64,
}

impl<T> Report<T> {
    /// True if all ranks that were asked for returned.
    pub fn is_success(&self) -> bool {
        let is_well =
            |outcome: &Outcome<T>| matches!(outcome, Outcome::Returned(_) | Outcome::NeverCame);
        self.ended == RunEnd::Finished && self.outcomes.iter().all(is_well)
    }

    /// Checks that this rank crashed, and that all others failed of that, and named it.
    ///
    /// # Errors
    /// The first rank that did something else, and what.
    pub fn all_tell_of(&self, crashed: Rank) -> Result<(), String>
    where
        T: std::fmt::Debug,
    {
        let named = format!("rank {crashed} was killed");
        let is_right = |(rank, outcome): &(usize, &Outcome<T>)| match outcome {
            Outcome::Crashed => *rank == crashed.index(),
            Outcome::Victim(what) => *rank != crashed.index() && what.contains(&named),
            _ => false,
        };
        match self.outcomes.iter().enumerate().find(|one| !is_right(one)) {
            None => Ok(()),
            Some((rank, outcome)) => Err(format!("rank {rank}: {outcome:?}")),
        }
    }

    /// Values that the ranks returned, in order.
    ///
    /// # Errors
    /// The first rank that did not, with its outcome, or how the run ended.
    pub fn into_values(self) -> Result<Vec<T>, String> {
        let ended = format!("{:?}", self.ended);
        let value = |(rank, outcome)| match outcome {
            Outcome::Returned(value) => Ok(value),
            Outcome::Failed(what) | Outcome::Victim(what) => {
                Err(format!("rank {rank} failed: {what}"))
            }
            Outcome::Panicked(what) => Err(format!("rank {rank} panicked: {what}")),
            Outcome::Crashed => Err(format!("rank {rank} was crashed")),
            Outcome::NeverCame => Err(format!("nobody asked for rank {rank}")),
            Outcome::Unfinished => Err(format!("rank {rank} did not end: {ended}")),
        };
        self.outcomes.into_iter().enumerate().map(value).collect()
    }

    /// Data packets transmitted by all ranks.
    pub fn packets(&self) -> u64 {
        self.statistics.iter().map(|statistics| statistics.protocol.packets_sent).sum()
    }

    /// Data packets transmitted again.
    pub fn retransmissions(&self) -> u64 {
        self.statistics.iter().map(|statistics| statistics.protocol.retransmissions).sum()
    }

    /// Recoveries from suspected deadlocks (thesis 4.3).
    pub fn recoveries(&self) -> u64 {
        self.statistics.iter().map(|statistics| statistics.protocol.recoveries).sum()
    }

    /// The last events of `rank`, a line each, in words.
    pub fn explain(&self, rank: Rank) -> String {
        let events = self.last_events.get(rank.index());
        events.into_iter().flatten().map(|happened| format!("{happened}\n")).collect()
    }
}
