//! Rings to a rank, and the hot ones among them, which it polls.
//!
//! Any thread may glance at them at any time ([`Glance::is_idle`]), without the lock around the
//! link. The answer is what was true a moment ago.

use crate::control::{Control, bit_of, groups_of};
use crate::doorbell::HOT;
use crate::memory::Cursor;
use crate::ring::Consumer;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Acquire, Ordering::Relaxed};
use weft_link::Glance;

/// Rings to a rank, by sender.
pub struct Rings {
    rings: Box<[Consumer<Cursor>]>,
    /// Senders whose rings are polled: the first `hot_count` entries.
    hot: [AtomicUsize; HOT],
    hot_count: AtomicUsize,
    /// Groups of rings of which some were announced, and not found empty since, a bit each.
    announced: AtomicU64,
    /// These rings, a bit each, a word a group.
    announced_in: Box<[AtomicU64]>,
    control: Control,
}

impl Rings {
    pub(crate) fn new(rings: Box<[Consumer<Cursor>]>, control: Control) -> Self {
        let (hot, hot_count, announced) = Default::default();
        let announced_in = (0..groups_of(rings.len())).map(|_| AtomicU64::new(0)).collect();
        Rings { rings, hot, hot_count, announced, announced_in, control }
    }

    /// Ring from `sender`.
    #[inline(always)]
    pub(crate) fn of(&self, sender: usize) -> &Consumer<Cursor> {
        &self.rings[sender]
    }

    /// True if there is a packet in the ring from `sender`.
    #[inline(always)]
    pub(crate) fn has_packet(&self, sender: usize) -> bool {
        self.rings[sender].has_next()
    }

    /// Senders whose rings are polled.
    #[inline(always)]
    pub(crate) fn hot(&self) -> impl Iterator<Item = usize> {
        self.hot.iter().take(self.hot_count.load(Relaxed)).map(|sender| sender.load(Relaxed))
    }

    /// Number of senders whose rings are polled.
    #[inline]
    pub(crate) fn hot_count(&self) -> usize {
        self.hot_count.load(Relaxed)
    }

    /// Makes the ring from `sender` hot, as number `at` of the hot ones: in place of another one,
    /// or as one more.
    pub(crate) fn set_hot(&self, at: usize, sender: usize) {
        self.hot[at].store(sender, Relaxed);
        self.hot_count.store(self.hot_count().max(at + 1), Relaxed);
    }

    /// Makes the ring from `sender` the first hot one. Those before number `at` move on by one, in
    /// place of that one; none of them is missing meanwhile.
    pub(crate) fn put_first(&self, sender: usize, at: usize) {
        for at in (1..=at).rev() {
            self.set_hot(at, self.hot[at - 1].load(Relaxed));
        }
        self.set_hot(0, sender);
    }

    /// Groups of which rings are announced, a bit each.
    #[inline]
    pub(crate) fn announced(&self) -> u64 {
        self.announced.load(Relaxed)
    }

    /// Rings of a group that are announced, a bit each.
    #[inline]
    pub(crate) fn announced_in(&self, group: usize) -> u64 {
        self.announced_in[group].load(Relaxed)
    }

    /// Sets the announced rings of a group. Only the thread that takes slots may.
    #[inline]
    pub(crate) fn set_announced(&self, group: usize, rings: u64) {
        self.announced_in[group].store(rings, Relaxed);
        let others = self.announced() & !bit_of(group);
        self.announced.store(others | u64::from(rings != 0) << group, Relaxed);
    }

    /// True if there is a packet in a hot ring.
    #[inline(always)]
    pub(crate) fn has_hot_packet(&self) -> bool {
        for sender in self.hot() {
            if self.has_packet(sender) {
                return true;
            }
        }
        false
    }
}

impl Glance for Rings {
    #[inline(always)]
    fn is_idle(&self) -> bool {
        let Control { attention, loss, .. } = &self.control;
        !self.has_hot_packet()
            && attention.load(Acquire) | self.announced() == 0
            && loss.load(Relaxed) == 0
    }
}
