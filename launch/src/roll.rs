//! Roll call of a host's ranks: what each waits for, or what else it does, and who keeps the
//! others.
//!
//! | module | what |
//! |---|---|
//! | `graph` | who waits for whom, and who is stuck because of whom |
//! | `stacks` | stacks of some of them |
//! | `verdict` | the odd one, deadlocks, collectives that are called differently, in words |

mod graph;
mod stacks;
mod verdict;

pub(crate) use graph::Meetings;
pub use stacks::{Naming, StacksOf};
pub(crate) use stacks::{STACKS, TakenStacks, add_stacks};
pub(crate) use verdict::deadlocked_for;

use crate::messages::parts;
use rustix::process::Pid;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::time::Duration;
use weft_link::status::{Awaited, Status};
use weft_wire::Rank;

/// Age of a wait from which on it is one to speak of: what ends it would long have been seen.
const SETTLED: Duration = Duration::from_millis(500);

/// Age of the last look of a rank from which on it does something else, unless it sleeps.
pub(crate) const AWAY: Duration = Duration::from_millis(200);

/// Age of a wait from which on a rank that polls, or wants a core to do so, has seen what came.
const SEEN: Duration = Duration::from_secs(2);

/// Name of the thread of a rank that watches over others, and answers who asks.
pub(crate) const WATCHER: &str = "weft-launcher";

/// Activity of a rank.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub(crate) enum Doing {
    /// Its program has ended well, while others go on.
    HasLeft,
    /// Somebody has stopped its process.
    IsStopped,
    /// It has a core, or wants one, and is not in Weft.
    Computes,
    /// It sleeps, and not in Weft.
    Sleeps,
    /// It runs, and has not joined the job.
    HasNotJoined,
    /// It waits in Weft, for this.
    Waits(#[serde(with = "parts::wait")] Awaited),
}

/// Activity of a rank.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Standing {
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
    /// That of a rank with this process, which has said this. `None` if there is no such process.
    pub fn of(rank: Rank, process: Pid, status: Option<Status>) -> Option<Self> {
        let threads = threads_of(process)?;
        let status = status.map(|status| match status.polls && status.looked >= AWAY {
            // It waits no more, without having found what it looked for.
            true => Status { since: status.looked, awaited: None, ..status },
            false => status,
        });
        let polls = status.as_ref().is_some_and(|status| status.polls);
        let main = process.as_raw_pid().cast_unsigned();
        let thread = status.as_ref().map(|status| status.thread);
        let thread = thread.filter(|thread| threads.contains_key(thread)).unwrap_or(main);
        let since = status.as_ref().map(|status| status.since);
        let looked = status.as_ref().filter(|_| !polls).map(|status| status.looked);
        let computes = |(_, state): &(&u32, &char)| **state == 'R';
        let computing = threads.iter().find(computes).map(|(number, _)| *number);
        let (doing, does) = match (threads.get(&main)?, status.and_then(|it| it.awaited)) {
            ('T' | 't', _) => (Doing::IsStopped, main),
            (_, Some(awaited)) => (Doing::Waits(awaited), thread),
            ('R', _) => (Doing::Computes, main),
            _ => computing.map_or((Doing::Sleeps, main), |thread| (Doing::Computes, thread)),
        };
        let waits = matches!(doing, Doing::Waits(_));
        let busy = if waits { busy_beside(&threads, thread, looked) } else { None };
        let is_asleep = !polls && threads.get(&thread) == Some(&ASLEEP);
        let (thread, stack) = (Some(busy.unwrap_or(does)), None);
        let is_busy = busy.is_some();
        Some(Standing { rank, doing, since, is_asleep, is_busy, thread, stack })
    }

    /// That of a rank which has not joined, or of one that has left.
    pub fn outside(rank: Rank, doing: Doing) -> Self {
        let (since, thread, stack) = (None, None, None);
        Standing { rank, doing, since, is_asleep: false, is_busy: false, thread, stack }
    }

    /// True if it has waited for so long that this is one to speak of.
    fn is_settled(&self) -> bool {
        self.since.is_some_and(|since| since >= SETTLED)
    }

    /// True if nothing can have come that ends its wait: its process sleeps until something does,
    /// or has polled for so long that it would have seen it.
    fn is_certain(&self) -> bool {
        self.is_settled() && (self.is_asleep || self.since >= Some(SEEN))
    }
}

impl Standing {
    /// Activity in words, without whose it is: `computes`, `waits for a reply`.
    pub fn in_words(&self) -> String {
        match &self.doing {
            Doing::HasLeft => "has left".into(),
            Doing::HasNotJoined => "has not joined".into(),
            Doing::IsStopped => "was stopped".into(),
            Doing::Computes => "computes".into(),
            Doing::Sleeps => "sleeps outside of Weft".into(),
            Doing::Waits(awaited) => format!("waits for {}", awaited.what),
        }
    }
}

/// Thread that goes on by itself while `waiting` waits: another one, or that one, in a handler
/// that a look of its has begun. Who sleeps has `looked` a short time ago, unless such a one keeps
/// it; who polls is not asked.
fn busy_beside(
    threads: &BTreeMap<u32, char>,
    waiting: u32,
    looked: Option<Duration>,
) -> Option<u32> {
    let goes_on = |state: char| state == 'R' || state == NAPS;
    let is_kept = |state| looked >= Some(if goes_on(state) { AWAY } else { SEEN });
    let is_busy = |(number, state): &(&u32, &char)| match **number == waiting {
        true => is_kept(**state),
        false => goes_on(**state),
    };
    threads.iter().find(is_busy).map(|(number, _)| *number)
}

