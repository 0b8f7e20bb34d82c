//! The kernel: one step of Jacobi's method for some rows.

/// One step of Jacobi's method for consecutive rows of a system of equations: from the last vector
/// `x`, of all unknowns, it computes the values `next` of the rows' own unknowns, the first of
/// which is `first`. `rows` are the coefficients, row by row, and `right` is the right side of
/// these rows. Returns the largest change of a value.
///
/// # Panics
/// Lengths that do not fit one another.
pub fn sweep(rows: &[f64], right: &[f64], first: usize, x: &[f64], next: &mut [f64]) -> f64 {
    assert_eq!(rows.len(), next.len() * x.len(), "a coefficient for each row and unknown");
    assert_eq!(right.len(), next.len(), "a right side for each row");
    let mut largest: f64 = 0.0;
    for (local, (row, next)) in rows.chunks_exact(x.len()).zip(next).enumerate() {
        let own = first + local;
        let mut sum = right[local];
        for (coefficient, value) in row[..own].iter().zip(&x[..own]) {
            sum -= coefficient * value;
        }
        for (coefficient, value) in row[own + 1..].iter().zip(&x[own + 1..]) {
            sum -= coefficient * value;
        }
        *next = sum / row[own];
        largest = largest.max((*next - x[own]).abs());
    }
    largest
}

#[cfg(test)]
mod tests;
