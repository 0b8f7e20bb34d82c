//! Checks of factors, by what they are for: solving a system whose solution is known.

use crate::lu::matrix::Matrix;
use weft_app_common::noise;

/// Largest residual, beside the right-hand side: some hundred times what is seen.
const TOLERANCE: f64 = 1e-12;

/// The largest difference of `A x` from `b = A y`, beside the largest of `b`, where `x` is what
/// `factors` make of `b` and `y` is noise.
///
/// # Errors
/// What is wrong, if it is too large.
pub fn residual(matrix: &Matrix, factors: &[Vec<f64>]) -> Result<f64, String> {
    let order = matrix.order;
    let known: Vec<f64> = (0..order as u64).map(|index| noise(!matrix.seed, index)).collect();
    let wanted = multiplied(matrix, &known);
    let found = multiplied(matrix, &solved(&matrix.rows(factors), &wanted));
    let largest = wanted.iter().fold(0.0, |most: f64, value| most.max(value.abs()));
    let differences = found.iter().zip(&wanted).map(|(found, wanted)| (found - wanted).abs());
    // Whatever is no number stays.
    let residual = differences.fold(0.0, |most: f64, next| if next <= most { most } else { next });
    let residual = residual / largest;
    if residual <= TOLERANCE {
        return Ok(residual);
    }
    Err(format!("the residual is {residual:.1e} of the right-hand side"))
}

/// `A x`.
fn multiplied(matrix: &Matrix, vector: &[f64]) -> Vec<f64> {
    let row = |row| {
        let terms = vector.iter().enumerate().map(|(column, x)| matrix.element(row, column) * x);
        terms.sum()
    };
    (0..matrix.order).map(row).collect()
}

/// The `x` of `L U x = b`.
fn solved(factors: &[Vec<f64>], right: &[f64]) -> Vec<f64> {
    let sum = |row: &[f64], x: &[f64]| row.iter().zip(x).map(|(a, x)| a * x).sum::<f64>();
    let mut x: Vec<f64> = Vec::new();
    for (row, value) in factors.iter().zip(right) {
        x.push(value - sum(row, &x));
    }
    for (index, row) in factors.iter().enumerate().rev() {
        x[index] = (x[index] - sum(&row[index + 1..], &x[index + 1..])) / row[index];
    }
    x
}

#[cfg(test)]
mod tests;
