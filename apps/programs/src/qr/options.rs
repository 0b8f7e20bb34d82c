use clap::Parser;
use clap::value_parser;

use crate::qr::problem::Problem;

const EXAMPLES: &str = "\
Examples:
  qr                                      a matrix of 1,024 x 1,024, on one rank
  weft run -n 4 -- qr 512 --speedup       on four ranks, and how much faster they are
  weft run -n 4 -- qr 300 --rows 2000     more rows than columns: 300 reflections
  weft run -n 4 -- qr 200 --of-rank 50    a matrix of rank 50, which R's diagonal shows
  weft sim -n 64 qr 256                   on 64 simulated ranks";

/// The most rows, and the most columns.
const LARGEST: i64 = 20_000;

/// Factorizes a random matrix, AP = QR, by Householder reflections with column pivoting
///
/// Every rank of the Weft job holds every n-th column. In each iteration all ranks agree which
/// column is the longest, and its owner broadcasts the vector that all reflect their columns by.
/// All ranks check the result: |AP - QR|, |Q'Q - I|, and that the columns taken were the longest.
#[derive(Debug, Clone, Parser)]
#[command(name = "qr", version, after_help = EXAMPLES)]
pub struct Options {
    /// Columns of the matrix
    #[arg(default_value = "1024", value_parser = value_parser!(u32).range(1..=LARGEST))]
    pub columns: u32,

    /// Rows of the matrix [default: as many as columns]
    #[arg(long, value_parser = value_parser!(u32).range(1..=LARGEST))]
    pub rows: Option<u32>,

    /// Make a matrix of this rank: a product of two thin ones
    #[arg(long, value_name = "RANK", value_parser = value_parser!(u32).range(1..=LARGEST))]
    pub of_rank: Option<u32>,

    /// Another matrix
    #[arg(long, default_value = "1")]
    pub seed: u64,

    /// Broadcast by messages along a binomial tree, each forwarded when it is there as a whole
    #[arg(long)]
    pub tree: bool,

    /// Measure the speed-up: rank 0 alone and all ranks together, three times in turn, medians
    #[arg(long)]
    pub speedup: bool,
}

impl Options {
    /// The problem that these options state.
    pub fn problem(&self) -> Problem {
        Problem {
            rows: self.rows.unwrap_or(self.columns) as usize,
            columns: self.columns as usize,
            of_rank: self.of_rank.map(|rank| rank as usize),
            seed: self.seed,
        }
    }
}

#[cfg(test)]
mod tests;
