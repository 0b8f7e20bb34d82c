//! Checks of a factorization, by all ranks and with nothing gathered: AP = QR, Q'Q = I, and that
//! every column that was taken was the longest one.

use weft_app_common::Error;

use crate::qr::collectives::Collectives;
use crate::qr::columns::Columns;
use crate::qr::factor::Factors;
use crate::qr::kernel::product;

/// A column that was not the longest may have been taken if it was shorter by this part: lengths
/// are as exact as that.
const LENGTHS: f64 = 1e-4;

/// Errors of a factorization.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Errors {
    /// |AP - QR| in units of |A|, both as square roots of sums of squares.
    pub residual: f64,
    /// |Q'Q - I|, as that too.
    pub orthogonality: f64,
    /// Part by which a column that was left was longer than one that was taken, at most.
    pub pivoting: f64,
}

impl Errors {
    /// Largest residual and orthogonality that rounding explains.
    pub fn allowed(rows: usize, columns: usize) -> f64 {
        10.0 * f64::EPSILON * rows.max(columns) as f64
    }

    /// True if they are rounding errors.
    pub fn are_small(&self, rows: usize, columns: usize) -> bool {
        let allowed = Self::allowed(rows, columns);
        self.residual <= allowed && self.orthogonality <= allowed && self.pivoting <= LENGTHS
    }
}

/// Computes the errors, the same on all ranks. Collective.
///
/// # Errors
/// A lost rank.
pub fn errors(
    columns: &Columns,
    factors: &Factors,
    ranks: &mut impl Collectives,
) -> Result<Errors, Error> {
    let problem = columns.problem();
    let pivoting = ranks.largest(pivoting(columns, factors))?;
    let mut products = upper(columns, factors);
    let mut basis = units(problem.rows, factors, ranks);
    reflect_back(columns, factors, [&mut products, &mut basis], ranks)?;
    let mut squares = [0.0; 2];
    for ((number, _), product) in columns.each().zip(&products) {
        for (value, expected) in product.values.iter().zip(problem.column(number)) {
            squares[0] += (value - expected).powi(2);
            squares[1] += expected * expected;
        }
    }
    ranks.sum(&mut squares)?;
    let [difference, whole] = squares.map(f64::sqrt);
    let residual = if whole > 0.0 { difference / whole } else { difference };
    let orthogonality = orthogonality(&basis, factors.steps(), problem.rows, ranks)?;
    Ok(Errors { residual, orthogonality, pivoting })
}

/// A column, and the first step whose reflection does nothing to it.
struct Reflected {
    values: Vec<f64>,
    steps: usize,
}

/// The step that took each column of the matrix.
fn taken(factors: &Factors, columns: usize) -> Vec<Option<usize>> {
    let mut taken = vec![None; columns];
    for (step, &column) in factors.order.iter().enumerate() {
        taken[column] = Some(step);
    }
    taken
}

/// R's columns that are here, in the matrix's order.
fn upper(columns: &Columns, factors: &Factors) -> Vec<Reflected> {
    let taken = taken(factors, columns.problem().columns);
    let upper = columns.each().map(|(number, column)| {
        let mut values = column.to_vec();
        let (above, steps) = match taken[number] {
            None => (factors.steps(), factors.steps()),
            Some(step) => {
                values[step] = factors.reflections[step].diagonal;
                (step + 1, step + 1)
            }
        };
        values[above..].fill(0.0);
        Reflected { values, steps }
    });
    upper.collect()
}

/// The columns of the identity that become this rank's of Q.
fn units(rows: usize, factors: &Factors, ranks: &impl Collectives) -> Vec<Reflected> {
    let unit = |column: usize| {
        let mut values = vec![0.0; rows];
        values[column] = 1.0;
        Reflected { values, steps: column + 1 }
    };
    (ranks.rank()..factors.steps()).step_by(ranks.size()).map(unit).collect()
}

/// Reflects columns by all reflections, the last one first: multiplies by Q.
fn reflect_back(
    columns: &Columns,
    factors: &Factors,
    reflected: [&mut Vec<Reflected>; 2],
    ranks: &mut impl Collectives,
) -> Result<(), Error> {
    let [products, basis] = reflected;
    let mut vector = vec![0.0; columns.problem().rows];
    for (step, reflection) in factors.reflections.iter().enumerate().rev() {
        let owner = factors.order[step] % ranks.size();
        let vector = &mut vector[step..];
        if owner == ranks.rank() {
            vector.copy_from_slice(&columns.column(factors.order[step])[step..]);
        }
        ranks.broadcast(owner, vector)?;
        let concerned = products.iter_mut().chain(basis.iter_mut());
        for column in concerned.filter(|column| column.steps > step) {
            reflection.apply(&mut column.values[step..], vector);
            ranks.work(2 * vector.len());
        }
    }
    Ok(())
}

/// |Q'Q - I| of the columns of Q, which go round.
fn orthogonality(
    basis: &[Reflected],
    steps: usize,
    rows: usize,
    ranks: &mut impl Collectives,
) -> Result<f64, Error> {
    let mut column = vec![0.0; rows];
    let mut squares = [0.0];
    for number in 0..steps {
        let owner = number % ranks.size();
        if owner == ranks.rank() {
            column.copy_from_slice(&basis[number / ranks.size()].values);
        }
        ranks.broadcast(owner, &mut column)?;
        for other in basis.iter().filter(|other| other.steps > number) {
            let (found, itself) = (product(&other.values, &column), other.steps == number + 1);
            // Each pair stands for two elements.
            squares[0] += if itself { (found - 1.0).powi(2) } else { 2.0 * found * found };
            ranks.work(rows);
        }
    }
    ranks.sum(&mut squares)?;
    Ok(squares[0].sqrt())
}

/// Part by which a column here was longer, from the row of a step down, than the one that the step
/// took. That column's length is R's diagonal there; this one's is in its own elements of R.
fn pivoting(columns: &Columns, factors: &Factors) -> f64 {
    let mut most: f64 = 0.0;
    for column in upper(columns, factors) {
        let mut square = 0.0;
        for step in (0..column.steps).rev() {
            square += column.values[step].powi(2);
            let longest = factors.reflections[step].diagonal.abs();
            if longest > 0.0 {
                most = most.max(square.sqrt() / longest - 1.0);
            }
        }
    }
    most
}

#[cfg(test)]
mod tests;
