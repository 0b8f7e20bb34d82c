//! Results of searches, and the work that they took.

use crate::error::{Error, Result};
use crate::format::Tally;
use std::time::Duration;
use weft_endpoint::Rank;
use weft_messaging::collective::Team;

/// Work of all ranks for one bound.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Iteration {
    /// The bound: moves so far and the lower bound of what is left, at most.
    pub bound: u16,
    /// Positions made by moves, the start included.
    pub nodes: u64,
    /// Jobs that went to other ranks.
    pub jobs: u64,
    /// Messages that they went in.
    pub messages: u64,
    /// Positions that were not searched because of the table.
    pub hits: u64,
    /// Time, at rank 0.
    pub time: Duration,
}

/// Answer of a search for a solution.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum SearchAnswer {
    /// Moves of a shortest solution.
    Moves(Vec<u8>),
    /// There is no solution.
    #[default]
    Unsolvable,
    /// The deadline was over, or the longest solution searched for. One has so many moves at least.
    Late {
        /// Bound that was being searched, or would have been next.
        at_least: u16,
    },
}

/// Result of a search for a solution.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Solved {
    /// Its answer.
    pub answer: SearchAnswer,
    /// Iterations, the last of which found the solution, unless the start is one.
    pub iterations: Vec<Iteration>,
    /// Time of all, at rank 0.
    pub time: Duration,
    /// Bound at which a best-first search had no more memory, and IDA* went on.
    pub full_at: Option<u16>,
}

/// Result of an enumeration.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counted {
    /// Lines of play; `None` if the deadline was over.
    pub lines: Option<u64>,
    /// Work of all ranks.
    pub work: Iteration,
}

/// Numbers of an iteration.
const WORDS: usize = 6;

impl Iteration {
    pub(crate) fn between(bound: u16, before: &Tally, after: &Tally, time: Duration) -> Self {
        Iteration {
            bound,
            // Counters are what ranks have told.
            nodes: after.worked.nodes.wrapping_sub(before.worked.nodes),
            jobs: after.jobs.wrapping_sub(before.jobs),
            messages: after.messages.sent.wrapping_sub(before.messages.sent),
            hits: after.worked.hits.wrapping_sub(before.worked.hits),
            time,
        }
    }

    /// Nodes a second of all ranks together.
    pub fn nodes_per_second(&self) -> f64 {
        self.nodes as f64 / self.time.as_secs_f64().max(f64::MIN_POSITIVE)
    }

    pub(crate) fn emit(&self) -> [u64; WORDS] {
        let Iteration { bound, nodes, jobs, messages, hits, time } = *self;
        [bound.into(), nodes, jobs, messages, hits, nanoseconds(time)]
    }

    pub(crate) fn parse(&[bound, nodes, jobs, messages, hits, time]: &[u64; WORDS]) -> Self {
        let (bound, time) = (bound as u16, Duration::from_nanos(time));
        Iteration { bound, nodes, jobs, messages, hits, time }
    }
}

impl Solved {
    /// Work of all iterations; its bound is the last one.
    pub fn total(&self) -> Iteration {
        let sum = |sum: Iteration, next: &Iteration| Iteration {
            bound: next.bound,
            nodes: sum.nodes.saturating_add(next.nodes),
            jobs: sum.jobs.saturating_add(next.jobs),
            messages: sum.messages.saturating_add(next.messages),
            hits: sum.hits.saturating_add(next.hits),
            time: sum.time + next.time,
        };
        self.iterations.iter().fold(Iteration::default(), sum)
    }

    /// Gives all ranks what rank 0 has. Collective.
    pub(crate) fn spread(self, team: &Team) -> Result<Self> {
        let (answer, moves): (_, &[u8]) = match &self.answer {
            SearchAnswer::Moves(moves) => (0, moves),
            SearchAnswer::Unsolvable => (1, &[]),
            SearchAnswer::Late { at_least } => (2 + u64::from(*at_least), &[]),
        };
        let lengths = [answer, moves.len() as u64, self.iterations.len() as u64];
        let full_at = self.full_at.map_or(u64::MAX, u64::from);
        let mut head = [lengths[0], lengths[1], lengths[2], nanoseconds(self.time), full_at];
        team.broadcast(0, &mut head)?;
        let [answer, length, iterations, time, full_at] = head;
        let [length, iterations] = [told_length(length)?, told_length(iterations)?];
        let mut words: Vec<_> = self.iterations.iter().flat_map(Iteration::emit).collect();
        words.resize(iterations * WORDS, 0);
        team.broadcast(0, &mut words)?;
        let mut moves = moves.to_vec();
        moves.resize(length, 0);
        team.broadcast(0, &mut moves)?;
        let answer = match answer {
            0 => SearchAnswer::Moves(moves),
            1 => SearchAnswer::Unsolvable,
            late => SearchAnswer::Late { at_least: (late - 2) as u16 },
        };
        let (iterations, _) = words.as_chunks::<WORDS>();
        let iterations = iterations.iter().map(Iteration::parse).collect();
        let (time, full_at) = (Duration::from_nanos(time), u16::try_from(full_at).ok());
        Ok(Solved { answer, iterations, time, full_at })
    }
}

impl Counted {
    /// Gives all ranks what rank 0 has. Collective.
    pub(crate) fn spread(self, team: &Team) -> Result<Self> {
        let lines = [self.lines.is_some().into(), self.lines.unwrap_or(0)];
        let [a, b, c, d, e, f] = self.work.emit();
        let mut words = [lines[0], lines[1], a, b, c, d, e, f];
        team.broadcast(0, &mut words)?;
        let [is_counted, lines, work @ ..] = words;
        Ok(Counted { lines: (is_counted == 1).then_some(lines), work: Iteration::parse(&work) })
    }
}

/// Most entries of a list that rank 0 tells: bounds and moves have 16 bits, and a best-first search
/// may be followed by another one.
const LIST_MAX: u64 = 2 << 16;

/// Length of a list that rank 0 tells.
///
/// # Errors
/// [`Error::Format`] if no search makes as long a one.
pub(crate) fn told_length(length: u64) -> Result<usize> {
    match length {
        0..=LIST_MAX => Ok(length as usize),
        _ => Err(Error::Format { from: Rank(0), what: "tells of a longer list than there can be" }),
    }
}

/// A time on the wire; centuries are enough.
pub(crate) fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
