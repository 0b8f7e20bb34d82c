//! Report of rank 0 in the end.

use weft_app_common::{Times, Traffic, summary, table, thousands};

use crate::leq::problem::Problem;
use crate::leq::solve::Ended;
use crate::leq::verify::Checked;

/// Everything that the report states. All of it was measured or computed in this run.
#[derive(Debug, Clone)]
pub struct Report<'a> {
    /// Problem that was solved.
    pub problem: &'a Problem,
    /// End of the iteration.
    pub ended: Ended,
    /// Check of the result.
    pub checked: Checked,
    /// True if every bit was compared with one rank's.
    pub is_compared: bool,
    /// Times of the iteration.
    pub times: Times,
    /// Traffic of each rank meanwhile.
    pub traffic: &'a [Traffic],
}

impl Report<'_> {
    /// The report as text.
    pub fn text(&self) -> String {
        let Checked { residual, most, error } = self.checked;
        let reached = if self.ended.converged(self.problem) { "" } else { " not" };
        let compared =
            if self.is_compared { "   verified bit for bit against one rank" } else { "" };
        format!(
            "{} unknowns   {} iterations   residual {residual:.1e} (at most {most:.1e})\
             {compared}\n\
             largest change {:.1e} (tolerance {:e}{reached} reached), from the exact solution \
             {error:.1e}\n\
             {}\n\n{}\n",
            thousands(self.problem.unknowns as u64),
            thousands(self.ended.iterations as u64),
            self.ended.change,
            self.problem.tolerance,
            summary(self.times, "", self.traffic),
            table(self.traffic)
        )
    }
}

#[cfg(test)]
mod tests;
