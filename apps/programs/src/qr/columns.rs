//! The columns of one rank while they are factorized.

use crate::qr::collectives::Candidate;
use crate::qr::kernel::{norm, product, subtract};
use crate::qr::problem::Problem;

/// A reflection I - v v' / half: where it begins, and how much of its vector it subtracts.
///
/// The vector `v` is the column x that it takes, but for its head, from which the new head of that
/// column is subtracted: that is -|x|, or |x| if x's head is negative, so that no digits are lost.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reflection {
    /// The row where the vector begins.
    pub step: usize,
    /// New head of the column that is taken: the element of R's diagonal.
    pub diagonal: f64,
    half: f64,
}

impl Reflection {
    /// The reflection of a vector, which takes a column with this head. All ranks compute it of the
    /// same two values, and so to the same bits.
    pub fn of(step: usize, head: f64, vector: &[f64]) -> Self {
        let diagonal = head - vector[0];
        Self { step, diagonal, half: -diagonal * vector[0] }
    }

    /// Reflects a column from the row of its own step down.
    pub fn apply(&self, column: &mut [f64], vector: &[f64]) {
        if self.half > 0.0 {
            let factor = product(vector, column) / self.half;
            subtract(column, factor, vector);
        }
    }
}

/// A column that has not been taken.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Left {
    place: usize,
    /// Length from the current row down.
    norm: f64,
    /// The length when it was last computed from the elements.
    computed: f64,
}

/// The columns of a rank: of column `c` of the matrix, rank `c % ranks` has all rows, at place
/// `c / ranks`. So all ranks have some until the end.
///
/// Above the row of the step that took it a column holds R; from there on the vector of its
/// reflection.
#[derive(Debug, Clone, PartialEq)]
pub struct Columns {
    problem: Problem,
    rank: usize,
    ranks: usize,
    values: Vec<f64>,
    left: Vec<Left>,
}

impl Columns {
    /// The columns of `rank`, as they start.
    pub fn new(problem: Problem, rank: usize, ranks: usize) -> Self {
        let numbers = (rank..problem.columns).step_by(ranks);
        let values: Vec<f64> = numbers.flat_map(|column| problem.column(column)).collect();
        let columns = values.chunks_exact(problem.rows).enumerate();
        let left = columns.map(|(place, column)| {
            let norm = norm(column);
            Left { place, norm, computed: norm }
        });
        let left = left.collect();
        Self { problem, rank, ranks, values, left }
    }

    /// The matrix that they are of.
    pub fn problem(&self) -> Problem {
        self.problem
    }

    /// Numbers in the matrix of the columns that are here, with their elements.
    pub fn each(&self) -> impl Iterator<Item = (usize, &[f64])> {
        let columns = self.values.chunks_exact(self.problem.rows).enumerate();
        columns.map(|(place, column)| (self.rank + place * self.ranks, column))
    }

    /// The elements of a column that is here, by its number in the matrix.
    pub fn column(&self, column: usize) -> &[f64] {
        assert_eq!(column % self.ranks, self.rank, "column {column} is elsewhere");
        &self.values[column / self.ranks * self.problem.rows..][..self.problem.rows]
    }

    /// Steps of the inner loop that one reflection of all columns takes.
    pub fn operations(&self, step: usize) -> usize {
        2 * self.left.len() * (self.problem.rows - step)
    }

    /// The longest column that is left.
    pub fn longest(&self, step: usize) -> Candidate {
        let candidates = self.left.iter().map(|left| Candidate {
            norm: left.norm,
            head: self.values[left.place * self.problem.rows + step],
            column: (self.rank + left.place * self.ranks) as u32,
            owner: self.rank as u32,
        });
        candidates.fold(Candidate::NONE, Candidate::longer)
    }

    /// Takes a column that is here: makes the vector of its reflection.
    pub fn take(&mut self, column: usize, step: usize) -> &[f64] {
        let place = column / self.ranks;
        self.left.retain(|left| left.place != place);
        let vector = &mut self.values[place * self.problem.rows..][step..self.problem.rows];
        let length = norm(vector);
        vector[0] += if vector[0] < 0.0 { -length } else { length };
        vector
    }

    /// Reflects all columns that are left. Their lengths below the row of the step follow from
    /// those before; where so little is left of one that its digits are those of rounding errors,
    /// it is computed anew (LAPACK's `dgeqp3`, Drmac and Bujanovic 2008).
    pub fn reflect(&mut self, reflection: &Reflection, vector: &[f64]) {
        let rows = self.problem.rows;
        for left in &mut self.left {
            let column = &mut self.values[left.place * rows..][reflection.step..rows];
            reflection.apply(column, vector);
            if left.norm > 0.0 {
                let part = (1.0 - (column[0] / left.norm).powi(2)).max(0.0);
                let of_computed = part * (left.norm / left.computed).powi(2);
                if of_computed <= f64::EPSILON.sqrt() {
                    left.norm = norm(&column[1..]);
                    left.computed = left.norm;
                } else {
                    left.norm *= part.sqrt();
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
