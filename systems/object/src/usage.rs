//! Placement that follows from who operates on an object, and how (thesis 7.1.2, [87]).
//!
//! Costs are in messages of the two ways to operate from elsewhere: a call takes two, and a write
//! of all copies one for each rank. An object goes elsewhere if what was done lately would have
//! cost half as much there, or less.

use crate::copy::Statistics;
use crate::placement::{CALL, Site};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use weft_endpoint::Rank;

/// Operations after which a placement is thought over.
const WINDOW: u64 = 256;

/// A rank that counts operations, and thinks placements over.
pub(crate) struct Observer {
    own: Rank,
    ranks: u64,
    /// Operations after which it does.
    window: AtomicU64,
}

impl Observer {
    /// This rank of a job of `ranks` ranks.
    pub fn new(own: Rank, ranks: usize) -> Self {
        Observer { own, ranks: ranks as u64, window: AtomicU64::new(WINDOW) }
    }

    /// Has placements thought over after so many operations.
    #[cfg(feature = "planted")]
    pub fn think_after(&self, operations: u64) {
        self.window.store(operations, Ordering::Relaxed);
    }

    fn window(&self) -> u64 {
        self.window.load(Ordering::Relaxed)
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

    /// A rank has called an operation here. True if the placement is to be thought over, by
    /// [`Self::after_calls`].
    #[inline]
    pub fn called(&mut self, rank: Rank, is_read: bool, at: &Observer) -> bool {
        let (reads, writes) = self.by_rank.entry(rank).or_default();
        *(if is_read { reads } else { writes }) += 1;
        self.count += 1;
        self.count >= at.window()
    }

    /// A better place for the only copy, which is here and has these counters, if there is one.
    pub fn after_calls(&mut self, now: Statistics, site: Site, at: &Observer) -> Option<Site> {
        // Those of others are among the counters, too.
        let (reads, writes) =
            self.by_rank.values().fold((0, 0), |(r, w), (reads, writes)| (r + reads, w + writes));
        let before = self.before;
        let own = (
            (now.reads - before.reads).saturating_sub(reads),
            (now.writes - before.writes).saturating_sub(writes),
        );
        self.by_rank.insert(at.own, own);
        let better = self.better(site, at.ranks);
        self.restart(now);
        better
    }

    /// All copies have executed what a rank has broadcast. True if the placement is to be thought
    /// over, by [`Self::after_writes`].
    #[inline]
    pub fn written(&mut self, source: Rank, at: &Observer) -> bool {
        self.by_rank.entry(source).or_default().1 += 1;
        self.count += 1;
        self.count >= at.window()
    }

    /// A better place for copies of which the one here has these counters, if there is one and
    /// this rank is the object's manager; and the reads here, if they are many.
    pub fn after_writes(
        &mut self,
        now: Statistics,
        manager: Rank,
        at: &Observer,
    ) -> (Option<Site>, Option<u64>) {
        let (reads, times) = (now.reads - self.before.reads, self.times);
        // Ranks have told their reads by the second time.
        let decides = manager == at.own && times > 0;
        let better = if decides { self.better(Site::Replicated, at.ranks) } else { None };
        self.restart(now);
        self.times = times + 1;
        (better, (reads > at.window() / 8).then_some(reads))
    }

    /// A rank tells its reads.
    pub fn told(&mut self, source: Rank, reads: u64) {
        let (told, _) = self.by_rank.entry(source).or_default();
        *told = told.saturating_add(reads);
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

#[cfg(test)]
mod tests;
