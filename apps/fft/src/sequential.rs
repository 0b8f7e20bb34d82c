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
    let height = matrix.len() / width;
    let mut turned = vec![Complex::default(); matrix.len()];
    by_tiles(height, width, |row, column| {
        turned[column * height + row] = matrix[row * width + column];
    });
    turned
}

/// Rows and columns of a tile: a cache line of points. Rows of a matrix whose side is a power of
/// two lie in the same places of a cache, which has room for few of them.
const TILE: usize = 8;

/// Visits all places of a matrix, tile by tile.
pub fn by_tiles(height: usize, width: usize, mut visit: impl FnMut(usize, usize)) {
    for top in (0..height).step_by(TILE) {
        for left in (0..width).step_by(TILE) {
            for column in left..width.min(left + TILE) {
                for row in top..height.min(top + TILE) {
                    visit(row, column);
                }
            }
        }
    }
}
