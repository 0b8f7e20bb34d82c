//! The verdict: what a reader should change, in a sentence or two.

use super::balance::{Balance, RankTime, WaitsFor};
use super::blame::Blame;
use super::causes::Cause;
use super::names::Names;
use super::path::Path;
use super::slowest::WaitKind;
use super::states::Life;
use crate::units;

/// Part of the time below which waits are not worth a word, in percent.
const LITTLE: u64 = 10;
/// Part of all waiting from which on one rank is to blame, in percent.
const BLAME: u64 = 40;
/// Blame of one rank beside that of the next from which on it stands out.
const STANDS_OUT: u64 = 3;
/// Computing time from which on a rank has too much to do, in units of the mean.
const LOADED: f64 = 1.25;

/// Sentence on ranks that wait at the end.
struct Stuck {
    sentence: String,
    /// True if no rank does anything else.
    are_all: bool,
}

/// The findings that it is made of.
#[derive(Clone, Copy, Debug)]
pub struct Evidence<'a> {
    /// Known reasons that this run has for being slow.
    pub causes: &'a [Cause],
    /// Times of ranks.
    pub ranks: &'a [RankTime],
    /// Balance of computing.
    pub balance: &'a Balance,
    /// Ranks that are waited for, those first that are in the end.
    pub blame: &'a [Blame],
    /// Every rank over time.
    pub lives: &'a [Life],
    /// Texts of waits.
    pub names: &'a Names,
    /// Critical path.
    pub path: &'a Path,
    /// Kinds of waits.
    pub kinds: &'a [WaitKind],
    /// True of a recording by samples, which has no packets.
    pub is_sampled: bool,
}

