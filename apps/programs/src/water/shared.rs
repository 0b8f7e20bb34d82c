//! Molecules in shared regions: where one is, and the forces on it, are a region each, because they
//! are used in other ways.

use weft_app_common::{Blocks, Coherence, RegionRank, Vector};
use weft_region::coherence::{Hint, Policy};
use weft_region::{Mapped, Result};

use crate::water::potential::Atoms;

/// Molecules that are asked for ahead of the one that is needed.
const AHEAD: usize = 8;

/// Nine coordinates, as they lie in a region.
pub type Words = [f64; 9];

/// All molecules, as a rank sees them. Each lives at the rank that moves it.
pub struct SharedWater<'a> {
    /// The job.
    pub shared: &'a RegionRank,
    /// Positions of the atoms: written by one rank, read by half of all.
    pub places: Vec<Mapped<Words>>,
    /// The forces on them: written by one rank after the other. Zeros between steps.
    pub forces: Vec<Mapped<Words>>,
    prefetches: bool,
    /// True if whoever asks for forces gets them to write.
    takes: bool,
}

impl<'a> SharedWater<'a> {
    /// Regions for `molecules` molecules. The hint is given to those that it fits: `update` to
    /// places, `migratory` to forces. Collective.
    ///
    /// # Errors
    /// There is no memory; a peer's breach, a lost rank.
    pub fn new(shared: &'a RegionRank, molecules: usize, coherence: Coherence) -> Result<Self> {
        let policy = coherence.policy();
        let only = |hint| Policy {
            hint: if policy.hint == hint { hint } else { Hint::default() },
            ..policy
        };
        let places = family(shared, molecules, only(Hint::Update))?;
        let forces = family(shared, molecules, only(Hint::Migratory))?;
        let (prefetches, takes) = (coherence.prefetch, policy.hint == Hint::Migratory);
        Ok(SharedWater { shared, places, forces, prefetches, takes })
    }

    /// Index of the place to ask for when that of number `at` in a row of `count` is needed.
    pub fn place_ahead(&self, at: usize, count: usize) -> Option<usize> {
        Some(at + AHEAD).filter(|&ahead| self.prefetches && ahead < count)
    }

    /// Index of the forces to ask for, which are to be written: a copy to read would be of no use.
    pub fn forces_ahead(&self, at: usize, count: usize) -> Option<usize> {
        self.place_ahead(at, count).filter(|_| self.takes)
    }
}

/// A region for each molecule, mapped by all ranks.
fn family(shared: &RegionRank, molecules: usize, policy: Policy) -> Result<Vec<Mapped<Words>>> {
    let blocks = Blocks::new(molecules, shared.size());
    let names = shared.create(policy, |rank| blocks.of(rank).len(), |_| size_of::<Words>())?;
    let name = |molecule: usize| {
        let home = blocks.owner(molecule);
        names.id(home, molecule - blocks.of(home).start)
    };
    (0..molecules).map(|molecule| shared.regions().map(name(molecule))).collect()
}

/// Words of atoms in a region.
pub fn words(atoms: &Atoms) -> Words {
    std::array::from_fn(|word| atoms[word / 3][word % 3])
}

/// Atoms in a region.
pub fn atoms(words: &Words) -> Atoms {
    std::array::from_fn(|atom| Vector(std::array::from_fn(|axis| words[3 * atom + axis])))
}
