//! Operations on rows, and their cost on the thesis's processors.

use crate::fft::complex::{Complex, add, multiply, subtract};
use crate::fft::roots::Roots;
use weft_app_common::noise;

/// Operations of 20 ns (`links/sim/machines/myrinet.toml`) of a butterfly, of a product with a
/// root, and of moving a point in a transposition, which misses the cache. They are chosen so that
/// 1,048,576 points take one rank 4.49 s, as table 8.6 has it (4.46 s): a butterfly's ten
/// floating-point operations and its six loads and stores take 68 cycles of 200 MHz.
const BUTTERFLY: usize = 17;
const PRODUCT: usize = 8;
pub const MOVE: usize = 12;

/// A transform of a square matrix of points.
pub struct Plan {
    /// Rows and columns of the matrix.
    pub side: usize,
    seed: u64,
    roots: Roots,
}

impl Plan {
    /// For a matrix of `side` x `side` points, a power of two, whose values `seed` fixes.
    pub fn new(side: usize, seed: u64) -> Self {
        Plan { side, seed, roots: Roots::new(side) }
    }

    /// Number of points.
    pub fn points(&self) -> usize {
        self.side * self.side
    }

    /// The value that is transformed at `row` and `column`.
    pub fn input(&self, row: usize, column: usize) -> Complex {
        let index = 2 * (row * self.side + column) as u64;
        [noise(self.seed, index) as f32, noise(self.seed, index + 1) as f32]
    }

    /// Transforms a row in place; the first time multiplies it by what is between the two
    /// transforms, too.
    pub fn transform(&self, row: &mut [Complex], first: Option<usize>) {
        assert_eq!(row.len(), self.side, "a whole row");
        swap_reversed(row);
        let mut half = 1;
        while half < self.side {
            let roots = self.roots.of_row().iter().step_by(self.side / (2 * half));
            for both in row.chunks_exact_mut(2 * half) {
                let (low, high) = both.split_at_mut(half);
                for ((low, high), &root) in low.iter_mut().zip(high).zip(roots.clone()) {
                    let turned = multiply(root, *high);
                    (*low, *high) = (add(*low, turned), subtract(*low, turned));
                }
            }
            half *= 2;
        }
        if let Some(number) = first {
            for (column, value) in row.iter_mut().enumerate() {
                *value = multiply(*value, self.roots.twiddle(number, column));
            }
        }
    }

    /// Operations that transforming a row takes.
    pub fn operations(&self, first: bool) -> usize {
        let butterflies = self.side / 2 * self.side.ilog2() as usize;
        BUTTERFLY * butterflies + if first { PRODUCT * self.side } else { 0 }
    }
}

/// Brings each value to the place whose number is its own, bits reversed.
fn swap_reversed(row: &mut [Complex]) {
    let unused = usize::BITS - row.len().ilog2();
    for index in 1..row.len() {
        let reversed = index.reverse_bits() >> unused;
        if index < reversed {
            row.swap(index, reversed);
        }
    }
}

#[cfg(test)]
mod tests;
