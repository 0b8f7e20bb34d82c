//! A rank's stripe of the matrix, in regions.
//!
//! The matrix is divided into P x P blocks, a region each, and each rank is the home of a stripe of
//! P (thesis 8.5.5). A region moves when the matrix is transposed: the block that rank p had of
//! columns of q is, turned by rank q, what q has of columns of p. So q takes the region from p by a
//! write miss, which brings the block in one message, and the next time p takes it back. Nobody
//! fetches what it will not use, and nothing is copied twice.

use crate::fft::complex::Complex;
use crate::fft::plan::{MOVE, Plan};
use crate::fft::sequential::turn;
use weft_app_common::{Blocks, Coherence, Family, RegionRank};
use weft_region::{Mapped, Result, Write};

/// The blocks of all ranks, of which this rank has mapped those that it ever uses.
pub struct Stripe<'a> {
    shared: &'a RegionRank,
    plan: &'a Plan,
    coherence: Coherence,
    /// Rows, and columns, divided among the ranks.
    parts: Blocks,
    family: Family,
    /// The blocks that this rank created, by whose columns they are, and those of its columns that
    /// others created.
    own: Vec<Mapped<Complex>>,
    theirs: Vec<Mapped<Complex>>,
    /// True if each block is in the hands of the rank whose columns it was.
    turned: bool,
    /// Room to turn a block in that is not square.
    room: Vec<Complex>,
}

impl<'a> Stripe<'a> {
    /// Creates, fills and maps the regions. Collective.
    pub fn new(shared: &'a RegionRank, plan: &'a Plan, coherence: Coherence) -> Result<Self> {
        let (me, ranks) = (shared.rank(), shared.size());
        let parts = Blocks::new(plan.side, ranks);
        let mine = parts.of(me);
        let bytes_of = |other| mine.len() * parts.of(other).len() * size_of::<Complex>();
        let family = shared.create(coherence.policy(), |_| ranks, bytes_of)?;
        let map = |home, number| shared.regions().map::<Complex>(family.id(home, number));
        let own = (0..ranks).map(|other| map(me, other)).collect::<Result<Vec<_>>>()?;
        let theirs = (0..ranks).map(|other| map(other, me)).collect::<Result<Vec<_>>>()?;
        if coherence.prefetch {
            visit(shared, &theirs)?;
        }
        for (other, block) in own.iter().enumerate() {
            let columns = parts.of(other);
            let places =
                mine.clone().flat_map(|row| columns.clone().map(move |column| (row, column)));
            let mut block = block.write()?;
            block.iter_mut().zip(places).for_each(|(value, (row, column))| {
                *value = plan.input(row, column);
            });
        }
        let is_square = |other| parts.of(other).len() == mine.len();
        let largest = own.iter().map(Mapped::len).max().filter(|_| !(0..ranks).all(is_square));
        let room = vec![Complex::default(); largest.unwrap_or(0)];
        Ok(Stripe { shared, plan, coherence, parts, family, own, theirs, turned: false, room })
    }

    /// Transforms the matrix. Collective.
    pub fn transform(&mut self) -> Result<()> {
        for first in [true, false] {
            self.transpose()?;
            self.transform_rows(first)?;
        }
        self.transpose()
    }

    /// The block that this rank has of `other`'s columns.
    fn block(&self, other: usize) -> &Mapped<Complex> {
        if self.turned { &self.theirs[other] } else { &self.own[other] }
    }

    /// Takes the blocks that others had of this rank's columns, beginning with the rank after this
    /// one, so that not all ask the same at once.
    fn transpose(&mut self) -> Result<()> {
        // Everybody is done with what it had.
        self.shared.barrier()?;
        self.turned = !self.turned;
        let (me, ranks) = (self.shared.rank(), self.shared.size());
        let width = self.parts.of(me).len();
        let others = (1..=ranks).map(|step| (me + step) % ranks);
        if self.coherence.prefetch {
            others.clone().try_for_each(|other| self.block(other).prefetch())?;
        }
        for other in others {
            // Not by `block`: room is taken meanwhile.
            let blocks = if self.turned { &self.theirs } else { &self.own };
            let mut block = blocks[other].write()?;
            turn(&mut block, width, &mut self.room);
            self.shared.work(MOVE * block.len());
        }
        Ok(())
    }

    fn transform_rows(&self, first: bool) -> Result<()> {
        let ranks = 0..self.shared.size();
        let blocks = ranks.map(|other| self.block(other).write());
        let mut blocks: Vec<Write<'_, Complex>> = blocks.collect::<Result<_>>()?;
        let mut row = vec![Complex::default(); self.plan.side];
        for (local, number) in self.parts.of(self.shared.rank()).enumerate() {
            for (other, block) in blocks.iter().enumerate() {
                let columns = self.parts.of(other);
                let width = columns.len();
                row[columns].copy_from_slice(&block[local * width..][..width]);
            }
            self.plan.transform(&mut row, first.then_some(number));
            for (other, block) in blocks.iter_mut().enumerate() {
                let columns = self.parts.of(other);
                block[local * columns.len()..][..columns.len()].copy_from_slice(&row[columns]);
            }
            self.shared.work(self.plan.operations(first));
        }
        Ok(())
    }

    /// The whole matrix as it is now: nobody writes meanwhile.
    pub fn whole(&self) -> Result<Vec<Complex>> {
        let (side, ranks) = (self.plan.side, self.shared.size());
        let mut matrix = vec![Complex::default(); side * side];
        for (of, other) in (0..ranks * ranks).map(|pair| (pair / ranks, pair % ranks)) {
            let (home, number) = if self.turned { (other, of) } else { (of, other) };
            let region: Mapped<Complex> =
                self.shared.regions().map(self.family.id(home, number))?;
            let (block, columns) = (region.read()?, self.parts.of(other));
            let rows = self.parts.of(of);
            for (values, row) in block.chunks_exact(columns.len()).zip(rows) {
                matrix[row * side..][columns.clone()].copy_from_slice(values);
            }
        }
        Ok(matrix)
    }
}

/// Has each of these blocks here for once, before time counts: memory in which it is received, and
/// by which it is sent and sent back, is made when it is first touched. Collective.
fn visit(shared: &RegionRank, blocks: &[Mapped<Complex>]) -> Result<()> {
    for block in blocks {
        block.write()?.fill(Complex::default());
    }
    shared.barrier()
}
