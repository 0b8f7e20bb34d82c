//! The regions that a node knows, by their names.

use super::slot::Slot;
use crate::RegionId;
use std::collections::BTreeMap;
use std::sync::Arc;
use weft_endpoint::Rank;
use weft_endpoint::biased::Biased;

/// Regions of a page. Homes count theirs from 0, so that few pages have places that stay empty.
const PAGE: usize = 64;

/// Pages of regions that follow one another at one home, so that finding one seldom takes more than
/// a comparison.
#[derive(Default)]
pub(super) struct Slots(BTreeMap<u64, Box<Page>>);

type Page = [Option<Arc<Biased<Slot>>>; PAGE];

impl Slots {
    #[inline]
    pub(super) fn get(&self, id: RegionId) -> Option<&Arc<Biased<Slot>>> {
        let (page, place) = place(id);
        self.0.get(&page)?[place].as_ref()
    }

    /// Has a region of this name, which is what `make` makes if there was none.
    pub(super) fn add(&mut self, id: RegionId, make: impl FnOnce() -> Biased<Slot>) {
        let (page, place) = place(id);
        let page = self.0.entry(page).or_insert_with(|| Box::new([const { None }; PAGE]));
        page[place].get_or_insert_with(|| Arc::new(make()));
    }

    pub(super) fn remove(&mut self, id: RegionId) {
        let (number, place) = place(id);
        let Some(page) = self.0.get_mut(&number) else { return };
        page[place] = None;
        if page.iter().all(Option::is_none) {
            self.0.remove(&number);
        }
    }

    /// All of them, with their names.
    pub(super) fn iter(&self) -> impl Iterator<Item = (RegionId, &Arc<Biased<Slot>>)> {
        self.0.iter().flat_map(|(&number, page)| {
            let name = move |place| RegionId {
                home: Rank((number >> 32) as u16),
                index: (number as u32 as usize * PAGE + place) as u32,
            };
            let slots = page.iter().enumerate();
            slots.filter_map(move |(place, slot)| Some((name(place), slot.as_ref()?)))
        })
    }
}

/// Its page, and its place there.
#[inline]
fn place(RegionId { home, index }: RegionId) -> (u64, usize) {
    let (page, place) = (index as usize / PAGE, index as usize % PAGE);
    (u64::from(home.0) << 32 | page as u64, place)
}
