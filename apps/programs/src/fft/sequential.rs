//! The whole transform on one rank, in ordinary memory.

use crate::fft::complex::Complex;
use crate::fft::plan::{MOVE, Plan};

/// Transforms the values of `plan`, saying how many operations that takes.
pub fn sequential(plan: &Plan, work: impl Fn(usize)) -> Vec<Complex> {
    let side = plan.side;
    let values = (0..plan.points()).map(|index| plan.input(index / side, index % side));
    let mut matrix: Vec<Complex> = values.collect();
    transform(plan, &mut matrix, work);
    matrix
}

/// Transforms `matrix`, row after row, in place.
pub fn transform(plan: &Plan, matrix: &mut [Complex], work: impl Fn(usize)) {
    for first in [true, false] {
        transpose(plan, matrix, &work);
        for (number, row) in matrix.chunks_exact_mut(plan.side).enumerate() {
            plan.transform(row, first.then_some(number));
            work(plan.operations(first));
        }
    }
    transpose(plan, matrix, &work);
}

fn transpose(plan: &Plan, matrix: &mut [Complex], work: impl Fn(usize)) {
    turn(matrix, plan.side, &mut []);
    work(MOVE * matrix.len());
}

/// Transposes a matrix of rows of `width`. A square one takes no other memory, all others as much
/// `room` as they have values.
pub fn turn(matrix: &mut [Complex], width: usize, room: &mut [Complex]) {
    let height = matrix.len() / width;
    if height == width {
        return turn_square(matrix, width);
    }
    let room = &mut room[..matrix.len()];
    by_tiles(height, width, |row, column| {
        room[column * height + row] = matrix[row * width + column];
    });
    matrix.copy_from_slice(room);
}

/// Exchanges the tiles below the diagonal for those above it.
fn turn_square(matrix: &mut [Complex], side: usize) {
    for top in (0..side).step_by(TILE) {
        for left in (0..=top).step_by(TILE) {
            for row in top..side.min(top + TILE) {
                for column in left..row.min(left + TILE) {
                    matrix.swap(row * side + column, column * side + row);
                }
            }
        }
    }
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

#[cfg(test)]
mod tests;
