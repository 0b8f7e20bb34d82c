use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Parser, ValueEnum};

use crate::rows::BATCH;

const EXAMPLES: &str = "\
Examples:
  asp                                           Amsterdam to Hobart, on one rank
  weft run -n 4 -- asp --from LHR --to SCL      on four ranks
  weft run -n 4 -- asp --speedup --map asp.svg  measure the speed-up, draw a map
  weft run -n 4 -- asp --on objects             by a shared object instead of broadcasts
  asp --sample 500 --to SYD                     the 500 best-connected airports only
  asp --import airports.dat routes.dat data     make the tables from the files of OpenFlights

Airports and routes come with the program: OpenFlights (openflights.org), Open Database License.";

/// Shortest flights between all pairs of the world's airports, computed by all ranks of a Weft job
///
/// Floyd and Warshall's algorithm on the distance matrix of the world's scheduled routes. Every
/// rank holds a block of rows and broadcasts each when it is final. The answer is checked against
/// Dijkstra's algorithm before it is printed.
#[derive(Debug, Clone, Parser)]
#[command(name = "asp", version, after_help = EXAMPLES)]
pub struct Options {
    /// Start of the route to show: an IATA or ICAO code
    #[arg(long, value_name = "AIRPORT", default_value = "AMS")]
    pub from: String,

    /// End of the route
    #[arg(long, value_name = "AIRPORT", default_value = "HBA")]
    pub to: String,

    /// From how many airports Dijkstra's algorithm checks the distances to all others
    #[arg(long, value_name = "SOURCES", default_value = "32")]
    pub check: NonZeroUsize,

    /// Keep only the N airports with the most routes
    #[arg(long, value_name = "N")]
    pub sample: Option<NonZeroUsize>,

    /// Way of the rows from their owners to all others
    #[arg(long, value_enum, default_value_t, value_name = "WAY")]
    pub on: On,

    /// Pivots whose rows are relaxed with at once, at most
    #[arg(long, default_value_t = BATCH, value_name = "ROWS", value_parser = batch)]
    pub batch: usize,

    /// Look for messages after each row that is relaxed, where nothing interrupts
    #[arg(long)]
    pub polls: bool,

    /// Measure the speed-up: rank 0 alone and all ranks together, three times in turn, medians
    #[arg(long)]
    pub speedup: bool,

    /// Draw the routes on a map of the world
    #[arg(long, value_name = "FILE.svg")]
    pub map: Option<PathBuf>,

    /// Airports to use instead of those that come with the program (data/README.md has the format)
    #[arg(long, value_name = "FILE", requires = "routes")]
    pub airports: Option<PathBuf>,

    /// Routes to use instead of those that come with the program
    #[arg(long, value_name = "FILE", requires = "airports")]
    pub routes: Option<PathBuf>,

    /// Make airports.tsv and routes.tsv in DIR from airports.dat and routes.dat of OpenFlights
    #[arg(long, num_args = 3, value_names = ["AIRPORTS", "ROUTES", "DIR"], exclusive = true)]
    pub import: Option<Vec<PathBuf>>,
}

/// A way of rows to all ranks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum On {
    /// A broadcast for each
    #[default]
    Broadcasts,
    /// Messages along a binomial tree, each forwarded when it is there as a whole
    Tree,
    /// An operation on a shared object that is replicated; it keeps all rows at every rank
    Objects,
}

fn batch(text: &str) -> Result<usize, String> {
    let batch = text.parse().ok().filter(|batch| (1..=BATCH).contains(batch));
    batch.ok_or_else(|| format!("a batch has 1 to {BATCH} rows"))
}

#[cfg(test)]
mod tests;
