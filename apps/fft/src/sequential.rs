//! The whole transform on one rank, in ordinary memory.

use crate::complex::Complex;
use crate::plan::{MOVE, Plan};

/// Transforms the values of `plan`, saying how many operations that takes.
pub fn sequential(plan: &Plan, work: impl Fn(usize)) -> Vec<Complex> {
    let side = plan.side;
    let values = (0..plan.points()).map(|index| plan.input(index / side, index % side));
    let mut matrix: Vec<Complex> = values.collect();
    transform(plan, &mut matrix, work);
    matrix
}

/// Transforms `matrix`, row after row, in place.
pub fn transform(plan: &Plan, matrix: &mut Vec<Complex>, work: impl Fn(usize)) {
    for first in [true, false] {
        transpose(plan, matrix, &work);
        for (number, row) in matrix.chunks_exact_mut(plan.side).enumerate() {
            plan.transform(row, first.then_some(number));
            work(plan.operations(first));
        }
    }
    transpose(plan, matrix, &work);
}

fn transpose(plan: &Plan, matrix: &mut Vec<Complex>, work: impl Fn(usize)) {
    *matrix = transposed(matrix, plan.side);
    work(MOVE * matrix.len());
}

/// A matrix of rows of `width`, its columns as rows.
pub fn transposed(matrix: &[Complex], width: usize) -> Vec<Complex> {
    (0..width).flat_map(|column| matrix[column..].iter().step_by(width).copied()).collect()
}
