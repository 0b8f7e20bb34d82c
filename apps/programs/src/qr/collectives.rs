//! Operations of all ranks: choosing a column, and giving one another vectors.

use weft::collective::{Max, Sum};
use weft::prelude::Weft;
use weft_app_common::{Alone, Error, Exchange, Mailboxes, Tree};

/// A rank's proposal: the longest of its columns. Two doubles and two integers (thesis 8.5.8).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Candidate {
    /// The column's length from the current row down; below 0 if there is no column.
    pub norm: f64,
    /// The column's element in the current row.
    pub head: f64,
    /// Number of the column in the matrix.
    pub column: u32,
    /// The rank that has it.
    pub owner: u32,
}

impl Candidate {
    /// The proposal of a rank that has no column left.
    pub const NONE: Self = Self { norm: -1.0, head: 0.0, column: u32::MAX, owner: u32::MAX };

    /// The longer of two; of two as long the one that comes first in the matrix, so that the choice
    /// does not depend on who compares.
    #[must_use]
    pub fn longer(self, other: Self) -> Self {
        let as_long = self.norm == other.norm;
        let first = self.norm > other.norm || (as_long && self.column <= other.column);
        if first { self } else { other }
    }

    pub(crate) fn pack(self) -> [u64; 3] {
        let numbers = u64::from(self.column) << 32 | u64::from(self.owner);
        [self.norm.to_bits(), self.head.to_bits(), numbers]
    }

    pub(crate) fn unpack([norm, head, numbers]: [u64; 3]) -> Self {
        let (column, owner) = ((numbers >> 32) as u32, numbers as u32);
        Self { norm: f64::from_bits(norm), head: f64::from_bits(head), column, owner }
    }
}

/// The collective operations of the factorization and of its check. Every rank calls them in the
/// same order.
pub trait Collectives {
    /// This rank.
    fn rank(&self) -> usize;

    /// Number of ranks.
    fn size(&self) -> usize;

    /// The longest column that a rank proposes, on all ranks: a reduce-to-all of 24 bytes.
    fn longest(&mut self, mine: Candidate) -> Result<Candidate, Error>;

    /// Gives all ranks the values of `root`, in place.
    fn broadcast(&mut self, root: usize, values: &mut [f64]) -> Result<(), Error>;

    /// The sums of all ranks' values, one by one, on all ranks.
    fn sum(&mut self, values: &mut [f64]) -> Result<(), Error>;

    /// The largest of all ranks' values, on all ranks.
    fn largest(&mut self, value: f64) -> Result<f64, Error>;

    /// Declares that this rank has done so many steps of its inner loop: see [`Weft::work`].
    fn work(&mut self, steps: usize);
}

/// The collectives of the team of all ranks.
pub struct Everyone<'a>(pub &'a Weft);

impl Collectives for Everyone<'_> {
    fn rank(&self) -> usize {
        self.0.rank().index()
    }

    fn size(&self) -> usize {
        self.0.size()
    }

    fn longest(&mut self, mine: Candidate) -> Result<Candidate, Error> {
        let mut values = [mine.pack()];
        self.0.all_reduce(&mut values, |into: &mut [u64; 3], next: &[u64; 3]| {
            *into = Candidate::unpack(*into).longer(Candidate::unpack(*next)).pack();
        })?;
        Ok(Candidate::unpack(values[0]))
    }

    fn broadcast(&mut self, root: usize, values: &mut [f64]) -> Result<(), Error> {
        Ok(self.0.broadcast(root, values)?)
    }

    fn sum(&mut self, values: &mut [f64]) -> Result<(), Error> {
        Ok(self.0.all_reduce(values, Sum)?)
    }

    fn largest(&mut self, value: f64) -> Result<f64, Error> {
        let mut values = [value];
        self.0.all_reduce(&mut values, Max)?;
        Ok(values[0])
    }

    fn work(&mut self, steps: usize) {
        self.0.work(steps as u64);
    }
}

/// Collectives of all ranks whose broadcasts are messages along a tree: what an MPI library does
/// where there is no multicast (thesis 8.4.1).
pub struct ByTree<'a> {
    /// All ranks, for what is no broadcast.
    pub everyone: Everyone<'a>,
    /// Messages of the tree.
    pub exchange: Mailboxes,
}

impl Collectives for ByTree<'_> {
    fn rank(&self) -> usize {
        self.everyone.rank()
    }

    fn size(&self) -> usize {
        self.everyone.size()
    }

    fn longest(&mut self, mine: Candidate) -> Result<Candidate, Error> {
        self.everyone.longest(mine)
    }

    fn broadcast(&mut self, root: usize, values: &mut [f64]) -> Result<(), Error> {
        let is_root = self.rank() == root;
        let mut tree = Tree::new(&mut self.exchange);
        match is_root {
            true => tree.broadcast(bytemuck::cast_slice(values)),
            false => tree.receive(root, bytemuck::cast_slice_mut(values)),
        }
    }

    fn sum(&mut self, values: &mut [f64]) -> Result<(), Error> {
        self.everyone.sum(values)
    }

    fn largest(&mut self, value: f64) -> Result<f64, Error> {
        self.everyone.largest(value)
    }

    fn work(&mut self, steps: usize) {
        self.everyone.work(steps);
    }
}

impl Collectives for Alone {
    fn rank(&self) -> usize {
        0
    }

    fn size(&self) -> usize {
        1
    }

    fn longest(&mut self, mine: Candidate) -> Result<Candidate, Error> {
        Ok(mine)
    }

    fn broadcast(&mut self, _root: usize, _values: &mut [f64]) -> Result<(), Error> {
        Ok(())
    }

    fn sum(&mut self, _values: &mut [f64]) -> Result<(), Error> {
        Ok(())
    }

    fn largest(&mut self, value: f64) -> Result<f64, Error> {
        Ok(value)
    }

    fn work(&mut self, _steps: usize) {}
}

#[cfg(test)]
pub(crate) mod tests;
