//! Roots of unity, made with square roots and products: sines of libraries may differ in the last
//! bit between the hosts of a job.

use crate::fft::complex::Complex;

/// A complex number of which the result is rounded.
type Exact = [f64; 2];

/// The powers of `exp(-2 pi i / n)` that a transform of a square matrix takes.
pub struct Roots {
    /// Roots whose `n` is the side of the matrix.
    of_side: Vec<Exact>,
    /// Roots whose `n` is the number of points; the first `side` of them.
    of_points: Vec<Exact>,
    /// The first half of `of_side`, rounded.
    of_row: Vec<Complex>,
}

impl Roots {
    /// Those for a matrix whose side is a power of two.
    pub fn new(side: usize) -> Self {
        assert!(side.is_power_of_two(), "half angles reach powers of two only");
        let of_side = powers(side, side);
        let of_row = of_side[..side.div_ceil(2)].iter().copied().map(rounded).collect();
        Roots { of_side, of_points: powers(side * side, side), of_row }
    }

    /// The first half of those that a row's transform multiplies by.
    pub fn of_row(&self) -> &[Complex] {
        &self.of_row
    }

    /// Twiddle factor of a point between the two transforms: the power `row` x `column` of the root
    /// whose `n` is the number of points.
    pub fn twiddle(&self, row: usize, column: usize) -> Complex {
        let (power, side) = (row * column, self.of_side.len());
        rounded(product(self.of_side[power / side], self.of_points[power % side]))
    }
}

fn rounded([re, im]: Exact) -> Complex {
    [re as f32, im as f32]
}

fn product(a: Exact, b: Exact) -> Exact {
    [a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]]
}

/// The first `count` powers of the `n`-th root, both powers of two: each from two that are as many
/// places long.
fn powers(n: usize, count: usize) -> Vec<Exact> {
    let mut powers = vec![[1.0, 0.0]];
    while powers.len() < count {
        let root = principal(n / powers.len());
        let more: Vec<Exact> = powers.iter().map(|&power| product(power, root)).collect();
        powers.extend(more);
    }
    powers
}

/// `exp(-2 pi i / n)` of a power of two, by halving the angle again and again.
fn principal(n: usize) -> Exact {
    match n {
        1 => [1.0, 0.0],
        2 => [-1.0, 0.0],
        4 => [0.0, -1.0],
        _ => {
            let [cosine, sine] = principal(n / 2);
            let half = ((1.0 + cosine) / 2.0).sqrt();
            [half, sine / (2.0 * half)]
        }
    }
}

#[cfg(test)]
mod tests;
