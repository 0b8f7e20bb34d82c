//! Backoff of a program that polls: the polls in vain between two pauses.

use std::sync::atomic::{AtomicU32, Ordering};

/// Polls in vain until the next pause. Threads that poll at once may miss some.
#[derive(Default)]
pub(crate) struct Backoff {
    left: AtomicU32,
    /// Those between two pauses, but for the one that pauses.
    in_row: AtomicU32,
}

impl Backoff {
    /// Counts a poll in vain; true if a pause is due.
    #[inline(always)]
    pub fn is_pause_due(&self) -> bool {
        let left = self.left.load(Ordering::Relaxed);
        self.left.store(left.saturating_sub(1), Ordering::Relaxed);
        left == 0
    }

    /// The program has paused, and does so again after this number of polls in vain in a row, which
    /// is one at least.
    pub fn paused(&self, polls: u32) {
        self.in_row.store(polls - 1, Ordering::Relaxed);
        self.begin();
    }

    /// Polls in vain are counted from here on: the program has got what it waited for, and has
    /// something to do. Counted all together, a program that finds its next message at each second
    /// poll would give its core away in the middle of them, and those that wait for it would get
    /// them one by one.
    #[inline]
    pub fn begin(&self) {
        self.left.store(self.in_row.load(Ordering::Relaxed), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests;
