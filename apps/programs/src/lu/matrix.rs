//! Matrix to be factorised: noise whose diagonal outweighs its rows, in blocks.

use std::ops::Range;

use weft_app_common::noise;

/// A block's place: which of the rows of blocks, and which of the columns.
pub type BlockIndex = (usize, usize);

/// A square matrix, divided into square blocks; the last of each row and column are what is left.
#[derive(Clone, Copy, Debug)]
pub struct Matrix {
    /// Rows and columns.
    pub order: usize,
    /// Rows and columns of a block.
    pub block: usize,
    /// Fixes the values.
    pub seed: u64,
}

impl Matrix {
    /// An element as it is before.
    pub fn element(&self, row: usize, column: usize) -> f64 {
        if row == column {
            return self.order as f64;
        }
        noise(self.seed, (row * self.order + column) as u64)
    }

    /// Blocks of a row or column.
    pub fn blocks(&self) -> usize {
        self.order.div_ceil(self.block)
    }

    /// The rows, or columns, of the `index`-th block.
    pub fn span(&self, index: usize) -> Range<usize> {
        let from = index * self.block;
        from..self.order.min(from + self.block)
    }

    /// Rows or columns of the `index`-th block.
    pub fn length(&self, index: usize) -> usize {
        self.span(index).len()
    }

    /// The values of a block, row after row, as they are before.
    pub fn values(&self, (row, column): BlockIndex) -> impl Iterator<Item = f64> {
        let matrix = *self;
        self.span(row)
            .flat_map(move |row| matrix.span(column).map(move |column| matrix.element(row, column)))
    }

    /// The elements of all `blocks`, which lie row after row of blocks, as rows of elements.
    pub fn rows(&self, blocks: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let across = self.blocks();
        let mut rows = vec![vec![0.0; self.order]; self.order];
        for (index, block) in blocks.iter().enumerate() {
            let (row, column) = (index / across, index % across);
            let columns = self.span(column);
            for (values, row) in block.chunks_exact(columns.len()).zip(self.span(row)) {
                rows[row][columns.clone()].copy_from_slice(values);
            }
        }
        rows
    }
}
