use clap::Parser;
use clap::value_parser;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  tsp                                    14 towns in Burma, on one rank
  weft run -n 4 -- tsp --random 16       16 towns at random places, on four ranks
  weft run -n 4 -- tsp --random 15 --verify --speedup
                                         checked by dynamic programming, and how much faster
  tsp --file berlin.tsp                  coordinates in TSPLIB's format

The towns that come with the program are burma14 of TSPLIB, whose shortest tour has 3,323 km.";

/// Finds the shortest tour of some towns, on all ranks of a Weft job
///
/// Branch and bound: the beginnings of tours are jobs in a queue, a shared object in one place. The
/// length of the best tour so far is another one, which is replicated: every rank reads it before
/// each step, and writes it when it has found a better tour. The result does not depend on how many
/// ranks there are.
#[derive(Debug, Clone, Parser)]
#[command(name = "tsp", version, after_help = EXAMPLES)]
pub struct Options {
    /// Coordinates of towns in TSPLIB's format, with EUC_2D or GEO distances
    #[arg(long, value_name = "FILE.tsp")]
    pub file: Option<PathBuf>,

    /// So many towns at random places
    #[arg(long, value_name = "TOWNS", conflicts_with = "file",
        value_parser = value_parser!(u8).range(3..=64))]
    pub random: Option<u8>,

    /// Other random places
    #[arg(long, default_value = "1")]
    pub seed: u64,

    /// Towns of a job: the beginning of a tour
    #[arg(long, value_name = "TOWNS", default_value = "4",
        value_parser = value_parser!(u8).range(1..=6))]
    pub depth: u8,

    /// Check the length by dynamic programming (up to 20 towns)
    #[arg(long)]
    pub verify: bool,

    /// Measure the speed-up: rank 0 alone and all ranks together, three times in turn, medians
    #[arg(long)]
    pub speedup: bool,
}

#[cfg(test)]
mod tests;
