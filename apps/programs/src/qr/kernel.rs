//! Sums over columns. Which vector unit is used changes no bit: sums have as many lanes everywhere,
//! and Rust does not contract a product and a sum into one operation.

use multiversion::multiversion;

/// Sums are kept in this many lanes, which become vectors, and are added up in the end.
const LANES: usize = 16;

/// The inner product of two columns of one length.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
pub fn product(a: &[f64], b: &[f64]) -> f64 {
    let b = &b[..a.len()];
    let mut sums = [0.0; LANES];
    let whole = a.len() - a.len() % LANES;
    for start in (0..whole).step_by(LANES) {
        for (lane, sum) in sums.iter_mut().enumerate() {
            *sum += a[start + lane] * b[start + lane];
        }
    }
    for i in whole..a.len() {
        sums[0] += a[i] * b[i];
    }
    let mut width = LANES / 2;
    while width > 0 {
        for lane in 0..width {
            sums[lane] += sums[lane + width];
        }
        width /= 2;
    }
    sums[0]
}

/// Subtracts `factor` times `vector` from a column.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
pub fn subtract(column: &mut [f64], factor: f64, vector: &[f64]) {
    for (value, part) in column.iter_mut().zip(vector) {
        *value -= factor * part;
    }
}

/// The length of a column.
pub fn norm(column: &[f64]) -> f64 {
    product(column, column).sqrt()
}

#[cfg(test)]
mod tests;
