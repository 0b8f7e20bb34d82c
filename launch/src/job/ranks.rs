//! The ranks of a job, as far as each has come.

use std::ops::{Index, IndexMut};
use std::time::Duration;

use weft_wire::Rank;

use crate::messages::Ending;
use crate::outcome::PEER_LOST;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stage {
    /// No rank of the job yet.
    Vacant,
    Started,
    Welcomed,
    Joined,
    Leaving,
}

#[derive(Debug)]
pub(super) struct RankState {
    pub stage: Stage,
    /// Number of its host.
    pub host: u16,
    pub started_at: Duration,
    pub ended: Option<Ending>,
    pub is_lost: bool,
    pub report: Option<String>,
    /// True if its program asks that the job go on after a loss.
    pub asks_to_go_on: bool,
}

/// All ranks by their numbers, those that are vacant last.
#[derive(Debug)]
pub(super) struct Ranks(Vec<RankState>);

impl RankState {
    /// Ending of this rank, as its own last words have it if nobody has seen it end.
    pub fn as_said(&self, ending: Ending) -> Ending {
        match ending {
            Ending::Unseen if self.stage == Stage::Leaving => Ending::Exited(0),
            Ending::Unseen if self.report.is_some() => Ending::Exited(PEER_LOST.into()),
            seen => seen,
        }
    }

    /// True if it ended, and had said before that it would.
    fn has_ended_well(&self) -> bool {
        self.stage == Stage::Leaving && self.ended == Some(Ending::Exited(0))
    }
}

impl Ranks {
    /// Ranks that are started at time zero, and vacant ones behind them, all on host 0.
    pub fn new(started: u16, vacant: u16) -> Self {
        let state = |rank| RankState {
            stage: if rank < started { Stage::Started } else { Stage::Vacant },
            host: 0,
            started_at: Duration::ZERO,
            ended: None,
            is_lost: false,
            report: None,
            asks_to_go_on: false,
        };
        Ranks((0..started + vacant).map(state).collect())
    }

    /// Says the number of each rank's host.
    pub fn are_on(&mut self, host_of: impl Fn(Rank) -> u16) {
        let ranks = (0u16..).map(Rank).zip(&mut self.0);
        ranks.for_each(|(rank, state)| state.host = host_of(rank));
    }

    /// All ranks.
    pub fn numbered(&self) -> impl Iterator<Item = (Rank, &RankState)> {
        (0u16..).map(Rank).zip(&self.0)
    }

    /// Those whose processes have not ended.
    pub fn running(&self) -> impl Iterator<Item = (Rank, &RankState)> {
        self.numbered().filter(|(_, state)| state.stage > Stage::Vacant && state.ended.is_none())
    }

    /// Places that nobody has had.
    pub fn vacant(&self) -> Vec<Rank> {
        let is_vacant = |state: &RankState| state.stage == Stage::Vacant && state.ended.is_none();
        self.numbered().filter(|(_, state)| is_vacant(state)).map(|(rank, _)| rank).collect()
    }

    /// A rank takes its vacant place.
    pub fn start(&mut self, now: Duration, rank: Rank) {
        (self[rank].stage, self[rank].started_at) = (Stage::Started, now);
    }

    /// Number of ranks up to the last one that has been started.
    pub fn started(&self) -> u16 {
        let last = self.0.iter().rposition(|state| state.stage > Stage::Vacant);
        last.map_or(0, |last| last as u16 + 1)
    }

    /// Those that were given their places.
    pub fn welcomed(&self) -> impl Iterator<Item = &RankState> {
        self.0.iter().filter(|state| state.stage > Stage::Started)
    }

    /// The rank that has been started first of those that have not joined, and when.
    pub fn first_not_joined(&self) -> Option<(Rank, Duration)> {
        let late = self.running().filter(|(_, state)| state.stage < Stage::Joined);
        let since = late.map(|(rank, state)| (rank, state.started_at));
        since.min_by_key(|(_, since)| *since)
    }

    /// True if no rank has asked for its place.
    pub fn have_none_asked(&self) -> bool {
        self.welcomed().next().is_none()
    }

    pub fn has_one_ended_well(&self) -> bool {
        self.0.iter().any(RankState::has_ended_well)
    }

    pub fn have_lost_one(&self) -> bool {
        self.0.iter().any(|state| state.is_lost)
    }
}

impl Index<Rank> for Ranks {
    type Output = RankState;

    fn index(&self, rank: Rank) -> &RankState {
        &self.0[rank.index()]
    }
}

impl IndexMut<Rank> for Ranks {
    fn index_mut(&mut self, rank: Rank) -> &mut RankState {
        &mut self.0[rank.index()]
    }
}
