use std::ops::Range;

use weft_app_common::noise;

/// Problem to solve: a system of equations that is made of noise.
///
/// The coefficients beside the diagonal are between 0 and 1. Each on the diagonal is so many times
/// the sum of the others in its row (`dominance`), which is why the iteration converges, and how
/// fast. The right side is that of a solution of noise, which is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Problem {
    /// Number of equations, and of unknowns.
    pub unknowns: usize,
    /// Coefficient on the diagonal over the sum of the others in its row; more than 1.
    pub dominance: f64,
    /// The solution has converged when no value changes by more than this in an iteration.
    pub tolerance: f64,
    /// The most iterations.
    pub iterations: usize,
    /// Fixes the noise.
    pub seed: u64,
}

/// Some rows of a system of equations.
#[derive(Debug, Clone, PartialEq)]
pub struct Equations {
    /// Range of these rows.
    pub owned: Range<usize>,
    /// Coefficients, row by row.
    pub rows: Vec<f64>,
    /// Right side of these rows.
    pub right: Vec<f64>,
}

impl Problem {
    /// Value of the solution for an unknown, between -1 and 1.
    pub fn exact(&self, unknown: usize) -> f64 {
        noise(!self.seed, unknown as u64)
    }

    /// A row of coefficients.
    pub fn row(&self, row: usize) -> Vec<f64> {
        let first = (row * self.unknowns) as u64;
        let beside = |column: usize| match noise(self.seed, first + column as u64).abs() {
            _ if column == row => 0.0,
            coefficient => coefficient,
        };
        let mut row_of: Vec<f64> = (0..self.unknowns).map(beside).collect();
        // One equation alone has nothing beside the diagonal.
        row_of[row] = self.dominance * row_of.iter().sum::<f64>() + 1e-3;
        row_of
    }

    /// Right side of a row.
    pub fn right(&self, row: &[f64]) -> f64 {
        row.iter().enumerate().map(|(unknown, value)| value * self.exact(unknown)).sum()
    }

    /// The rows `owned`.
    pub fn equations(&self, owned: Range<usize>) -> Equations {
        let (mut rows, mut right) = (Vec::new(), Vec::new());
        for row in owned.clone() {
            let row = self.row(row);
            right.push(self.right(&row));
            rows.extend(row);
        }
        Equations { owned, rows, right }
    }
}

#[cfg(test)]
pub(crate) mod tests;
