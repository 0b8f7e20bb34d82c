use std::ops::Range;

/// Rows divided among ranks: contiguous, in rank order, and no two sizes further apart than one.
///
/// With more ranks than rows the last ranks own nothing, so the owners are always ranks `0..k`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Blocks {
    rows: usize,
    ranks: usize,
}

impl Blocks {
    /// Divides `rows` rows among `ranks` ranks. A job without a rank is a programmer's error.
    pub fn new(rows: usize, ranks: usize) -> Self {
        assert!(ranks > 0, "rows need at least one rank to live on");
        Self { rows, ranks }
    }

    /// Number of rows in all.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The rows of `rank`.
    pub fn of(&self, rank: usize) -> Range<usize> {
        self.start(rank)..self.start(rank + 1)
    }

    /// The rank that owns `row`.
    pub fn owner(&self, row: usize) -> usize {
        assert!(row < self.rows, "row {row} of {}", self.rows);
        let (share, larger) = (self.rows / self.ranks, self.rows % self.ranks);
        let in_larger = larger * (share + 1);
        if row < in_larger { row / (share + 1) } else { larger + (row - in_larger) / share }
    }

    fn start(&self, rank: usize) -> usize {
        let (share, larger) = (self.rows / self.ranks, self.rows % self.ranks);
        rank * share + rank.min(larger)
    }
}

#[cfg(test)]
mod tests;
