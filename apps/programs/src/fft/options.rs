use clap::Parser;
use weft_app_common::Coherence;

const EXAMPLES: &str = "\
Examples:
  fft --verify                                       1,048,576 points on one rank
  weft run -n 4 -- fft --speedup                     on four ranks, and how much faster they are
  weft run -n 4 -- fft --points 65536 --seed 7 --verify
  weft sim fft -n 64                                 on 64 simulated ranks of the thesis's cluster";

/// The most points: 16,777,216, a matrix of 4,096 x 4,096.
const LARGEST: u32 = 1 << 24;

/// Transforms complex points (FFT in six steps), on all ranks of a Weft job, in shared regions
///
/// The points are a square matrix, divided among the ranks into P x P blocks, each of them a
/// region. Three times it is transposed, for which all ranks exchange their blocks; between that
/// each transforms the rows that it has.
#[derive(Debug, Clone, Parser)]
#[command(name = "fft", version, after_help = EXAMPLES)]
pub struct Options {
    /// Number of points: a power of 4
    #[arg(long, default_value = "1048576", value_parser = points)]
    pub points: u32,

    /// Fixes the points
    #[arg(long, value_name = "NUMBER", default_value = "1")]
    pub seed: u64,

    /// Check the result: against one rank in every bit, some outputs against the sum that defines
    /// them, the energy, and the transform back
    #[arg(long)]
    pub verify: bool,

    /// Measure the speed-up: rank 0 alone and all ranks together, three times in turn, medians
    #[arg(long)]
    pub speedup: bool,

    #[command(flatten)]
    pub(crate) coherence: Coherence,
}

impl Options {
    /// Rows and columns of the matrix.
    pub fn side(&self) -> usize {
        1 << (self.points.ilog2() / 2)
    }
}

fn points(text: &str) -> Result<u32, String> {
    let points = text.parse::<u32>().ok().filter(|points| (4..=LARGEST).contains(points));
    let square = points.filter(|points| points.is_power_of_two() && points.ilog2() % 2 == 0);
    square.ok_or_else(|| {
        "the points are a square matrix whose side is a power of two: 4, 16, 64, ... 16777216"
            .into()
    })
}

#[cfg(test)]
mod tests;
