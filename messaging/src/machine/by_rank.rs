//! A table with an entry for each rank, as far as ranks are met.

use weft_endpoint::Rank;

/// Entries that are made at once.
const PAGE: usize = 16;

/// A `T` for each rank; those above all that were touched take no memory.
#[derive(Clone, Hash)]
pub struct ByRank<T>(Vec<T>);

impl<T> Default for ByRank<T> {
    fn default() -> Self {
        ByRank(Vec::new())
    }
}

impl<T: Default> ByRank<T> {
    /// The entry of `rank`, if it is there.
    #[inline]
    pub fn get(&self, rank: Rank) -> Option<&T> {
        self.0.get(rank.index())
    }

    /// Does what [`Self::get`] does, to change the element.
    #[inline]
    pub fn get_mut(&mut self, rank: Rank) -> Option<&mut T> {
        self.0.get_mut(rank.index())
    }

    /// All entries that are there.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.0.iter()
    }

    /// The entry of `rank`.
    #[inline]
    pub fn entry(&mut self, rank: Rank) -> &mut T {
        if rank.index() >= self.0.len() {
            self.grow(rank.index());
        }
        &mut self.0[rank.index()]
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, index: usize) {
        self.0.resize_with((index + 1).next_multiple_of(PAGE), T::default);
    }
}
