//! An array of keys in regions: each rank is the home of a contiguous part, subdivided into
//! regions, which are what cache lines are to hardware (thesis 8.5.9).

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ops::Range;

use weft_app_common::{Blocks, Family, Shared};
use weft_region::coherence::Policy;
use weft_region::{Mapped, RegionId, Result};

/// The array, of which this rank has mapped what it ever used.
pub struct Array<'a> {
    shared: &'a Shared,
    /// Keys divided among the ranks.
    parts: Blocks,
    /// Keys of a region.
    length: usize,
    family: Family,
    mapped: BTreeMap<RegionId, Mapped<u32>>,
}

impl<'a> Array<'a> {
    /// An array of `keys` zeros in regions of `length` keys, the last of each rank of what is left.
    /// Collective.
    pub fn new(shared: &'a Shared, keys: usize, length: usize, policy: Policy) -> Result<Self> {
        let parts = Blocks::new(keys, shared.size());
        let count_of = |rank| parts.of(rank).len().div_ceil(length);
        let mine = parts.of(shared.rank()).len();
        let bytes_of = |number: usize| (mine - number * length).min(length) * size_of::<u32>();
        let family = shared.create(policy, count_of, bytes_of)?;
        let mut array = Array { shared, parts, length, family, mapped: BTreeMap::new() };
        let me = shared.rank();
        for number in 0..count_of(me) {
            array.region(array.family.id(me, number))?;
        }
        Ok(array)
    }

    /// The places of this rank's part.
    pub fn mine(&self) -> Range<usize> {
        self.parts.of(self.shared.rank())
    }

    fn region(&mut self, id: RegionId) -> Result<&Mapped<u32>> {
        Ok(match self.mapped.entry(id) {
            Entry::Occupied(mapped) => mapped.into_mut(),
            Entry::Vacant(place) => place.insert(self.shared.regions().map(id)?),
        })
    }

    /// The region that has the key at `place`, and where in it.
    fn find(&self, place: usize) -> (RegionId, usize) {
        let rank = self.parts.owner(place);
        let inside = place - self.parts.of(rank).start;
        (self.family.id(rank, inside / self.length), inside % self.length)
    }

    /// Writes `keys` from `place` on, region after region.
    pub fn write(&mut self, mut place: usize, mut keys: &[u32]) -> Result<()> {
        while !keys.is_empty() {
            let (id, from) = self.find(place);
            let region = self.region(id)?;
            let (now, later) = keys.split_at((region.len() - from).min(keys.len()));
            region.write()?[from..from + now.len()].copy_from_slice(now);
            (place, keys) = (place + now.len(), later);
        }
        Ok(())
    }

    /// Asks for what others have written into this rank's part.
    pub fn prefetch_mine(&self) -> Result<()> {
        let me = self.shared.regions().rank();
        let mine = self.mapped.iter().filter(|(id, _)| id.home == me);
        mine.map(|(_, region)| region).try_for_each(Mapped::prefetch)
    }

    /// Reads the keys at these places.
    pub fn read(&mut self, places: Range<usize>) -> Result<Vec<u32>> {
        let mut keys = Vec::with_capacity(places.len());
        while keys.len() < places.len() {
            let (id, from) = self.find(places.start + keys.len());
            let left = places.len() - keys.len();
            let region = self.region(id)?;
            keys.extend_from_slice(&region.read()?[from..region.len().min(from + left)]);
        }
        Ok(keys)
    }
}

#[cfg(test)]
mod tests;
