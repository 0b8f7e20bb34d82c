//! Sets of ranks that are few, mostly.

use weft_endpoint::Rank;

/// Ranks in order, each once. They lie side by side: a node of a tree for one reader costs more
/// than what it is asked.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Ranks(Vec<Rank>);

impl Ranks {
    /// True if there is none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// True if `rank` is one of them.
    #[inline]
    pub fn contains(&self, rank: Rank) -> bool {
        self.0.binary_search(&rank).is_ok()
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = Rank> + '_ {
        self.0.iter().copied()
    }

    #[inline]
    pub(super) fn insert(&mut self, rank: Rank) {
        if let Err(at) = self.0.binary_search(&rank) {
            self.0.insert(at, rank);
        }
    }

    /// Removes `rank`; true if it was one of them.
    #[inline]
    pub(super) fn remove(&mut self, rank: Rank) -> bool {
        let found = self.0.binary_search(&rank);
        found.map(|at| self.0.remove(at)).is_ok()
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

impl Extend<Rank> for Ranks {
    fn extend<I: IntoIterator<Item = Rank>>(&mut self, ranks: I) {
        ranks.into_iter().for_each(|rank| self.insert(rank));
    }
}
