//! Words of all ranks in shared memory.

use crate::doorbell::Doorbell;
use crate::memory::View;
use crate::segment::Segment;
use std::sync::atomic::{AtomicU64, Ordering};
use weft_link::SharedWords;
use weft_wire::{Atomic, Rank};

/// Words of atomic operations and shared arenas of all ranks.
pub(crate) struct Words {
    words: Vec<View<AtomicU64>>,
    arenas: Vec<View<AtomicU64>>,
    doorbells: Vec<Doorbell>,
}

impl Words {
    /// Words in these segments, as rank `own` has them.
    pub fn new(segments: &[Segment], own: Rank) -> Self {
        let doorbell = |segment: &Segment| Doorbell::new(&segment.control(), own);
        Words {
            words: segments.iter().map(Segment::words).collect(),
            arenas: segments.iter().map(Segment::arena).collect(),
            doorbells: segments.iter().map(doorbell).collect(),
        }
    }

    #[inline]
    fn word(&self, home: Rank, index: u16) -> &AtomicU64 {
        // A view ends with its rank's last word.
        &self.words[home.index()][8 * usize::from(index)]
    }
}

impl SharedWords for Words {
    fn atomic(&self, home: Rank, index: u16, operation: Atomic) -> u64 {
        let word = self.word(home, index);
        match operation {
            Atomic::Add(amount) => word.fetch_add(amount, Ordering::SeqCst),
            Atomic::Swap(new) => word.swap(new, Ordering::SeqCst),
            Atomic::CompareSwap { expected, new } => {
                let swapped =
                    word.compare_exchange(expected, new, Ordering::SeqCst, Ordering::SeqCst);
                swapped.unwrap_or_else(|found| found)
            }
            Atomic::Min(value) => word.fetch_min(value, Ordering::SeqCst),
            Atomic::Max(value) => word.fetch_max(value, Ordering::SeqCst),
            Atomic::And(mask) => word.fetch_and(mask, Ordering::SeqCst),
            Atomic::Or(mask) => word.fetch_or(mask, Ordering::SeqCst),
            Atomic::Xor(mask) => word.fetch_xor(mask, Ordering::SeqCst),
        }
    }

    #[inline]
    fn fetch_add(&self, home: Rank, index: u16, amount: u64) -> u64 {
        self.word(home, index).fetch_add(amount, Ordering::SeqCst)
    }

    #[inline]
    fn load(&self, home: Rank, index: u16) -> u64 {
        self.word(home, index).load(Ordering::Acquire)
    }

    #[inline]
    fn arena(&self, home: Rank) -> &[AtomicU64] {
        &self.arenas[home.index()]
    }

    fn wake_sleepers(&self) {
        for doorbell in &self.doorbells {
            doorbell.wake_host();
        }
    }
}
