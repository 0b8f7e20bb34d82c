//! Distribution of the blocks: scattered over a grid of ranks in two dimensions, so that all have
//! work to the end.

use crate::lu::matrix::BlockIndex;

/// A grid of ranks, as square as their number allows, laid over the blocks again and again.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// Rows of blocks, and columns.
    blocks: usize,
    /// Rows of the grid, and columns.
    rows: usize,
    columns: usize,
}

impl Layout {
    /// For so many rows of blocks, and columns, on so many ranks.
    pub fn new(blocks: usize, ranks: usize) -> Self {
        let fits = |rows: &usize| rows * rows <= ranks && ranks.is_multiple_of(*rows);
        let rows = (1..=ranks).rev().find(fits).unwrap_or(1);
        Layout { blocks, rows, columns: ranks / rows }
    }

    /// Owner of the block at `place`, and its index among the owner's blocks.
    pub fn find(&self, (row, column): BlockIndex) -> (usize, usize) {
        let (below, beside) = (row % self.rows, column % self.columns);
        let number = row / self.rows * self.across(beside) + column / self.columns;
        (below * self.columns + beside, number)
    }

    /// Number of blocks that `rank` owns.
    pub fn count_of(&self, rank: usize) -> usize {
        let (below, beside) = self.position(rank);
        (self.blocks + self.rows - 1 - below) / self.rows * self.across(beside)
    }

    /// The place of the `number`-th block of `rank`.
    pub fn place(&self, rank: usize, number: usize) -> BlockIndex {
        let (below, beside) = self.position(rank);
        let across = self.across(beside);
        (number / across * self.rows + below, number % across * self.columns + beside)
    }

    /// True if `rank` owns blocks of this row of blocks.
    pub fn has_row(&self, rank: usize, row: usize) -> bool {
        row % self.rows == self.position(rank).0
    }

    /// True if `rank` owns blocks of this column of blocks.
    pub fn has_column(&self, rank: usize, column: usize) -> bool {
        column % self.columns == self.position(rank).1
    }

    /// Position of `rank` in the grid.
    fn position(&self, rank: usize) -> (usize, usize) {
        (rank / self.columns, rank % self.columns)
    }

    /// Blocks of a row that ranks of this column of the grid own.
    fn across(&self, beside: usize) -> usize {
        (self.blocks + self.columns - 1 - beside) / self.columns
    }
}

#[cfg(test)]
mod tests;
