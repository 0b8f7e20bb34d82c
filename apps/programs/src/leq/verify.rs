//! The check of a result, which shares no code with what computed it: the residual, from the
//! equations themselves.

use crate::leq::problem::Problem;
use crate::leq::solve::Ended;

/// A check of a vector.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Checked {
    /// The residual: the largest `|Ax - b|` of a row.
    pub residual: f64,
    /// The largest residual that the last change leaves, and rounding.
    pub most: f64,
    /// The largest distance of a value from the solution that the problem was made of.
    pub error: f64,
}

impl Checked {
    /// True if the residual is as small as it has to be.
    pub fn is_right(&self) -> bool {
        // What is infinite allows everything, and what is no number is not small.
        self.most.is_finite() && self.residual <= self.most
    }
}

/// Checks the vector at which the iteration `ended`.
///
/// The residual of a step is what the last change makes of the coefficients beside the diagonal:
/// `Ax' - b = (A - D)(x' - x)`. So each row has a bound, to which rounding adds a few parts of the
/// sums that were rounded.
pub fn check(problem: &Problem, x: &[f64], ended: Ended) -> Checked {
    let largest = x.iter().fold(1.0, |largest: f64, value| largest.max(value.abs()));
    let mut checked = Checked { residual: 0.0, most: 0.0, error: 0.0 };
    for (own, value) in x.iter().enumerate() {
        let row = problem.row(own);
        let mut residual = -problem.right(&row);
        let mut beside = 0.0;
        for (column, (coefficient, value)) in row.iter().zip(x).enumerate() {
            residual += coefficient * value;
            beside += if column == own { 0.0 } else { coefficient.abs() };
        }
        let rounding = 4.0 * f64::EPSILON * row.len() as f64 * (beside + row[own]) * largest;
        checked.residual = maximum(checked.residual, residual.abs());
        checked.most = checked.most.max(beside * ended.change + rounding);
        checked.error = maximum(checked.error, (value - problem.exact(own)).abs());
    }
    checked
}

/// The larger, or what is no number.
fn maximum(a: f64, b: f64) -> f64 {
    if b > a || b.is_nan() { b } else { a }
}

#[cfg(test)]
mod tests;
