//! Ranks that others wait for: directly, and in the end, where the rank that is waited for is late
//! because it waited itself.
//!
//! A wait is blamed on the rank that ended it. Since the last time that the same rank ended a wait
//! of the same other, it has done more than the other, or waited itself, or both. For what it did
//! more it keeps the blame; as far as it waited, it passes the blame on to those that it waits for,
//! as it does on the whole. So blame moves until it comes to ranks that are late by themselves.

use super::states::Life;
use serde::Serialize;
use std::collections::BTreeMap;

/// Operations that are spent on passing blame on.
const EFFORT: usize = 50_000_000;
/// Part of all blame that may be left where it is when it has been passed on for long.
const LITTLE: f64 = 1e-3;

/// Time for which ranks waited for one.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Blame {
    /// The rank; none is what no packet ended.
    pub rank: Option<u32>,
    /// Time in waits that it ended.
    pub direct_ns: u64,
    /// Time in waits that it ended, or that those ended who waited for it.
    pub in_the_end_ns: u64,
}

/// Blame of each rank, those first that are waited for most in the end.
pub fn blame(lives: &[Life]) -> Vec<Blame> {
    // The last place is that of waits that no packet ended.
    let nobody = lives.len();
    let busy: Vec<_> = lives.iter().map(Busy::new).collect();
    let mut passed: Vec<BTreeMap<usize, f64>> = vec![BTreeMap::new(); nobody + 1];
    let mut direct = vec![0.0; nobody + 1];
    let mut keeps = vec![0.0; nobody + 1];
    for (rank, life) in lives.iter().enumerate() {
        let mut last_ends = BTreeMap::new();
        for wait in life.waits.iter().filter(|wait| wait.idle > 0) {
            let by = wait.ended_by.map_or(nobody, |(_, by)| nobody.min(by as usize));
            let idle = wait.idle as f64;
            *passed[rank].entry(by).or_default() += idle;
            direct[by] += idle;
            let since = last_ends.insert(by, wait.end).unwrap_or(0).min(wait.end);
            if let Some(other) = busy.get(by) {
                keeps[by] += idle * other.keeps(&busy[rank], since, wait.end);
            }
        }
    }
    let kept: Vec<f64> = direct
        .iter()
        .zip(keeps)
        .map(|(direct, keeps)| if *direct > 0.0 { (keeps / direct).min(1.0) } else { 1.0 })
        .collect();
    let in_the_end = pass_on(&direct, &kept, &passed);
    let mut all: Vec<_> = (0..=nobody)
        .map(|rank| Blame {
            rank: (rank < nobody).then_some(rank as u32),
            direct_ns: direct[rank] as u64,
            in_the_end_ns: in_the_end[rank].round() as u64,
        })
        .filter(|of| of.direct_ns > 0 || of.in_the_end_ns > 0)
        .collect();
    all.sort_by_key(|of| std::cmp::Reverse(of.in_the_end_ns));
    all
}

/// Time for which a rank was busy, up to any moment.
struct Busy<'a> {
    life: &'a Life,
    /// Up to the beginning of each piece.
    before: Vec<u64>,
}

impl<'a> Busy<'a> {
    fn new(life: &'a Life) -> Self {
        let mut sum = 0;
        let before = life.within(life.begin, life.end).map(|(piece, time)| {
            let before = sum;
            sum += if piece.state.is_idle() { 0 } else { time };
            before
        });
        Busy { life, before: before.collect() }
    }

    fn until(&self, time: u64) -> u64 {
        let time = time.min(self.life.end);
        let at = self.life.pieces.partition_point(|piece| piece.start <= time);
        let Some(piece) = at.checked_sub(1).map(|at| self.life.pieces[at]) else { return 0 };
        let within = if piece.state.is_idle() { 0 } else { time - piece.start };
        self.before[at - 1] + within
    }

    /// Part of the blame for a wait that this rank keeps, which made another wait: what it has done
    /// more than the other between these times, beside the time for which it waited.
    fn keeps(&self, other: &Busy, since: u64, until: u64) -> f64 {
        let busy = |of: &Busy| of.until(until) - of.until(since);
        let lived = until.min(self.life.end).saturating_sub(since.max(self.life.begin));
        let more = busy(self).saturating_sub(busy(other)) as f64;
        let idle = lived.saturating_sub(busy(self)) as f64;
        if idle > 0.0 { more / (more + idle) } else { 1.0 }
    }
}

/// Blame after it has been passed on, by ranks that keep a part and pass the rest to others.
fn pass_on(direct: &[f64], kept: &[f64], passed: &[BTreeMap<usize, f64>]) -> Vec<f64> {
    let total: f64 = direct.iter().sum();
    let pairs = passed.iter().map(BTreeMap::len).sum::<usize>() + passed.len();
    let rounds = (2 * passed.len() + 8).min(EFFORT / pairs);
    let sums: Vec<f64> = passed.iter().map(|to| to.values().sum()).collect();
    let (mut now, mut settled) = (direct.to_vec(), vec![0.0; direct.len()]);
    for _ in 0..rounds {
        if now.iter().sum::<f64>() <= total * LITTLE {
            break;
        }
        let mut next = vec![0.0; now.len()];
        for (rank, blame) in now.iter().enumerate() {
            let keeps = if sums[rank] > 0.0 { kept[rank] } else { 1.0 };
            settled[rank] += blame * keeps;
            let rest = blame * (1.0 - keeps);
            if rest > 0.0 {
                for (to, time) in &passed[rank] {
                    next[*to] += rest * time / sums[rank];
                }
            }
        }
        now = next;
    }
    settled.iter().zip(now).map(|(settled, left)| settled + left).collect()
}

#[cfg(test)]
mod tests;
