//! Control of a job's network by a test, while the job runs, and its observations.

use crate::wire::lock;
use std::collections::VecDeque;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use weft_datagram::Counters;
use weft_link::bell::{Bells, Loss};
use weft_netns::adversary::{Attack, Kept};
use weft_wire::Rank;

/// Datagrams that are kept at most, for whoever wants to send them again.
const KEPT: usize = 64;

/// The network of one job, as others get at it. Ranks above 63 cannot be cut off.
#[derive(Default)]
pub struct Tap {
    cut: AtomicU64,
    pub(crate) passed: AtomicU64,
    pub(crate) touched: AtomicU64,
    /// True if datagrams are kept, and adversaries send.
    hostile: AtomicBool,
    kept: Mutex<VecDeque<Kept>>,
    attacks: [AtomicU64; Attack::ALL.len()],
    counters: Mutex<Vec<Counters>>,
    bells: Mutex<Vec<(Rank, Arc<dyn Bells>)>>,
}

impl std::fmt::Debug for Tap {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tap").finish_non_exhaustive()
    }
}

impl Tap {
    /// A tap that stays for as long as the test's process.
    pub fn new() -> &'static Tap {
        Box::leak(Box::default())
    }

    /// From here on nothing gets to `rank` or from it.
    pub fn cut(&self, rank: Rank) {
        self.cut.fetch_or(1 << rank.0, Relaxed);
    }

    /// All can be reached again.
    pub fn mend(&self) {
        self.cut.store(0, Relaxed);
    }

    /// Announces a loss to `rank` alone, as its host does.
    pub fn announce(&self, rank: Rank, loss: Loss) {
        let all = lock(&self.bells);
        all.iter().filter(|(own, _)| *own == rank).for_each(|(_, bells)| bells.announce(loss));
    }

    /// Datagrams that ranks have sent so far.
    pub fn passed(&self) -> u64 {
        self.passed.load(Relaxed)
    }

    /// Adversaries begin to send as much as they can, or end it.
    pub fn set_hostile(&self, hostile: bool) {
        self.hostile.store(hostile, Relaxed);
    }

    /// Number of frames of this kind that adversaries sent.
    pub fn attacks(&self, kind: Attack) -> u64 {
        self.attacks[kind as usize].load(Relaxed)
    }

    /// Counters of the links of all ranks, once the job is over, in no order.
    pub fn counters(&self) -> Vec<Counters> {
        lock(&self.counters).clone()
    }

    pub(crate) fn is_hostile(&self) -> bool {
        self.hostile.load(Relaxed)
    }

    pub(crate) fn is_cut(&self, from: usize, to: usize) -> bool {
        let cut = self.cut.load(Relaxed);
        [from, to].into_iter().any(|rank| rank < 64 && cut >> rank & 1 != 0)
    }

    pub(crate) fn keep(&self, to: usize, bytes: &[u8]) {
        let mut kept = lock(&self.kept);
        if kept.len() == KEPT {
            kept.pop_front();
        }
        kept.push_back(Kept { to, bytes: bytes.to_vec() });
    }

    /// One of the datagrams that passed before the last few, which may be under way still.
    pub(crate) fn any_kept(&self, random: &mut fastrand::Rng) -> Option<Kept> {
        let kept = lock(&self.kept);
        let old = kept.len().checked_sub(KEPT / 2).filter(|&old| old > 0)?;
        kept.get(random.usize(0..old)).cloned()
    }

    pub(crate) fn attacked(&self, kind: Attack) {
        self.attacks[kind as usize].fetch_add(1, Relaxed);
    }

    pub(crate) fn attached(&self, rank: Rank, bells: Arc<dyn Bells>) {
        lock(&self.bells).push((rank, bells));
    }

    pub(crate) fn detached(&self, counters: Counters) {
        lock(&self.counters).push(counters);
    }
}
