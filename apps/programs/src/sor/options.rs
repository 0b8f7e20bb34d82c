use clap::Parser;
use clap::value_parser;

use crate::sor::problem::{Borders, Order, Problem, best_omega};

const EXAMPLES: &str = "\
Examples:
  sor                                                42 iterations on 1536 x 1536 points, on one rank
  weft run -n 4 -- sor --speedup                     on four ranks, and how much faster they are
  weft run -n 4 -- sor --rows 100 --columns 100 --iterations 1000 --tolerance 1e-9
                                                     until it has converged";

/// The most rows, and the most points of a row.
const LARGEST: i64 = 1_000_000;

/// Solves Laplace's equation by red-black overrelaxation, on all ranks of a Weft job
///
/// Every rank holds a block of rows. In each half of an iteration neighbours exchange their border
/// rows; after it, all ranks agree on the largest change. Rank 0 solves the problem alone as well
/// and compares every bit of every point.
#[derive(Debug, Clone, Parser)]
#[command(name = "sor", version, after_help = EXAMPLES)]
pub struct Options {
    /// Rows of points
    #[arg(long, default_value = "1536", value_parser = value_parser!(u32).range(1..=LARGEST))]
    pub rows: u32,

    /// Points of a row
    #[arg(long, default_value = "1536", value_parser = value_parser!(u32).range(1..=LARGEST))]
    pub columns: u32,

    /// The most iterations
    #[arg(long, default_value = "42", value_parser = value_parser!(u32).range(1..))]
    pub iterations: u32,

    /// Stop when no point changes by more than this in an iteration
    #[arg(long, default_value = "1e-6", value_parser = tolerance)]
    pub tolerance: f64,

    /// The relaxation factor; without it, the one that is best for a grid of this size
    #[arg(long, value_parser = omega)]
    pub omega: Option<f64>,

    /// Exchange whole border rows after each half of an iteration, rather than what has changed
    #[arg(long)]
    pub whole_rows: bool,

    /// Order of sending and receiving border rows
    #[arg(long, value_enum, default_value_t, value_name = "ORDER")]
    pub order: Order,

    /// Measure the speed-up: rank 0 alone and all ranks together, three times in turn, medians
    #[arg(long)]
    pub speedup: bool,
}

impl Options {
    /// The problem that these options state.
    pub fn problem(&self) -> Problem {
        let (rows, columns) = (self.rows as usize, self.columns as usize);
        Problem {
            rows,
            columns,
            omega: self.omega.unwrap_or_else(|| best_omega(rows, columns)),
            tolerance: self.tolerance,
            iterations: self.iterations as usize,
            borders: Borders { whole_rows: self.whole_rows, order: self.order },
        }
    }
}

fn tolerance(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value >= 0.0 && value.is_finite() => Ok(value),
        _ => Err("a tolerance is a number, 0 or greater".to_owned()),
    }
}

fn omega(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value > 0.0 && value < 2.0 => Ok(value),
        _ => Err("overrelaxation converges for factors between 0 and 2".to_owned()),
    }
}

#[cfg(test)]
mod tests;
