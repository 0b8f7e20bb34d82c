use clap::{Parser, value_parser};
use weft_app_common::Coherence;

use crate::lu::matrix::Matrix;

const EXAMPLES: &str = "\
Examples:
  lu --verify                                        a matrix of 512 x 512 on one rank
  weft run -n 4 -- lu --order 1024 --speedup         on four ranks, and how much faster they are
  weft run -n 4 -- lu --block 32 --seed 7 --verify
  weft sim lu -n 64 --order 1024                     on 64 simulated ranks of the thesis's cluster";

/// The largest order.
const LARGEST: i64 = 8192;

/// Factorises a matrix into a lower and an upper triangle (LU), on all ranks of a Weft job, in
/// shared regions
///
/// The matrix is divided into blocks, each of them a region, which are scattered over the ranks.
/// For each block of the diagonal its owner factorises it, those of the blocks below it and to its
/// right divide by it, and all others subtract products of these. The diagonal outweighs its rows,
/// so that rows need no exchanging.
#[derive(Debug, Clone, Parser)]
#[command(name = "lu", version, after_help = EXAMPLES)]
pub struct Options {
    /// Rows and columns of the matrix
    #[arg(long, default_value = "512", value_parser = value_parser!(u32).range(1..=LARGEST))]
    pub order: u32,

    /// Rows and columns of a block
    #[arg(long, default_value = "16", value_parser = value_parser!(u32).range(1..=256))]
    pub block: u32,

    /// Fixes the matrix
    #[arg(long, value_name = "NUMBER", default_value = "1")]
    pub seed: u64,

    /// Check the result: against one rank in every bit, and by solving for a known vector
    #[arg(long)]
    pub verify: bool,

    /// Measure the speed-up: rank 0 alone and all ranks together, three times in turn, medians
    #[arg(long)]
    pub speedup: bool,

    #[command(flatten)]
    pub(crate) coherence: Coherence,
}

impl Options {
    /// Matrix to be factorised.
    pub(crate) fn matrix(&self) -> Matrix {
        Matrix { order: self.order as usize, block: self.block as usize, seed: self.seed }
    }
}

#[cfg(test)]
mod tests;