impl Evidence<'_> {
    /// The verdict.
    pub fn verdict(&self) -> Vec<String> {
        let (first, last) = match self.stuck() {
            // Others may well go on once the recording has ended.
            Some(Stuck { sentence, are_all: false }) if self.is_sampled => (None, Some(sentence)),
            stuck => (stuck.map(|stuck| stuck.sentence), None),
        };
        let mut sentences: Vec<_> = first.into_iter().chain(self.unknown()).collect();
        sentences.extend(self.of_causes(true));
        sentences.extend(self.on_the_whole());
        sentences.extend(self.of_causes(false));
        sentences.extend(last);
        sentences
    }

    /// Sentences on causes that are certain, or on the others.
    fn of_causes(&self, are_certain: bool) -> impl Iterator<Item = String> {
        let causes = self.causes.iter().filter(move |cause| cause.is_certain == are_certain);
        causes.flat_map(|cause| cause.lines.iter().cloned())
    }

    /// Ranks that wait at the end, as those of a program that hangs do.
    fn stuck(&self) -> Option<Stuck> {
        let last_of =
            |life: &Life| life.waits.iter().rev().find(|wait| wait.ended.is_none()).cloned();
        let is_long =
            |life: &Life, idle: u64| idle > 0 && is_part(LITTLE, idle, life.end - life.begin);
        let stuck: Vec<_> = self
            .lives
            .iter()
            .filter_map(|life| {
                last_of(life).filter(|wait| wait.end == life.end && is_long(life, wait.idle))
            })
            .collect();
        let first = stuck.first()?;
        let ranks: Vec<_> = stuck.iter().map(|wait| wait.rank).collect();
        let verb = if ranks.len() == 1 { "waits" } else { "wait" };
        let text = self.names.text(first.text);
        let example = text.map_or_else(String::new, |text| match ranks.len() {
            1 => format!(", for {text}"),
            _ => format!(", rank {} for {text}", first.rank),
        });
        let who = units::ranks(&ranks).replacen('r', "R", 1);
        let sentence = match self.is_sampled {
            true => format!("{who} {verb} all through this recording{example}."),
            false => format!("{who} still {verb} at the end of the trace{example}."),
        };
        Some(Stuck { sentence, are_all: ranks.len() == self.lives.len() })
    }

    /// Sentence on what was lost, if that is much.
    fn unknown(&self) -> Option<String> {
        let (lost, total) = (self.sum(|of| of.lost_ns), self.sum(RankTime::total));
        let share = units::percent(lost, total);
        let is_much = is_part(LITTLE, lost, total) && lost > 0;
        is_much.then(|| format!("Of {share} of the time nothing is known: events were lost."))
    }

    fn on_the_whole(&self) -> Vec<String> {
        let total = self.sum(RankTime::total);
        let idle = self.sum(RankTime::idle);
        if total == 0 {
            return vec!["Nothing happened that takes time.".into()];
        }
        let most = self.blame.iter().max_by_key(|of| of.direct_ns);
        let is_much = |ns: u64| is_part(BLAME, ns, idle);
        if !is_part(LITTLE, idle, total) {
            return vec![self.busy(idle, total), self.of_balance()];
        }
        // The root of a reduction is waited for by all, and late because of who brings it the rest.
        let late = self.blame.iter().filter(|of| is_much(of.in_the_end_ns));
        let loaded = late.clone().find(|of| of.rank.is_some_and(|rank| self.is_loaded(rank)));
        let first = || self.blame.first().filter(|_| self.stands_out(idle));
        let in_the_end = loaded.or_else(|| late.clone().next()).or_else(first);
        let direct = most.filter(|of| is_much(of.direct_ns));
        match (direct, in_the_end) {
            (Some(Blame { rank: Some(rank), .. }), Some(Blame { rank: Some(last), .. }))
                if rank == last =>
            {
                vec![self.blames(*rank), self.reason(*rank)]
            }
            (_, Some(Blame { rank: Some(rank), in_the_end_ns, .. })) => {
                vec![self.in_the_end(*rank, *in_the_end_ns, idle, total), self.reason(*rank)]
            }
            (Some(Blame { rank: Some(rank), .. }), _) => {
                vec![self.blames(*rank), self.reason(*rank)]
            }
            (Some(Blame { rank: None, direct_ns, .. }), _) => {
                vec![self.waits(idle, total), self.no_packets(*direct_ns, idle)]
            }
            _ => vec![self.waits(idle, total), self.of_balance()],
        }
    }

    /// True if this rank computes far longer than the mean.
    fn is_loaded(&self, rank: u32) -> bool {
        self.load(rank).is_some_and(|load| load >= LOADED)
    }

    /// Computing time of this rank, in units of the mean.
    fn load(&self, rank: u32) -> Option<f64> {
        let of = self.ranks.get(rank as usize)?;
        Some(of.computing_ns as f64 / self.balance.mean_ns.max(1) as f64)
    }

    /// True if one rank is waited for in the end far more than all others.
    fn stands_out(&self, idle: u64) -> bool {
        let ns = |at: usize| self.blame.get(at).map_or(0, |of| of.in_the_end_ns);
        is_part(LITTLE, ns(0), idle) && ns(0) / STANDS_OUT >= ns(1)
    }

    fn sum(&self, of: fn(&RankTime) -> u64) -> u64 {
        self.ranks.iter().map(of).sum()
    }

    fn busy(&self, idle: u64, total: u64) -> String {
        let share = units::percent(idle, total);
        match self.is_sampled {
            true => format!(
                "Ranks are seen to wait in {share} of their time; waits of less than some \
                 milliseconds do not show."
            ),
            false => format!("Ranks wait in no more than {share} of their time."),
        }
    }

    fn waits(&self, idle: u64, total: u64) -> String {
        format!("Ranks wait in {} of their time.", units::percent(idle, total))
    }

    fn in_the_end(&self, rank: u32, ns: u64, idle: u64, total: u64) -> String {
        format!(
            "Ranks wait in {} of their time, and in {} of that for rank {rank} in the end: for \
             ranks that wait for it.",
            units::percent(idle, total),
            units::percent(ns, idle)
        )
    }

    /// Sentence on those that wait for a rank.
    fn blames(&self, rank: u32) -> String {
        let waits = |of: &RankTime| {
            of.waits_for.iter().find(|waits| waits.rank == Some(rank)).map_or(0, |waits| waits.ns)
        };
        let chiefly: Vec<_> = self
            .ranks
            .iter()
            .filter(|of| {
                waits(of) > 0
                    && waits(of) * 2 >= of.idle()
                    && is_part(LITTLE, waits(of), of.total())
            })
            .collect();
        let waiters = if chiefly.is_empty() { self.ranks.iter().collect() } else { chiefly };
        let (ns, total) = waiters
            .iter()
            .fold((0, 0), |sum: (u64, u64), of| (sum.0 + waits(of), sum.1 + of.total()));
        let mut named: Vec<_> = waiters.iter().map(|of| of.rank).collect();
        let others = self.ranks.len() - usize::from(self.ranks.len() > rank as usize);
        let who = if others > 1 && named.len() == others && !named.contains(&rank) {
            "All other ranks".into()
        } else if named.len() == self.ranks.len() {
            "Ranks".into()
        } else {
            named.sort_unstable();
            units::ranks(&named).replacen('r', "R", 1)
        };
        let verb = if waiters.len() == 1 { "waits" } else { "wait" };
        let whose = if waiters.len() == 1 { "its" } else { "their" };
        format!("{who} {verb} for rank {rank} in {} of {whose} time.", units::percent(ns, total))
    }

    /// Sentence on why others wait for this rank.
    fn reason(&self, rank: u32) -> String {
        let (Some(of), Some(ratio)) = (self.ranks.get(rank as usize), self.load(rank)) else {
            return self.advice();
        };
        let share = units::percent(of.handler_ns, of.total());
        if ratio >= LOADED {
            return format!(
                "Rank {rank} computes {ratio:.1} x as long as the mean: divide its work, or move \
                 some of it to others."
            );
        }
        if of.handler_ns * 4 >= of.total() {
            return format!(
                "Rank {rank} is in handlers in {share} of its time: make them shorter, or let \
                 other ranks serve, too."
            );
        }
        let itself = of.waits_for.iter().find(|waits| waits.rank.is_some_and(|on| on != rank));
        match itself.filter(|_| of.idle() * 2 >= of.total()) {
            Some(WaitsFor { rank: Some(on), .. }) => {
                format!("Rank {rank} itself waits, most of all for rank {on}. {}", self.advice())
            }
            _ => format!("It computes no longer than others. {}", self.advice()),
        }
    }

    fn no_packets(&self, ns: u64, idle: u64) -> String {
        let text = self.kinds.first().and_then(|kind| kind.text.as_ref());
        let most = text.map_or_else(String::new, |text| format!(", most of all for {text}"));
        let share = units::percent(ns, idle);
        match self.is_sampled {
            true => format!(
                "Of {share} of that samples do not show for whom{most}. {}",
                self.of_balance()
            ),
            false => format!("No packet ended {share} of that{most}. {}", self.of_balance()),
        }
    }

    fn of_balance(&self) -> String {
        let Balance { max_over_mean, most_loaded, .. } = self.balance;
        if self.ranks.len() > 1 && *max_over_mean >= LOADED {
            return format!(
                "Rank {most_loaded} computes {max_over_mean:.1} x as long as the mean: divide its \
                 work, or move some of it to others."
            );
        }
        self.advice()
    }

    fn advice(&self) -> String {
        format!("{}.", self.path.advice)
    }
}

/// True if this part of a whole is as many percent of it, or more.
pub(super) fn is_part(percent: u64, part: u64, whole: u64) -> bool {
    u128::from(part) * 100 >= u128::from(whole) * u128::from(percent)
}

#[cfg(test)]
mod tests;
