//! An array of keys in regions: each rank is the home of a contiguous part, subdivided into
//! regions, which are what cache lines are to hardware (thesis 8.5.9).

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ops::Range;

use weft_app_common::{Blocks, Family, RegionRank};
use weft_region::coherence::Policy;
use weft_region::{Mapped, Read, RegionId, Result, Write};

/// The array, of which this rank has mapped what it ever used.
pub struct Array<'a> {
    shared: &'a RegionRank,
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
    pub fn new(shared: &'a RegionRank, keys: usize, length: usize, policy: Policy) -> Result<Self> {
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
        self.of(self.shared.rank())
    }

    /// The places of a rank's part.
    pub fn of(&self, rank: usize) -> Range<usize> {
        self.parts.of(rank)
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
        self.mapped_here().try_for_each(Mapped::prefetch)
    }

    /// Asks to be the only one who has this rank's part, to write it.
    pub fn prefetch_to_write(&self) -> Result<()> {
        self.mapped_here().try_for_each(Mapped::prefetch_to_write)
    }

    fn mapped_here(&self) -> impl Iterator<Item = &Mapped<u32>> {
        let me = self.shared.regions().rank();
        self.mapped.iter().filter(move |(id, _)| id.home == me).map(|(_, region)| region)
    }

    /// Opens this rank's part to be written, region by region.
    pub fn write_mine(&self) -> Result<Vec<Write<'_, u32>>> {
        self.mapped_here().map(Mapped::write).collect()
    }

    /// Maps the keys at these places.
    pub fn map(&mut self, mut places: Range<usize>) -> Result<()> {
        while !places.is_empty() {
            let (id, from) = self.find(places.start);
            places.start += self.region(id)?.len() - from;
        }
        Ok(())
    }

    /// Regions that have the keys at these places, which are mapped, with the place of the first
    /// key of each.
    fn mapped_at(&self, mut places: Range<usize>) -> impl Iterator<Item = (usize, &Mapped<u32>)> {
        std::iter::from_fn(move || {
            if places.is_empty() {
                return None;
            }
            let (id, from) = self.find(places.start);
            let (first, region) = (places.start - from, &self.mapped[&id]);
            places.start = first + region.len();
            Some((first, region))
        })
    }

    /// Asks for the keys at these places, which are mapped.
    pub fn prefetch(&self, places: Range<usize>) -> Result<()> {
        self.mapped_at(places).try_for_each(|(_, region)| region.prefetch())
    }

    /// Opens the keys at these places, which are mapped and of one rank, to be read. Shows them to
    /// `look`, region by region.
    pub fn open(
        &self,
        places: Range<usize>,
        mut look: impl FnMut(&[u32]) -> Result<()>,
    ) -> Result<Open<'_>> {
        let mut open = Open { first: places.start, length: self.length, regions: Vec::new() };
        for (first, region) in self.mapped_at(places.clone()) {
            let keys = region.read()?;
            let start = places.start.max(first) - first;
            let end = places.end.min(first + keys.len()) - first;
            look(&keys[start..end])?;
            if open.regions.is_empty() {
                open.first = first;
            }
            open.regions.push(keys);
        }
        Ok(open)
    }

    /// Reads the keys at these places.
    pub fn read(&mut self, places: Range<usize>) -> Result<Vec<u32>> {
        let mut keys = vec![0; places.len()];
        self.read_into(places.start, &mut keys)?;
        Ok(keys)
    }

    /// Reads keys from `place` on, region after region.
    pub fn read_into(&mut self, mut place: usize, mut keys: &mut [u32]) -> Result<()> {
        while !keys.is_empty() {
            let (id, from) = self.find(place);
            let region = self.region(id)?;
            let count = (region.len() - from).min(keys.len());
            let (now, later) = keys.split_at_mut(count);
            now.copy_from_slice(&region.read()?[from..from + count]);
            (place, keys) = (place + count, later);
        }
        Ok(())
    }
}

/// Regions with the keys at consecutive places, open to be read.
pub struct Open<'a> {
    /// Place of the first key of the first.
    first: usize,
    /// Keys of each but the last.
    length: usize,
    regions: Vec<Read<'a, u32>>,
}

impl Open<'_> {
    /// The keys at some of these places.
    pub fn slices(&self, mut places: Range<usize>) -> impl Iterator<Item = &[u32]> {
        std::iter::from_fn(move || {
            if places.is_empty() {
                return None;
            }
            let at = places.start - self.first;
            let keys = &self.regions[at / self.length][at % self.length..];
            let count = keys.len().min(places.len());
            places.start += count;
            Some(&keys[..count])
        })
    }
}

#[cfg(test)]
mod tests;