/// State of a thread that sleeps, as the system has it.
const ASLEEP: char = 'S';
/// State of one that sleeps for a time.
const NAPS: char = 'n';

/// States of the threads of a process; `None` if there is no such process.
fn threads_of(process: Pid) -> Option<BTreeMap<u32, char>> {
    let threads = fs::read_dir(format!("/proc/{}/task", process.as_raw_pid())).ok()?;
    let state = |entry: fs::DirEntry| {
        let number = entry.file_name().to_str()?.parse().ok()?;
        let stat = fs::read_to_string(entry.path().join("stat")).ok()?;
        // It may be the one that asks.
        let is_own = stat.contains(&format!("({WATCHER})"));
        let state = state_of(&stat).filter(|_| !is_own)?;
        // Function of the kernel that it sleeps in.
        let naps =
            || fs::read(entry.path().join("wchan")).is_ok_and(|it| it == b"hrtimer_nanosleep");
        Some((number, if state == ASLEEP && naps() { NAPS } else { state }))
    };
    Some(threads.flatten().filter_map(state).collect())
}

/// State of a thread, a letter, in the text of its `stat`. The name before it may hold anything.
fn state_of(stat: &str) -> Option<char> {
    stat.rsplit_once(") ")?.1.chars().next()
}

/// The roll call of a job of so many ranks in lines for a person: who keeps the others, then what
/// each does, ranks that do the same in one line, the fewest first.
pub(crate) fn lines(all: &[Standing], ranks: u16) -> Vec<String> {
    let mut lines = verdict::lines(all, ranks);
    let there: Vec<_> = all.iter().filter(|standing| standing.doing != Doing::HasLeft).collect();
    let groups = groups(&there);
    lines.extend(groups.iter().map(|(doing, group)| line(doing, group) + &stack(group)));
    lines
}

/// The stack of one of those that do the same, as the end of a line.
fn stack(group: &[&Standing]) -> String {
    let Some(standing) = group.iter().find(|standing| standing.stack.is_some()) else {
        return String::new();
    };
    let stack = standing.stack.as_deref().unwrap_or_default();
    match group.len() {
        1 => format!("; its stack: {stack}"),
        _ => format!("; the stack of rank {}: {stack}", standing.rank),
    }
}

/// Those that do the same, the fewest first.
fn groups<'a>(all: &[&'a Standing]) -> Vec<(&'a Doing, Vec<&'a Standing>)> {
    let mut groups: BTreeMap<&Doing, Vec<&Standing>> = BTreeMap::new();
    for standing in all {
        groups.entry(&standing.doing).or_default().push(standing);
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by_key(|(_, group)| group.len());
    groups
}

/// Ranks and what they all do, as a clause.
fn line(doing: &Doing, group: &[&Standing]) -> String {
    let is_one = group.len() == 1;
    let mut line = names(group);
    line += match (doing, is_one) {
        (Doing::HasLeft, true) => " has left the job",
        (Doing::HasLeft, false) => " have left the job",
        (Doing::IsStopped, true) => " was stopped by a signal, and not continued",
        (Doing::IsStopped, false) => " were stopped by a signal, and not continued",
        (Doing::Computes, true) => " computes, outside of Weft",
        (Doing::Computes, false) => " compute, outside of Weft",
        (Doing::Sleeps, true) => " sleeps, outside of Weft",
        (Doing::Sleeps, false) => " sleep, outside of Weft",
        (Doing::HasNotJoined, true) => " has not joined the job",
        (Doing::HasNotJoined, false) => " have not joined the job",
        (Doing::Waits(_), true) => " waits for ",
        (Doing::Waits(_), false) => " wait for ",
    };
    let since = match doing {
        Doing::Waits(awaited) => {
            line += &awaited.what;
            group.iter().filter_map(|standing| standing.since).max()
        }
        // Of several, the one that has been away for the shortest time.
        Doing::Computes | Doing::Sleeps => group.iter().filter_map(|standing| standing.since).min(),
        _ => None,
    };
    if let Some(since) = since {
        let _ = write!(line, ", for {:.1} s", since.as_secs_f64());
    }
    if group.iter().any(|standing| standing.is_busy) {
        line += ", while a handler, or another of its threads, computes or sleeps a while";
    }
    line
}

/// Names of ranks, as the subject of a sentence.
fn names(group: &[&Standing]) -> String {
    let ranks: Vec<_> = group.iter().map(|standing| standing.rank.0).collect();
    format!("{} {}", if ranks.len() == 1 { "rank" } else { "ranks" }, spans(&ranks))
}

/// Numbers in ascending order, those that follow one another as spans.
fn spans(numbers: &[u16]) -> String {
    let runs = numbers.chunk_by(|a, b| a + 1 == *b);
    let span = |run: &[u16]| match run {
        [first, .., last] if run.len() > 2 => format!("{first} to {last}"),
        _ => run.iter().map(u16::to_string).collect::<Vec<_>>().join(", "),
    };
    runs.map(span).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests;
