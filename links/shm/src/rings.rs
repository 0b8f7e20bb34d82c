//! The rings to a rank, and which of them it polls.
//!
//! Any thread may ask at any time whether something has come ([`Glance::is_idle`]), without the lock
//! around the link: one that is told no is told what it could have seen a moment ago.

use crate::doorbell::HOT;
use crate::memory::Cursor;
use crate::ring::Consumer;
use crate::segment::Control;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Acquire, Ordering::Relaxed};
use weft_link::Glance;

/// The rings to a rank, by sender.
pub struct Rings {
    rings: Box<[Consumer<Cursor>]>,
    /// The senders whose rings are polled: the first `hots` of these.
    hot: [AtomicUsize; HOT],
    hots: AtomicUsize,
    /// Rings that were announced and not found empty since, a bit each.
    announced: AtomicU64,
    control: Control,
}

impl Rings {
    pub(crate) fn new(rings: Box<[Consumer<Cursor>]>, control: Control) -> Self {
        let (hot, hots) = Default::default();
        Rings { rings, hot, hots, announced: AtomicU64::new(0), control }
    }

    /// The ring of `sender`.
    #[inline(always)]
    pub(crate) fn of(&self, sender: usize) -> &Consumer<Cursor> {
        &self.rings[sender]
    }

    /// True if there is a packet in the ring of `sender`.
    #[inline(always)]
    pub(crate) fn is_full(&self, sender: usize) -> bool {
        self.rings[sender].has_next()
    }

    /// The senders whose rings are polled.
    #[inline(always)]
    pub(crate) fn hot(&self) -> impl Iterator<Item = usize> {
        self.hot.iter().take(self.hots.load(Relaxed)).map(|sender| sender.load(Relaxed))
    }

    /// The number of senders whose rings are polled.
    #[inline]
    pub(crate) fn hots(&self) -> usize {
        self.hots.load(Relaxed)
    }

    /// Polls the ring of `sender`, as number `at` of those that are polled: in place of another one,
    /// or as one more.
    pub(crate) fn set_hot(&self, at: usize, sender: usize) {
        self.hot[at].store(sender, Relaxed);
        self.hots.store(self.hots().max(at + 1), Relaxed);
    }

    #[inline]
    pub(crate) fn announced(&self) -> u64 {
        self.announced.load(Relaxed)
    }

    /// Whoever takes slots writes these bits, nobody else.
    #[inline]
    pub(crate) fn set_announced(&self, announced: u64) {
        self.announced.store(announced, Relaxed);
    }

    /// True if a ring that is polled is full.
    #[inline(always)]
    pub(crate) fn is_any_hot_full(&self) -> bool {
        for sender in self.hot() {
            if self.is_full(sender) {
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
        !self.is_any_hot_full()
            && attention.load(Acquire) | self.announced() == 0
            && loss.load(Relaxed) == 0
    }
}
