//! Status of a rank, which whoever shares its host may read: what it waits for, of whom, and since
//! when.

use std::time::Duration;
use weft_wire::Rank;

/// Longest text of a status, in bytes. Of a longer one the beginning is kept.
pub const TEXT_BYTES: usize = 232;
/// Words between what a rank waits for and remarks on messages that have come and that it does not
/// want.
const UNEXPECTED: &str = "; unexpected: ";
/// Most runs of consecutive ranks by which a set of them is said.
const RUNS: usize = 32;
/// Bytes before the runs: kind, team, number, call, number of runs.
const HEAD_BYTES: usize = 1 + 8 + 4 + 4 + 1;
/// Longest [`Awaited`] in bytes.
pub const RECORD_BYTES: usize = (HEAD_BYTES + 4 * RUNS + TEXT_BYTES).next_multiple_of(8);

/// Notice of what a rank waits for. It writes the status, others read it.
pub trait StatusNotice: Send + Sync {
    /// Says what this rank waits for, from now on.
    fn waits(&self, awaited: &Awaited);
    /// Says that it has looked for what it waits for, and will again: nobody wakes it.
    fn looks(&self);
    /// Says that it has looked, and sleeps until it is woken, or for a tenth of a second at most.
    fn sleeps(&self);
    /// Says that it waits no more.
    fn goes_on(&self);
}

/// Status of a rank.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RankStatus {
    /// Time since it is so.
    pub since: Duration,
    /// Time at which it became so, in nanoseconds by the clock of the rank's host.
    pub begun: u64,
    /// Thread that has said it, by the number that the system gives it.
    pub thread: u32,
    /// Time since it has looked for what it waits for.
    pub looked: Duration,
    /// True if it waits by looking again and again; else it sleeps, and is woken.
    pub polls: bool,
    /// Object of its wait; none if it does not wait, and then it has ended its last long wait
    /// that long ago.
    pub awaited: Option<Awaited>,
}

/// Object of a wait.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Awaited {
    /// Text for a person, after "waits for".
    pub what: String,
    /// Ranks that can end the wait.
    pub whom: Whom,
}

/// Ranks that can end a wait.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Whom {
    /// Not known, or the wait may end by itself.
    Unknown,
    /// Any other rank.
    Anyone,
    /// This one alone.
    One(Rank),
    /// Any of these.
    OneOf(Vec<Rank>),
    /// All members of a team that have not come to the same meeting.
    Meeting(TeamMeeting),
}

/// Operation in which members of a team take part.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct TeamMeeting {
    /// Name of the team, the same at all members.
    pub team: u64,
    /// Number of the operation in its team.
    pub number: u32,
    /// Number that stands for the operation with its root and its size: it differs between
    /// members that have called different ones.
    pub call: u32,
    /// Members of the team.
    pub members: Vec<Rank>,
}

impl Awaited {
    /// A wait for this, which these ranks can end.
    pub fn new(what: impl Into<String>, whom: Whom) -> Self {
        Awaited { what: what.into(), whom }
    }

    /// A wait for this, which may end by anything: it is never part of a deadlock.
    pub fn of_unknown(what: impl Into<String>) -> Self {
        Awaited::new(what, Whom::Unknown)
    }

    /// This wait, with a remark on messages that have come and that it does not want.
    #[must_use]
    pub fn beside_unexpected(mut self, messages: &str) -> Self {
        self.what = format!("{}{UNEXPECTED}{messages}", self.what);
        self
    }

    /// Text without remarks on what else has come: the same as long as it waits for the same.
    pub fn subject(&self) -> &str {
        self.what.split_once(UNEXPECTED).map_or(&self.what, |(subject, _)| subject)
    }

    /// Bytes that say it, at most [`RECORD_BYTES`]. Ranks in too many runs are not said.
    pub fn emit(&self) -> Vec<u8> {
        let runs = match &self.whom {
            Whom::Meeting(meeting) => runs_of(&meeting.members),
            Whom::OneOf(ranks) => runs_of(ranks),
            _ => Vec::new(),
        };
        let (kind, team, number, call) = match &self.whom {
            Whom::Anyone => (1, 0, 0, 0),
            Whom::One(rank) => (2, u64::from(rank.0), 0, 0),
            Whom::Meeting(met) if runs.len() <= RUNS => (3, met.team, met.number, met.call),
            Whom::OneOf(_) if runs.len() <= RUNS => (4, 0, 0, 0),
            Whom::Unknown | Whom::OneOf(_) | Whom::Meeting(_) => (0, 0, 0, 0),
        };
        let said = if kind >= 3 { &runs[..] } else { &[] };
        let mut bytes = vec![kind];
        bytes.extend(u64::to_le_bytes(team));
        bytes.extend([number, call].map(u32::to_le_bytes).as_flattened());
        bytes.push(said.len() as u8);
        for (first, last) in said {
            bytes.extend([*first, *last].map(u16::to_le_bytes).as_flattened());
        }
        bytes.extend(beginning(&self.what).as_bytes());
        bytes
    }

    /// The wait that these bytes say, which another process wrote; `None` if they say none.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let (head, rest) = bytes.split_first_chunk::<HEAD_BYTES>()?;
        let (team, rest_of_head) = head[1..].split_first_chunk::<8>()?;
        let (number, rest_of_head) = rest_of_head.split_first_chunk::<4>()?;
        let (call, runs) = rest_of_head.split_first_chunk::<4>()?;
        let (team, runs) = (u64::from_le_bytes(*team), usize::from(runs[0]));
        let (runs, text) = rest.split_at_checked(4 * runs)?;
        let whom = match head[0] {
            0 => Whom::Unknown,
            1 => Whom::Anyone,
            2 => Whom::One(Rank(u16::try_from(team).ok()?)),
            3 => Whom::Meeting(TeamMeeting {
                team,
                number: u32::from_le_bytes(*number),
                call: u32::from_le_bytes(*call),
                members: ranks_of(runs)?,
            }),
            4 => Whom::OneOf(ranks_of(runs)?),
            _ => return None,
        };
        let what = String::from_utf8_lossy(&text[..text.len().min(TEXT_BYTES)]).into_owned();
        Some(Awaited { what, whom })
    }
}

/// The beginning of a text that fits, which ends between two letters.
fn beginning(text: &str) -> &str {
    let fits = (0..=text.len().min(TEXT_BYTES)).rev().find(|at| text.is_char_boundary(*at));
    &text[..fits.unwrap_or(0)]
}

/// The runs of consecutive ranks, first and last, of which these consist.
fn runs_of(ranks: &[Rank]) -> Vec<(u16, u16)> {
    let mut ranks: Vec<_> = ranks.iter().map(|rank| rank.0).collect();
    ranks.sort_unstable();
    ranks.dedup();
    let runs = ranks.chunk_by(|a, b| a + 1 == *b);
    runs.filter_map(|run| Some((*run.first()?, *run.last()?))).collect()
}

/// The ranks of these runs, which ascend.
fn ranks_of(runs: &[u8]) -> Option<Vec<Rank>> {
    let mut ranks: Vec<Rank> = Vec::new();
    for run in runs.as_chunks::<4>().0 {
        let [a, b, c, d] = *run;
        let (first, last) = (u16::from_le_bytes([a, b]), u16::from_le_bytes([c, d]));
        if last < first || ranks.last().is_some_and(|rank| rank.0 >= first) {
            return None;
        }
        ranks.extend((first..=last).map(Rank));
    }
    Some(ranks)
}

#[cfg(test)]
mod tests;
