//! Report of rank 0 in the end.

use weft_app_common::{Times, Traffic, summary, table, thousands};

use crate::sor::problem::Problem;
use crate::sor::solve::Ended;

/// Everything that the report states. All of it was measured or computed in this run, and every bit
/// of the result was compared.
#[derive(Debug, Clone)]
pub struct Report<'a> {
    /// Problem that was solved.
    pub problem: &'a Problem,
    /// End of the iteration.
    pub ended: Ended,
    /// The largest distance of a point from the exact solution.
    pub error: f64,
    /// Times of the iteration.
    pub times: Times,
    /// Traffic of each rank meanwhile.
    pub traffic: &'a [Traffic],
}

impl Report<'_> {
    /// The report as text.
    pub fn text(&self) -> String {
        let Problem { rows, columns, tolerance, .. } = *self.problem;
        let reached = if self.ended.converged(self.problem) { "" } else { " not" };
        format!(
            "{} x {} points   {} iterations   verified bit for bit against one rank\n\
             largest change {:.1e} (tolerance {tolerance:e}{reached} reached), from the exact solution {:.1e}\n\
             {}\n\n{}\n",
            thousands(rows as u64),
            thousands(columns as u64),
            thousands(self.ended.iterations as u64),
            self.ended.change,
            self.error,
            summary(self.times, "", self.traffic),
            table(self.traffic)
        )
    }
}

#[cfg(test)]
mod tests;
