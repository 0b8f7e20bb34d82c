//! Bodies and cells in shared regions, a small one for each (thesis 8.5.4).

use weft_app_common::{Blocks, Coherence, Family, RegionRank};
use weft_region::coherence::Policy;
use weft_region::{Mapped, Result};

use crate::barnes::body::{Body, BodyWords};
use crate::barnes::cell::{Cell, CellWords, Child, Part};
use crate::barnes::force::Sky;

/// This rank's view of them.
///
/// Body `i` lives at the rank that [`Blocks`] gives it. Cell `c` lives at rank `c % ranks`, which
/// creates it when it needs one, and uses it again in the next step. A region that was mapped once
/// stays mapped.
pub struct SharedSky<'a> {
    shared: &'a RegionRank,
    blocks: Blocks,
    names: Family,
    bodies: Vec<Option<Mapped<BodyWords>>>,
    /// By rank, and by their number there.
    cells: Vec<Vec<Option<Mapped<CellWords>>>>,
    /// Cells that this rank has created.
    created: usize,
    cell_policy: Policy,
    prefetches: bool,
}

impl<'a> SharedSky<'a> {
    /// Creates regions for `bodies` bodies. Collective.
    ///
    /// # Errors
    /// There is no memory; a peer's breach, a lost rank.
    pub fn new(shared: &'a RegionRank, bodies: usize, coherence: Coherence) -> Result<Self> {
        let ranks = shared.size();
        let blocks = Blocks::new(bodies, ranks);
        let of = |rank: usize| blocks.of(rank).len();
        let names = shared.create(coherence.policy(), of, |_| size_of::<BodyWords>())?;
        Ok(SharedSky {
            shared,
            blocks,
            names,
            bodies: (0..bodies).map(|_| None).collect(),
            cells: (0..ranks).map(|_| Vec::new()).collect(),
            created: 0,
            cell_policy: Policy {
                three_party: coherence.policy().three_party,
                ..Policy::default()
            },
            prefetches: coherence.prefetch,
        })
    }

    /// Puts this rank's block of the bodies where they begin, all of which are in `bodies`.
    ///
    /// # Errors
    /// A peer's breach, a lost rank.
    pub fn begin(&mut self, bodies: &[Body]) -> Result<()> {
        for body in self.blocks.of(self.shared.rank()) {
            self.write_body(body as u32, &bodies[body])?;
        }
        Ok(())
    }

    /// The job.
    pub fn shared(&self) -> &'a RegionRank {
        self.shared
    }

    /// A body, all of it.
    ///
    /// # Errors
    /// As all accesses: a peer's breach, a lost rank.
    pub fn whole_body(&mut self, number: u32) -> Result<Body> {
        Ok(Body::from_words(&self.map_body(number)?.read()?[0]))
    }

    /// Writes a body.
    ///
    /// # Errors
    /// A peer's breach, a lost rank.
    pub fn write_body(&mut self, number: u32, body: &Body) -> Result<()> {
        self.map_body(number)?.write()?[0] = body.to_words();
        Ok(())
    }

    /// Changes a cell, while nobody else is in it. Returns what `change` does.
    ///
    /// # Errors
    /// A peer's breach, a lost rank.
    pub fn change_cell<T>(
        &mut self,
        number: u32,
        change: impl FnOnce(&mut Cell) -> T,
    ) -> Result<T> {
        let mut words = self.map_cell(number)?.write()?;
        let mut cell = Cell::from_words(&words[0]);
        let outcome = change(&mut cell);
        words[0] = cell.to_words();
        Ok(outcome)
    }

    /// Makes the `serial`-th cell of this rank this one. Returns its number.
    ///
    /// # Errors
    /// There is no memory; a peer's breach, a lost rank.
    pub fn plant(&mut self, serial: usize, cell: &Cell) -> Result<u32> {
        let number = self.number(serial);
        while self.created <= serial {
            self.created += 1;
            self.shared.create_one(self.cell_policy, size_of::<CellWords>())?;
        }
        self.map_cell(number)?.write()?[0] = cell.to_words();
        Ok(number)
    }

    /// The number of the `serial`-th cell of this rank.
    pub fn number(&self, serial: usize) -> u32 {
        (serial * self.shared.size() + self.shared.rank()) as u32
    }

    fn map_body(&mut self, number: u32) -> Result<&Mapped<BodyWords>> {
        let (shared, blocks, names) = (self.shared, self.blocks, &self.names);
        kept(&mut self.bodies[number as usize], || {
            let home = blocks.owner(number as usize);
            let id = names.id(home, number as usize - blocks.of(home).start);
            shared.regions().map(id)
        })
    }

    fn map_cell(&mut self, number: u32) -> Result<&Mapped<CellWords>> {
        let ranks = self.shared.size();
        let (home, serial) = (number as usize % ranks, number as usize / ranks);
        let cells = &mut self.cells[home];
        if cells.len() <= serial {
            cells.resize_with(serial + 1, || None);
        }
        let (shared, blocks, names) = (self.shared, self.blocks, &self.names);
        kept(&mut cells[serial], || {
            // They come after the bodies that live there.
            shared.regions().map(names.id(home, blocks.of(home).len() + serial))
        })
    }
}

impl Sky for SharedSky<'_> {
    type Error = weft_region::Error;

    fn cell(&mut self, number: u32) -> Result<Cell> {
        Ok(Cell::from_words(&self.map_cell(number)?.read()?[0]))
    }

    fn body(&mut self, number: u32) -> Result<Part> {
        Ok(self.whole_body(number)?.part())
    }

    fn announce(&mut self, children: &[Child; 8]) -> Result<()> {
        if !self.prefetches {
            return Ok(());
        }
        children.iter().try_for_each(|&child| match child {
            Child::Empty => Ok(()),
            Child::Body(body) => self.map_body(body)?.prefetch(),
            Child::Cell(cell) => self.map_cell(cell)?.prefetch(),
        })
    }
}

/// Region in `place`, mapped if it is not yet.
fn kept<T>(
    place: &mut Option<Mapped<T>>,
    map: impl FnOnce() -> Result<Mapped<T>>,
) -> Result<&Mapped<T>> {
    if place.is_none() {
        *place = Some(map()?);
    }
    place.as_ref().map_or_else(|| unreachable!("it has just been mapped"), Ok)
}
