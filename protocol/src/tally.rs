//! Counts that are kept for checks alone.

use std::hash::{Hash, Hasher};

/// A count, which wraps around: two that belong together differ by a window at most. Nothing
/// depends on it but checks, so two states that differ in nothing else are equal.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Tally(u16);

impl Tally {
    /// So many more.
    #[inline(always)]
    pub fn add(&mut self, count: u16) {
        self.0 = self.0.wrapping_add(count);
    }

    /// Takes `count` back: they were counted and are none.
    #[inline]
    pub fn take(&mut self, count: u16) {
        self.0 = self.0.wrapping_sub(count);
    }

    /// The difference from `other`, which may be ahead.
    pub fn beyond(self, other: Self) -> i32 {
        i32::from(self.0.wrapping_sub(other.0) as i16)
    }
}

impl PartialEq for Tally {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Tally {}

impl Hash for Tally {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}
