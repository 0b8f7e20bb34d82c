//! A table with an entry for each rank, made in pages as ranks are met: most talk to few others.

use weft_packet::Rank;

const PAGE: usize = 16;

/// A `T` for each rank; those never touched take no memory.
pub(crate) struct ByRank<T> {
    pages: Vec<Option<Box<[T; PAGE]>>>,
}

impl<T> Default for ByRank<T> {
    fn default() -> Self {
        ByRank { pages: Vec::new() }
    }
}

impl<T: Default> ByRank<T> {
    /// The entry of `rank`, if it was touched.
    #[inline]
    pub fn get(&self, rank: Rank) -> Option<&T> {
        let page = self.pages.get(rank.index() / PAGE)?.as_ref()?;
        Some(&page[rank.index() % PAGE])
    }

    /// As [`Self::get`], to change it.
    #[inline]
    pub fn get_mut(&mut self, rank: Rank) -> Option<&mut T> {
        let page = self.pages.get_mut(rank.index() / PAGE)?.as_mut()?;
        Some(&mut page[rank.index() % PAGE])
    }

    /// The entries of all ranks on pages that were touched.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.pages.iter().flatten().flat_map(|page| page.iter())
    }

    /// The entry of `rank`.
    #[inline]
    pub fn entry(&mut self, rank: Rank) -> &mut T {
        let page = rank.index() / PAGE;
        if !matches!(self.pages.get(page), Some(Some(_))) {
            self.add_page(page);
        }
        match &mut self.pages[page] {
            Some(entries) => &mut entries[rank.index() % PAGE],
            None => unreachable!("the page was just made"),
        }
    }

    #[cold]
    fn add_page(&mut self, page: usize) {
        if self.pages.len() <= page {
            self.pages.resize_with(page + 1, || None);
        }
        self.pages[page] = Some(Box::new(std::array::from_fn(|_| T::default())));
    }
}
