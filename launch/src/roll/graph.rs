//! Graph of waits: who waits for whom, as far as ranks have said it, and who is stuck because of
//! whom.
//!
//! A rank that waits for one other, or for all members of a team that have not come, is stuck if
//! one of them is; a rank that anyone can end the wait of, if all others are. The largest set of
//! ranks that is so by itself is a deadlock: each waits for something that only they could do.

use crate::messages::{Doing, Standing};
use std::collections::{BTreeMap, BTreeSet};
use weft_link::status::{Awaited, TeamMeeting, Whom};
use weft_wire::Rank;

/// Most ranks among which the fewest are looked for: the launcher has other things to do.
const MOST_IN_CORE: usize = 64;

/// Ranks, as a set.
pub(super) type Ranks = BTreeSet<Rank>;

/// Ranks that have to act before one goes on.
#[derive(Debug)]
enum Need {
    /// Each of these.
    Each(Vec<Rank>),
    /// Any of these.
    OneOf(Vec<Rank>),
    /// Any other.
    Any,
}

/// Waits of the ranks of a job.
#[derive(Debug)]
pub(super) struct Graph {
    needs: BTreeMap<Rank, Need>,
    ranks: usize,
}

impl Graph {
    /// The waits of these, in a job of so many ranks. Those that do not count, and those of which
    /// nobody knows who ends them, are none.
    pub fn of(all: &[Standing], ranks: u16, counts: fn(&Standing) -> bool) -> Self {
        let meetings = Meetings::among(all);
        let mut missing: BTreeMap<(u64, u32), Vec<Rank>> = BTreeMap::new();
        let mut missing = |it: &TeamMeeting| {
            let known = missing.entry((it.team, it.number));
            known.or_insert_with(|| meetings.missing(it)).clone()
        };
        let need = |standing: &Standing| {
            let Doing::Waits(awaited) = &standing.doing else { return None };
            let need = match &awaited.whom {
                Whom::Unknown => return None,
                Whom::Anyone => Need::Any,
                Whom::One(rank) => Need::Each(vec![*rank]),
                Whom::OneOf(ranks) => Need::OneOf(ranks.clone()),
                Whom::Meeting(meeting) => Need::Each(missing(meeting)),
            };
            Some((standing.rank, need))
        };
        // What another thread does may be what others wait for.
        let counted = all.iter().filter(|standing| counts(standing) && !standing.is_busy);
        Graph { needs: counted.filter_map(need).collect(), ranks: usize::from(ranks) }
    }

    /// The ranks that never go on if `dead` do not, these included.
    pub fn stuck(&self, dead: &Ranks) -> Ranks {
        let mut stuck: Ranks = self.needs.keys().chain(dead).copied().collect();
        loop {
            let goes_on = |rank: &Rank| !dead.contains(rank) && !self.is_stuck(*rank, &stuck);
            let free: Vec<_> = stuck.iter().copied().filter(goes_on).collect();
            if free.is_empty() {
                return stuck;
            }
            for rank in free {
                stuck.remove(&rank);
            }
        }
    }

    /// Of ranks that are stuck by themselves, the fewest that are so without the others: of
    /// several such the ones with the lowest rank that leads to them. Of very many, all to which
    /// that leads.
    pub fn core(&self, stuck: &Ranks) -> Ranks {
        let Some(first) = stuck.first() else { return Ranks::new() };
        let mut core = self.reached(*first, stuck);
        while core.len() <= MOST_IN_CORE {
            let smaller = core.iter().map(|rank| self.reached(*rank, stuck));
            match smaller.min_by_key(Ranks::len) {
                Some(smaller) if smaller.len() < core.len() => core = smaller,
                _ => break,
            }
        }
        core
    }

    fn is_stuck(&self, rank: Rank, stuck: &Ranks) -> bool {
        match self.needs.get(&rank) {
            Some(Need::Each(needed)) => needed.iter().any(|needed| stuck.contains(needed)),
            Some(Need::OneOf(needed)) => needed.iter().all(|needed| stuck.contains(needed)),
            Some(Need::Any) => stuck.len() == self.ranks,
            None => false,
        }
    }

    /// This rank, and those of `stuck` that it waits for, and so on.
    fn reached(&self, from: Rank, stuck: &Ranks) -> Ranks {
        let (mut reached, mut new) = (Ranks::from([from]), vec![from]);
        while let Some(rank) = new.pop() {
            let mut add = |rank: Rank| {
                if reached.insert(rank) {
                    new.push(rank);
                }
            };
            match self.needs.get(&rank) {
                Some(Need::Each(needed) | Need::OneOf(needed)) => {
                    needed.iter().filter(|rank| stuck.contains(rank)).for_each(|rank| add(*rank));
                }
                Some(Need::Any) => stuck.iter().for_each(|rank| add(*rank)),
                None => {}
            }
        }
        reached
    }
}

/// Operations in which members of teams wait.
pub(crate) struct Meetings<'a>(BTreeMap<u64, BTreeMap<Rank, &'a TeamMeeting>>);

impl<'a> Meetings<'a> {
    /// Those of these ranks.
    pub(super) fn among(all: &'a [Standing]) -> Self {
        let waits = all.iter().filter_map(|standing| match &standing.doing {
            Doing::Waits(awaited) => Some((standing.rank, awaited)),
            _ => None,
        });
        Meetings::of(waits)
    }

    /// Those that ranks wait in, of which each waits for this.
    pub fn of(waits: impl IntoIterator<Item = (Rank, &'a Awaited)>) -> Self {
        let mut teams: BTreeMap<_, BTreeMap<_, _>> = BTreeMap::new();
        for (rank, awaited) in waits {
            if let Whom::Meeting(meeting) = &awaited.whom {
                teams.entry(meeting.team).or_default().insert(rank, meeting);
            }
        }
        Meetings(teams)
    }

    /// Members that have not come to a meeting, nor to a later one.
    pub fn missing(&self, meeting: &TeamMeeting) -> Vec<Rank> {
        let team = self.0.get(&meeting.team);
        let has_come = |rank: &&Rank| {
            let at = team.and_then(|team| team.get(rank));
            at.is_some_and(|at| at.number.wrapping_sub(meeting.number).cast_signed() >= 0)
        };
        meeting.members.iter().filter(|rank| !has_come(rank)).copied().collect()
    }

    /// Members of a team that wait at one place of its operations, and have called different ones.
    pub(super) fn disagreements(&self) -> Vec<Ranks> {
        let mut found = Vec::new();
        for team in self.0.values() {
            let mut places: BTreeMap<u32, (BTreeSet<u32>, Ranks)> = BTreeMap::new();
            for (rank, meeting) in team {
                let (calls, ranks) = places.entry(meeting.number).or_default();
                calls.insert(meeting.call);
                ranks.insert(*rank);
            }
            let differ = places.into_values().filter(|(calls, _)| calls.len() > 1);
            found.extend(differ.map(|(_, ranks)| ranks));
        }
        found
    }
}

#[cfg(test)]
mod tests;
