//! The parallel algorithm (thesis 8.5.8): in each iteration all ranks agree which column is the
//! longest, its owner broadcasts the Householder vector of it, and all reflect their columns. The
//! vector gets shorter by one each time.

use weft_app_common::Error;

use crate::qr::collectives::Collectives;
use crate::qr::columns::{Columns, Reflection};

/// Order in which columns were taken, and R's diagonal: the same on all ranks.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Factors {
    /// Number in the matrix of the column of each step.
    pub order: Vec<usize>,
    /// The reflection of each step.
    pub reflections: Vec<Reflection>,
}

impl Factors {
    /// Number of steps that were taken: fewer than there could be if nothing was left.
    pub fn steps(&self) -> usize {
        self.order.len()
    }

    /// The rank that a matrix of this size has as far as rounding lets anybody see: as many as
    /// there are elements of R's diagonal that are not lost beside the first one.
    pub fn numerical_rank(&self, rows: usize, columns: usize) -> usize {
        let diagonals = || self.reflections.iter().map(|reflection| reflection.diagonal.abs());
        let least = diagonals().next().unwrap_or(0.0) * f64::EPSILON * rows.max(columns) as f64;
        diagonals().filter(|&diagonal| diagonal > least).count()
    }
}

/// Factorizes. Collective: every rank of `ranks` calls it with its columns. `progress` hears how
/// many steps are done.
///
/// # Errors
/// A lost rank.
pub fn factorize(
    columns: &mut Columns,
    ranks: &mut impl Collectives,
    mut progress: impl FnMut(usize),
) -> Result<Factors, Error> {
    let problem = columns.problem();
    let mut factors = Factors::default();
    let mut vector = vec![0.0; problem.rows];
    for step in 0..problem.steps() {
        let chosen = ranks.longest(columns.longest(step))?;
        if chosen.norm <= 0.0 {
            break;
        }
        let (column, owner) = (chosen.column as usize, chosen.owner as usize);
        let vector = &mut vector[step..];
        if owner == ranks.rank() {
            ranks.work(problem.rows - step);
            vector.copy_from_slice(columns.take(column, step));
        }
        ranks.broadcast(owner, vector)?;
        let reflection = Reflection::of(step, chosen.head, vector);
        ranks.work(columns.operations(step));
        columns.reflect(&reflection, vector);
        factors.order.push(column);
        factors.reflections.push(reflection);
        progress(step + 1);
    }
    Ok(factors)
}

#[cfg(test)]
mod tests;
