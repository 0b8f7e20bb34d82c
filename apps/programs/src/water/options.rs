use clap::{Parser, value_parser};
use weft_app_common::Coherence;

use crate::water::error::Error;
use crate::water::molecule::side;
use crate::water::potential::Space;
use crate::water::solve::Problem;

const EXAMPLES: &str = "\
Examples:
  water --molecules 64 --verify                      a drop, on one rank, and all checks
  weft run -n 4 -- water --speedup                   512 molecules on four ranks, and how much faster they are
  weft run -n 4 -- water --hint update --prefetch    with places brought up to date, and asked for ahead
  weft sim -n 64 water --steps 2 --hint update       on 64 simulated ranks";

/// The longest cut-off that is taken by itself, in nanometres.
const CUTOFF: f64 = 0.9;
/// The most molecules: pairs are counted.
const MOST: i64 = 1_000_000;

/// Moves the molecules of water, on all ranks of a Weft job
///
/// Each molecule is pulled by all others within a cut-off and by its own bonds. Where a molecule is
/// and the forces on it are shared regions. Each rank moves a block of the molecules, computes the
/// pairs of each with the half of all that follow it, and adds what it found to the forces of both.
#[derive(Debug, Clone, Parser)]
#[command(name = "water", version, after_help = EXAMPLES)]
pub struct Options {
    /// Number of molecules
    #[arg(long, default_value = "512", value_parser = value_parser!(u32).range(1..=MOST))]
    pub molecules: u32,

    /// Steps in time
    #[arg(long, default_value = "10", value_parser = value_parser!(u32).range(0..))]
    pub steps: u32,

    /// Length of a step, in femtoseconds; hydrogen takes about 9 to swing once
    #[arg(long, default_value = "0.2", value_parser = positive)]
    pub step: f64,

    /// Molecules farther apart do not feel each other, in nanometres [default: 0.9, or half the
    /// side of their space]
    #[arg(long, value_parser = positive)]
    pub cutoff: Option<f64>,

    /// Temperature in the beginning, in kelvin
    #[arg(long, default_value = "300", value_parser = positive)]
    pub temperature: f64,

    /// Fixes the velocities
    #[arg(long, default_value = "1")]
    pub seed: u64,

    /// Check the result: against one rank, forces against the slope of the energy, total energy and
    /// momentum
    #[arg(long)]
    pub verify: bool,

    /// Measure the speed-up: rank 0 alone and all ranks together, three times in turn, medians
    #[arg(long)]
    pub speedup: bool,

    /// Coherence of regions: update is said of places, migratory of forces
    #[command(flatten)]
    pub coherence: Coherence,
}

impl Options {
    /// The problem that these options state.
    ///
    /// # Errors
    /// [`Error::Cutoff`].
    pub fn problem(&self) -> Result<Problem, Error> {
        let molecules = self.molecules as usize;
        let side = side(molecules);
        let cutoff = self.cutoff.unwrap_or(CUTOFF.min(side / 2.0));
        if cutoff > side / 2.0 {
            return Err(Error::Cutoff { cutoff, molecules, side });
        }
        let space = Space { side, cutoff };
        // In picoseconds.
        let step = self.step / 1000.0;
        Ok(Problem { molecules, space, step, steps: self.steps as usize })
    }
}

fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value > 0.0 && value.is_finite() => Ok(value),
        _ => Err("it is a number greater than 0".to_owned()),
    }
}
