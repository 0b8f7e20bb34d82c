//! Report of rank 0 in the end.

use weft_app_common::{Times, Traffic, summary, table, thousands};

use crate::qr::factor::Factors;
use crate::qr::problem::Problem;
use crate::qr::verify::Errors;

/// Everything that the report states. All of it was measured or computed in this run.
#[derive(Debug, Clone)]
pub struct Report<'a> {
    /// Matrix that was factorized.
    pub problem: &'a Problem,
    /// Order of columns, and R's diagonal.
    pub factors: &'a Factors,
    /// Errors that were found.
    pub errors: Errors,
    /// Times of the factorization.
    pub times: Times,
    /// Traffic of each rank meanwhile.
    pub traffic: &'a [Traffic],
}

impl Report<'_> {
    /// The report as text.
    pub fn text(&self) -> String {
        let Problem { rows, columns, .. } = *self.problem;
        let diagonal = |step: Option<usize>| {
            step.map_or(0.0, |step| self.factors.reflections[step].diagonal.abs())
        };
        let steps = self.factors.steps();
        format!(
            "{} x {} matrix of rank {}   {} reflections   verified: |AP - QR| / |A| {:.1e}, |Q'Q - I| {:.1e} (at most {:.1e})\n\
             R's diagonal from {:.4e} to {:.4e}\n\
             {}\n\n{}\n",
            thousands(rows as u64),
            thousands(columns as u64),
            thousands(self.factors.numerical_rank(rows, columns) as u64),
            thousands(steps as u64),
            self.errors.residual,
            self.errors.orthogonality,
            Errors::allowed(rows, columns),
            diagonal((steps > 0).then_some(0)),
            diagonal(steps.checked_sub(1)),
            summary(self.times, "", self.traffic),
            table(self.traffic)
        )
    }
}

#[cfg(test)]
mod tests;
