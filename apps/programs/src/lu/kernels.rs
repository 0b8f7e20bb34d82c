//! Operations on blocks, which are stored row after row, and their cost on the thesis's processors.
//! `n` is the number of rows, and columns, of the block of the diagonal.

/// Operations of 20 ns (`links/sim/machines/myrinet.toml`) of a product and a difference. The
/// thesis has no LU; this is a guess: 50 million floating-point operations a second, which its
/// processors did in blocks.
const PRODUCT: usize = 2;

/// Factorises a block of the diagonal: the lower triangle, whose diagonal is ones, and the upper
/// one take its place. Returns the operations that this takes.
pub fn factorise(block: &mut [f64], n: usize) -> usize {
    for step in 0..n {
        let (above, below) = block.split_at_mut((step + 1) * n);
        let pivot = &above[step * n + step..];
        for row in below.chunks_exact_mut(n) {
            subtract_scaled(&mut row[step..], pivot);
        }
    }
    PRODUCT * n * n * n / 3
}

/// Divides the first of `row` by the first of `pivot`, and subtracts that many pivots from the
/// rest.
fn subtract_scaled(row: &mut [f64], pivot: &[f64]) {
    let factor = row[0] / pivot[0];
    row[0] = factor;
    subtract(&mut row[1..], factor, &pivot[1..]);
}

/// `row -= factor * other`.
fn subtract(row: &mut [f64], factor: f64, other: &[f64]) {
    row.iter_mut().zip(other).for_each(|(value, other)| *value -= factor * other);
}

/// Divides a block below the diagonal by the upper triangle: `block * U^-1`.
pub fn divide_below(block: &mut [f64], diagonal: &[f64], n: usize) -> usize {
    for row in block.chunks_exact_mut(n) {
        for (step, pivot) in diagonal.chunks_exact(n).enumerate() {
            subtract_scaled(&mut row[step..], &pivot[step..]);
        }
    }
    PRODUCT * block.len() * n / 2
}

/// Divides a block to the right of the diagonal by the lower triangle: `L^-1 * block`.
pub fn divide_right(block: &mut [f64], diagonal: &[f64], n: usize) -> usize {
    let width = block.len() / n;
    for row in 1..n {
        let (done, rest) = block.split_at_mut(row * width);
        for (factor, other) in diagonal[row * n..].iter().zip(done.chunks_exact(width)) {
            subtract(&mut rest[..width], *factor, other);
        }
    }
    PRODUCT * block.len() * n / 2
}

/// Subtracts a product from a block: `block -= below * right`.
pub fn subtract_product(block: &mut [f64], below: &[f64], right: &[f64], n: usize) -> usize {
    let width = right.len() / n;
    for (row, factors) in block.chunks_exact_mut(width).zip(below.chunks_exact(n)) {
        for (factor, other) in factors.iter().zip(right.chunks_exact(width)) {
            subtract(row, *factor, other);
        }
    }
    PRODUCT * block.len() * n
}

#[cfg(test)]
mod tests;
