//! Placement that follows from who operates on an object, and how (thesis 7.1.2, [87]).
//!
//! Costs are in messages of the two ways to operate from elsewhere: a call takes two, and a write
//! of all copies one for each rank. An object goes elsewhere if what was done lately would have
//! cost half as much there, or less.

use crate::copy::{Role, Statistics};
use crate::format::{Place, Why, emit_reads};
use crate::objects::Placement;
use crate::operation::Effect;
use crate::shared::{Entry, Shared, lock};
use std::collections::BTreeMap;
use std::sync::Weak;
use std::sync::atomic::Ordering;
use weft_endpoint::Rank;

/// Operations after which a placement is thought over.
pub(crate) const WINDOW: u64 = 256;

/// Messages of an operation by call.
const CALL: u64 = 2;

/// Place of the copies of an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Site {
    /// A copy at every rank.
    Replicated,
    /// One copy, at this rank.
    Single(Rank),
}

impl From<Site> for Placement {
    fn from(site: Site) -> Self {
        match site {
            Site::Replicated => Placement::Replicated,
            Site::Single(home) => Placement::Single(home),
        }
    }
}

impl Placement {
    /// Site of an object at first, and true if its statistics may change that. None if it is where
    /// it is, or where it is created.
    pub(crate) fn site(self, ranks: usize) -> (Option<Site>, bool) {
        match self {
            Placement::Replicated => (Some(Site::Replicated), false),
            Placement::Single(home) => (Some(Site::Single(home)), false),
            Placement::Automatic => (None, true),
            Placement::Expected { reads, writes } => {
                let all = u128::from(reads) + u128::from(writes);
                let ranks = ranks as u128;
                // All ranks do the same, and one of them is the home.
                let called = u128::from(CALL) * all * (ranks - 1);
                let broadcast = ranks * ranks * u128::from(writes);
                ((broadcast < called).then_some(Site::Replicated), true)
            }
        }
    }
}

/// Operations of each rank on an object, lately.
#[derive(Default)]
pub(crate) struct Usage {
    /// Reads and writes, by rank. Of a replicated object the reads are those that were told.
    by_rank: BTreeMap<Rank, (u64, u64)>,
    /// Operations since it was last thought over.
    count: u64,
    /// Times that it was thought over here.
    times: u64,
    /// Counters of the copy here at that time.
    before: Statistics,
}

impl Usage {
    /// Counts from here on, where the copy here has these counters.
    pub fn restart(&mut self, now: Statistics) {
        *self = Usage { before: now, ..Usage::default() };
    }

    /// A better place than this, if there is one that costs half as much or less.
    fn better(&self, now: Site, ranks: u64) -> Option<Site> {
        // Reads are what ranks have told.
        let add = u64::saturating_add;
        let all = self.by_rank.values().fold(0, |all, (r, w)| add(all, add(*r, *w)));
        let writes: u64 = self.by_rank.values().map(|(_, writes)| writes).sum();
        let cost = |site| match site {
            Site::Replicated => ranks * writes,
            Site::Single(home) => {
                let (reads, writes) = self.by_rank.get(&home).copied().unwrap_or_default();
                (all - add(reads, writes)).saturating_mul(CALL)
            }
        };
        let homes = self.by_rank.keys().map(|rank| Site::Single(*rank));
        let best = homes.chain([Site::Replicated]).min_by_key(|site| cost(*site))?;
        (cost(best) < cost(now) && cost(best) <= cost(now) / 2).then_some(best)
    }
}

impl Shared {
    /// A rank has called an operation here.
    #[inline]
    pub(crate) fn count_call(&self, entry: &Entry, rank: Rank, operation: u16) {
        if !entry.is_automatic.load(Ordering::Relaxed) {
            return;
        }
        let mut usage = lock(&entry.usage);
        let is_read = entry.kind.effects.get(usize::from(operation)) == Some(&Effect::Read);
        let (reads, writes) = usage.by_rank.entry(rank).or_default();
        *(if is_read { reads } else { writes }) += 1;
        usage.count += 1;
        if usage.count < self.window.load(Ordering::Relaxed) {
            return;
        }
        let Some((now, Role::Only)) = entry.copy.as_ref().map(|copy| copy.statistics()) else {
            return;
        };
        // Those of others are among the counters, too.
        let (reads, writes) =
            usage.by_rank.values().fold((0, 0), |(r, w), (reads, writes)| (r + reads, w + writes));
        let before = usage.before;
        let own = (
            (now.reads - before.reads).saturating_sub(reads),
            (now.writes - before.writes).saturating_sub(writes),
        );
        usage.by_rank.insert(self.own, own);
        let better = usage.better(entry.site(), self.ranks());
        usage.restart(now);
        drop(usage);
        self.ask_for(entry, better);
    }

    /// All copies have executed what a rank has broadcast: message of the order.
    #[inline]
    pub(crate) fn count_write(&self, entry: &Entry, source: Rank) {
        if !entry.is_automatic.load(Ordering::Relaxed) {
            return;
        }
        let mut usage = lock(&entry.usage);
        usage.by_rank.entry(source).or_default().1 += 1;
        usage.count += 1;
        let window = self.window.load(Ordering::Relaxed);
        if usage.count < window {
            return;
        }
        let Some((now, _)) = entry.copy.as_ref().map(|copy| copy.statistics()) else { return };
        let (reads, times) = (now.reads - usage.before.reads, usage.times);
        // Ranks have told their reads by the second time.
        let decides = entry.manager == self.own && times > 0;
        let better = if decides { usage.better(Site::Replicated, self.ranks()) } else { None };
        usage.restart(now);
        usage.times = times + 1;
        drop(usage);
        self.ask_for(entry, better);
        if reads > window / 8
            && let Some(inner) = self.inner.get().and_then(Weak::upgrade)
        {
            inner.broadcast_soon(emit_reads(entry.id, reads));
        }
    }

    /// A rank tells its reads: message of the order.
    pub(crate) fn told_reads(&self, entry: &Entry, source: Rank, reads: u64) {
        // It may have moved since they were counted.
        if entry.site() == Site::Replicated {
            let mut usage = lock(&entry.usage);
            let (told, _) = usage.by_rank.entry(source).or_default();
            *told = told.saturating_add(reads);
        }
    }

    /// Asks for a better place, if there is one.
    fn ask_for(&self, entry: &Entry, better: Option<Site>) {
        let inner = self.inner.get().and_then(Weak::upgrade);
        if let (Some(site), Some(inner)) = (better, inner) {
            let place = Place { object: entry.id, site };
            inner.broadcast_soon(place.emit(Why::Statistics).to_vec());
        }
    }

    fn ranks(&self) -> u64 {
        self.engine.packets().size() as u64
    }
}

#[cfg(test)]
mod tests;
