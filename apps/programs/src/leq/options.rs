use clap::Parser;
use clap::value_parser;

use crate::leq::problem::Problem;

const EXAMPLES: &str = "\
Examples:
  leq                                      1,024 equations, on one rank
  weft run -n 4 -- leq --speedup           on four ranks, and how much faster they are
  weft run -n 4 -- leq --unknowns 200 --dominance 1.01 --iterations 5000 --verify
                                           many iterations, compared with one rank bit for bit";

/// The most unknowns.
const LARGEST: i64 = 20_000;

/// Solves linear equations Ax = b by Jacobi's method, on all ranks of a Weft job
///
/// Every rank computes a part of the next vector and writes it to a shared object that is
/// replicated, then waits until that has all parts. The residual, the largest |Ax - b|, is computed
/// anew from the equations and checked.
#[derive(Debug, Clone, Parser)]
#[command(name = "leq", version, after_help = EXAMPLES)]
pub struct Options {
    /// Equations, and unknowns
    #[arg(long, default_value = "1024", value_parser = value_parser!(u32).range(1..=LARGEST))]
    pub unknowns: u32,

    /// Coefficient on the diagonal over the sum of the others in its row: nearer to 1 takes more
    /// iterations
    #[arg(long, default_value = "1.25", value_parser = dominance)]
    pub dominance: f64,

    /// Stop when no value changes by more than this in an iteration
    #[arg(long, default_value = "1e-10", value_parser = tolerance)]
    pub tolerance: f64,

    /// The most iterations
    #[arg(long, default_value = "1000", value_parser = value_parser!(u32).range(1..))]
    pub iterations: u32,

    /// Other equations
    #[arg(long, default_value = "1")]
    pub seed: u64,

    /// Solve with rank 0 alone as well, and compare every bit
    #[arg(long)]
    pub verify: bool,

    /// Measure the speed-up: rank 0 alone and all ranks together, three times in turn, medians
    #[arg(long)]
    pub speedup: bool,
}

impl Options {
    /// The problem that these options state.
    pub fn problem(&self) -> Problem {
        Problem {
            unknowns: self.unknowns as usize,
            dominance: self.dominance,
            tolerance: self.tolerance,
            iterations: self.iterations as usize,
            seed: self.seed,
        }
    }
}

fn tolerance(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value >= 0.0 && value.is_finite() => Ok(value),
        _ => Err("a tolerance is a number, 0 or greater".to_owned()),
    }
}

fn dominance(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value > 1.0 && value <= 1e6 => Ok(value),
        _ => Err("the iteration converges for numbers greater than 1, up to 1e6".to_owned()),
    }
}

#[cfg(test)]
mod tests;
