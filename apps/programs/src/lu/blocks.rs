//! A rank's part of the factorisation, in regions.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::lu::kernels::{divide_below, divide_right, factorise, subtract_product};
use crate::lu::layout::Layout;
use crate::lu::matrix::{BlockIndex, Matrix};
use weft_app_common::{Coherence, Family, RegionRank};
use weft_region::{Mapped, Read, Result};

/// The blocks, of which this rank has mapped those that it ever uses: its own, and others of their
/// rows and columns.
pub struct Blocks<'a> {
    shared: &'a RegionRank,
    matrix: Matrix,
    layout: Layout,
    coherence: Coherence,
    family: Family,
    mapped: BTreeMap<BlockIndex, Mapped<f64>>,
}

impl<'a> Blocks<'a> {
    /// Creates, fills and maps the regions. Collective.
    pub fn new(shared: &'a RegionRank, matrix: Matrix, coherence: Coherence) -> Result<Self> {
        let (me, count) = (shared.rank(), matrix.blocks());
        let layout = Layout::new(count, shared.size());
        let bytes_of = |number| {
            let (row, column) = layout.place(me, number);
            matrix.length(row) * matrix.length(column) * size_of::<f64>()
        };
        let family = shared.create(coherence.policy(), |rank| layout.count_of(rank), bytes_of)?;
        let places = (0..count * count).map(|index| (index / count, index % count));
        let mut blocks =
            Blocks { shared, matrix, layout, coherence, family, mapped: BTreeMap::new() };
        let used =
            |&(row, column): &BlockIndex| layout.has_row(me, row) || layout.has_column(me, column);
        for place in places.filter(used) {
            let mapped = blocks.map(place)?;
            if blocks.is_mine(place) {
                let mut block = mapped.write()?;
                block.iter_mut().zip(matrix.values(place)).for_each(|(to, value)| *to = value);
            }
            blocks.mapped.insert(place, mapped);
        }
        Ok(blocks)
    }

    /// Factorises the matrix. Collective.
    pub fn factorise(&self) -> Result<()> {
        for step in 0..self.matrix.blocks() {
            if self.is_mine((step, step)) {
                let operations =
                    factorise(&mut self.block((step, step)).write()?, self.matrix.length(step));
                self.shared.work(operations);
            }
            self.shared.barrier()?;
            self.divide(step)?;
            self.shared.barrier()?;
            self.subtract(step)?;
        }
        Ok(())
    }

    /// Divides this rank's blocks below a block of the diagonal, and to its right, by its factors.
    fn divide(&self, step: usize) -> Result<()> {
        let n = self.matrix.length(step);
        let below: Vec<BlockIndex> = self.later(step).map(|row| (row, step)).collect();
        let right: Vec<BlockIndex> = self.later(step).map(|column| (step, column)).collect();
        let mine = |place: &&BlockIndex| self.is_mine(**place);
        if !below.iter().chain(&right).any(|place| self.is_mine(*place)) {
            return Ok(());
        }
        let diagonal = self.block((step, step)).read()?;
        for &place in below.iter().filter(mine) {
            self.shared.work(divide_below(&mut self.block(place).write()?, &diagonal, n));
        }
        for &place in right.iter().filter(mine) {
            self.shared.work(divide_right(&mut self.block(place).write()?, &diagonal, n));
        }
        Ok(())
    }

    /// Subtracts products of these from all of this rank's blocks that are below and to the right
    /// of both.
    fn subtract(&self, step: usize) -> Result<()> {
        let n = self.matrix.length(step);
        let (me, layout, later) = (self.shared.rank(), self.layout, self.later(step));
        let rows: Vec<usize> = later.clone().filter(|&row| layout.has_row(me, row)).collect();
        let columns: Vec<usize> = later.filter(|&column| layout.has_column(me, column)).collect();
        if rows.is_empty() || columns.is_empty() {
            return Ok(());
        }
        if self.coherence.prefetch {
            let below = rows.iter().map(|&row| (row, step));
            let needed = below.chain(columns.iter().map(|&column| (step, column)));
            needed.map(|place| self.block(place)).try_for_each(Mapped::prefetch)?;
        }
        let above = columns.iter().map(|&column| self.block((step, column)).read());
        let above: Vec<Read<'_, f64>> = above.collect::<Result<_>>()?;
        for &row in &rows {
            let left = self.block((row, step)).read()?;
            for (&column, above) in columns.iter().zip(&above) {
                let mut block = self.block((row, column)).write()?;
                self.shared.work(subtract_product(&mut block, &left, above, n));
            }
        }
        Ok(())
    }

    /// Rows of blocks, or columns, that are left behind `step`.
    fn later(&self, step: usize) -> Range<usize> {
        step + 1..self.matrix.blocks()
    }

    fn is_mine(&self, place: BlockIndex) -> bool {
        self.layout.find(place).0 == self.shared.rank()
    }

    fn block(&self, place: BlockIndex) -> &Mapped<f64> {
        &self.mapped[&place]
    }

    fn map(&self, place: BlockIndex) -> Result<Mapped<f64>> {
        let (rank, number) = self.layout.find(place);
        self.shared.regions().map(self.family.id(rank, number))
    }

    /// All blocks as they are now, row after row: nobody writes meanwhile.
    pub fn whole(&self) -> Result<Vec<Vec<f64>>> {
        let count = self.matrix.blocks();
        let places = (0..count * count).map(|index| (index / count, index % count));
        places.map(|place| Ok(self.map(place)?.read()?.to_vec())).collect()
    }
}
