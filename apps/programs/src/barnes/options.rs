use clap::{Parser, value_parser};
use weft_app_common::Coherence;

use crate::barnes::cell::Child;
use crate::barnes::force::Problem;

const EXAMPLES: &str = "\
Examples:
  barnes --bodies 2000                               a small cluster, on one rank
  weft run -n 4 -- barnes --verify                   16,384 bodies on four ranks, and all checks
  weft run -n 4 -- barnes --speedup --hint update    how much faster four ranks are, with bodies brought up to date
  weft sim -n 64 barnes --bodies 4096 --steps 2 --prefetch
                                                     on 64 simulated ranks";

/// Moves the stars of a cluster by the Barnes-Hut algorithm, on all ranks of a Weft job
///
/// Bodies, and the cells of the oct-tree that holds them, are small shared regions. In each step
/// all ranks build the tree together, and each computes the forces on as much of it as costs its
/// share. The bodies begin as a Plummer model. The result is the same on any number of ranks, bit
/// for bit.
#[derive(Debug, Clone, Parser)]
#[command(name = "barnes", version, after_help = EXAMPLES)]
pub struct Options {
    /// Number of bodies
    #[arg(long, default_value = "16384", value_parser = value_parser!(u32).range(2..=i64::from(Child::MOST)))]
    pub bodies: u32,

    /// Steps in time
    #[arg(long, default_value = "4", value_parser = value_parser!(u32).range(0..))]
    pub steps: u32,

    /// Length of a step; a star crosses the cluster in about 3
    #[arg(long, default_value = "0.025", value_parser = positive)]
    pub step: f64,

    /// A cell counts as one body where its side is below this share of its distance; 0 computes all
    /// pairs
    #[arg(long, default_value = "0.7", value_parser = angle)]
    pub theta: f64,

    /// Nothing is pulled as if from nearer than this
    #[arg(long, default_value = "0.05", value_parser = positive)]
    pub softening: f64,

    /// Fixes the bodies
    #[arg(long, default_value = "1")]
    pub seed: u64,

    /// Check the result: against one rank bit for bit, forces against sums over all bodies, energy
    /// and momentum
    #[arg(long)]
    pub verify: bool,

    /// Measure the speed-up: rank 0 alone and all ranks together, three times in turn, medians
    #[arg(long)]
    pub speedup: bool,

    /// Coherence of the bodies' regions
    #[command(flatten)]
    pub coherence: Coherence,
}

impl Options {
    /// The problem that these options state.
    pub fn problem(&self) -> Problem {
        Problem {
            bodies: self.bodies as usize,
            theta: self.theta,
            softening: self.softening,
            step: self.step,
            steps: self.steps as usize,
        }
    }
}

fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value > 0.0 && value.is_finite() => Ok(value),
        _ => Err("it is a number greater than 0".to_owned()),
    }
}

fn angle(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if (0.0..=1.5).contains(&value) => Ok(value),
        _ => Err("angles from 0 to 1.5 make sense".to_owned()),
    }
}
