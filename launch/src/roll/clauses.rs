//! Ranks and what they do, as clauses of sentences.

use crate::messages::{Doing, Standing};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Those that do the same, the fewest first.
pub(super) fn groups<'a>(all: &[&'a Standing]) -> Vec<(&'a Doing, Vec<&'a Standing>)> {
    let mut groups: BTreeMap<&Doing, Vec<&Standing>> = BTreeMap::new();
    for standing in all {
        groups.entry(&standing.doing).or_default().push(standing);
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by_key(|(_, group)| group.len());
    groups
}

/// Ranks and what they all do, as a clause.
pub(super) fn line(doing: &Doing, group: &[&Standing]) -> String {
    let is_one = group.len() == 1;
    let mut line = names(group);
    line += match (doing, is_one) {
        (Doing::HasLeft, true) => " has left the job",
        (Doing::HasLeft, false) => " have left the job",
        (Doing::IsStopped, true) => " was stopped by a signal, and not continued",
        (Doing::IsStopped, false) => " were stopped by a signal, and not continued",
        (Doing::Computes, true) => " computes or polls",
        (Doing::Computes, false) => " compute or poll",
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
pub(super) fn names(group: &[&Standing]) -> String {
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
