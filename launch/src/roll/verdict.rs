//! Verdicts of a roll call, the most certain first: deadlocks, collectives that are called
//! differently, and the ranks that keep others.

use super::clauses::{groups, line, names};
use super::graph::{Graph, Meetings, Ranks};
use crate::messages::{Doing, Standing};
use serde::Serialize;
use std::collections::BTreeMap;
use std::time::Duration;
use weft_link::status::Whom;

/// Most groups of ranks whose waits a verdict says.
const GROUPS: usize = 4;

/// Most ranks that are looked at for keeping others.
const MOST_ODD: usize = 32;

/// Ranks that do not go on, and those that keep others, for programs.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct RollFindings {
    /// Ranks that wait for one another, and for nobody else.
    pub deadlocked: Vec<u16>,
    /// Ranks that wait for these.
    pub behind_deadlock: Vec<u16>,
    /// Members of teams that have called different collective operations at one place of them.
    pub disagreeing: Vec<Vec<u16>>,
    /// Ranks that keep others waiting, or that are stopped: those that keep the most first.
    pub keeping: Vec<Keeping>,
}

/// Ranks that keep others waiting.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Keeping {
    /// These ranks.
    pub ranks: Vec<u16>,
    /// The others.
    pub waiting: Vec<u16>,
}

/// The verdicts, by ranks.
pub(crate) fn findings(all: &[Standing], ranks: u16) -> RollFindings {
    let certain = Graph::of(all, ranks, Standing::is_certain);
    let deadlocked = certain.stuck(&Ranks::new());
    let core = certain.core(&deadlocked);
    let settled = Graph::of(all, ranks, Standing::is_settled);
    let keeping = culprits(all, &settled).into_iter().map(|it| Keeping {
        ranks: it.who.iter().map(|standing| standing.rank.0).collect(),
        waiting: numbers(&it.kept),
    });
    RollFindings {
        behind_deadlock: deadlocked.difference(&core).map(|rank| rank.0).collect(),
        deadlocked: numbers(&core),
        disagreeing: Meetings::among(all).disagreements().iter().map(numbers).collect(),
        keeping: keeping.collect(),
    }
}

fn numbers(ranks: &Ranks) -> Vec<u16> {
    ranks.iter().map(|rank| rank.0).collect()
}

/// The verdicts, a line each.
pub(super) fn lines(all: &[Standing], ranks: u16) -> Vec<String> {
    let certain = Graph::of(all, ranks, Standing::is_certain);
    let mut lines: Vec<_> = deadlock(all, &certain).into_iter().collect();
    let meetings = Meetings::among(all);
    lines.extend(meetings.disagreements().iter().map(|ranks| disagreement(&some(all, ranks))));
    let culprits = culprits(all, &Graph::of(all, ranks, Standing::is_settled));
    lines.extend(culprits.iter().map(|culprit| culprit.line(all)));
    lines
}

/// Time for which all ranks that are left of a job have waited for one another, or for those that
/// have left, if they do.
pub(crate) fn deadlocked_for(all: &[Standing], ranks: u16) -> Option<Duration> {
    let has_left = |standing: &&Standing| standing.doing == Doing::HasLeft;
    let left: Ranks = all.iter().filter(has_left).map(|standing| standing.rank).collect();
    let stuck = Graph::of(all, ranks, Standing::is_certain).stuck(&left);
    let there = || all.iter().filter(|standing| standing.doing != Doing::HasLeft);
    let all_are = all.len() == usize::from(ranks) && stuck.len() == all.len();
    if all_are { there().filter_map(|standing| standing.since).min() } else { None }
}

fn deadlock(all: &[Standing], graph: &Graph) -> Option<String> {
    let deadlocked = graph.stuck(&Ranks::new());
    let core = graph.core(&deadlocked);
    core.first()?;
    let others: Ranks = deadlocked.difference(&core).copied().collect();
    let with = if core.len() == 1 { " with itself" } else { "" };
    let mut text = format!("deadlock{with}: {}", waits(&some(all, &core)));
    if !others.is_empty() {
        text += &format!("; others wait for them: {}", waits(&some(all, &others)));
    }
    Some(text)
}

fn disagreement(members: &[&Standing]) -> String {
    format!("a collective operation is called differently: {}", waits(members))
}

/// Ranks for which others wait and that do something else, and those that are stopped. Where very
/// many do, none is odd.
fn culprits<'a>(all: &'a [Standing], graph: &Graph) -> Vec<Culprit<'a>> {
    if all.iter().filter(|standing| is_elsewhere(standing)).count() > MOST_ODD {
        return Vec::new();
    }
    let deadlocked = graph.stuck(&Ranks::new());
    let mut found: BTreeMap<(&Doing, Ranks), Vec<&Standing>> = BTreeMap::new();
    for standing in all.iter().filter(|standing| is_elsewhere(standing)) {
        let mut kept = graph.stuck(&Ranks::from([standing.rank]));
        kept.retain(|rank| *rank != standing.rank && !deadlocked.contains(rank));
        if !kept.is_empty() || standing.doing == Doing::IsStopped {
            found.entry((&standing.doing, kept)).or_default().push(standing);
        }
    }
    let mut found: Vec<_> = found.into_iter().collect();
    // The rank that keeps the most comes first, and of ranks that keep as many the one that is away
    // for good.
    found.sort_by_key(|((_, kept), _)| std::cmp::Reverse(kept.len()));
    found.into_iter().map(|((doing, kept), who)| Culprit { doing, kept, who }).collect()
}

/// True if nothing in Weft says who could have it go on.
fn is_elsewhere(standing: &Standing) -> bool {
    match &standing.doing {
        Doing::Waits(awaited) => {
            (standing.is_busy || awaited.whom == Whom::Unknown) && standing.is_settled()
        }
        _ => true,
    }
}

/// Ranks that do the same and keep others.
struct Culprit<'a> {
    doing: &'a Doing,
    kept: Ranks,
    who: Vec<&'a Standing>,
}

impl Culprit<'_> {
    fn line(&self, all: &[Standing]) -> String {
        let clause = line(self.doing, &self.who);
        if self.kept.is_empty() {
            return clause;
        }
        let them = if self.who.len() == 1 { "it" } else { "them" };
        let kept = some(all, &self.kept);
        match groups(&kept)[..] {
            [(Doing::Waits(awaited), _)] => {
                let verb = if kept.len() == 1 { "waits" } else { "wait" };
                let longest = kept.iter().filter_map(|standing| standing.since).max();
                let time = longest.unwrap_or_default().as_secs_f64();
                let (whose, what) = (names(&kept), &awaited.what);
                format!("{clause}; {whose} {verb} for {them}: {what}, for {time:.1} s")
            }
            _ => format!("{clause}; others wait for {them}: {}", waits(&kept)),
        }
    }
}

/// Those of some ranks that are here.
fn some<'a>(all: &'a [Standing], ranks: &Ranks) -> Vec<&'a Standing> {
    all.iter().filter(|standing| ranks.contains(&standing.rank)).collect()
}

/// Waits of some ranks in a sentence, by rank: cycles read best in their order.
fn waits(some: &[&Standing]) -> String {
    let mut all = groups(some);
    all.sort_by_key(|(_, group)| group.first().map(|standing| standing.rank));
    let more: usize = all.iter().skip(GROUPS).map(|(_, group)| group.len()).sum();
    let said = all.iter().take(GROUPS).map(|(doing, group)| line(doing, group));
    let more = (more > 0).then(|| format!("{more} more"));
    let texts: Vec<_> = said.chain(more).collect();
    texts.join("; ")
}

#[cfg(test)]
mod tests;
