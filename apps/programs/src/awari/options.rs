use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, value_parser};

use crate::awari::board::Board;
use crate::awari::index::MOST_STONES;

const EXAMPLES: &str = "\
Examples:
  weft run -n 4 -- awari make --stones 13 --directory databases
                                            all databases of up to 13 stones, on four ranks
  awari query '0 0 1 0 2 1 0 0 0 1 0 2' --directory databases
                                            the value of a board, of its moves, and the best line
  awari play --directory databases          a game against the databases
  weft run -n 4 -- awari check --directory databases
                                            every value against those of its moves";

const MAKE: &str = "\
Examples:
  awari make --stones 8                     databases of up to 8 stones, in this directory
  weft run -n 4 -- awari make --stones 13 --directory databases
                                            up to 13 stones, on four ranks
  weft run -n 4 -- awari make --stones 13 --directory databases --batch 65536
                                            with up to 16,384 updates in a message";

const QUERY: &str = "\
Examples:
  awari query '0 0 1 0 2 1 0 0 0 1 0 2'     databases in this directory
  awari query 0,0,1,0,2,1,0,0,0,1,0,2 --directory databases";

const PLAY: &str = "\
Examples:
  awari play --directory databases          from the first board; you begin
  awari play --second --depth 14            the program begins, and looks 14 moves ahead
  awari play --board '0 0 1 0 2 1 0 0 0 1 0 2'
                                            an endgame
  printf '3\\n5\\nquit\\n' | awari play       moves that are not typed";

const CHECK: &str = "\
Examples:
  awari check                               all positions of all databases in this directory
  awari check --stones 9 --sample 10000     those of up to 9 stones, 10,000 positions of each
  weft run -n 4 -- awari check --directory databases
                                            on four ranks";

/// Endgame databases of the game Awari, by retrograde analysis on all ranks of a Weft job
///
/// A database has the value of every board with a number of stones: how many stones the side to
/// move takes more than its opponent, if both play best. A board is 12 numbers, the mover's pits
/// first, counter-clockwise.
#[derive(Debug, Clone, Parser)]
#[command(name = "awari", version, after_help = EXAMPLES)]
pub struct Options {
    /// Command to run
    #[command(subcommand)]
    pub command: Command,
}

/// A command.
#[derive(Debug, Clone, Subcommand)]
pub enum Command {
    /// Make the databases of 0 stones, of 1, ..., on all ranks; those that are there are kept
    Make(MakeOptions),
    /// Print the value of a board, each move and its value, and the best line
    Query(QueryOptions),
    /// Play a game: perfectly where the databases reach, and by searching above
    Play(PlayOptions),
    /// Check the checksums of databases, and each value against those of its moves
    Check(CheckOptions),
}

/// Options of `awari make`.
#[derive(Debug, Clone, Args)]
#[command(after_help = MAKE)]
pub struct MakeOptions {
    /// Stones of the largest boards
    #[arg(long, value_parser = value_parser!(u32).range(0..=i64::from(MOST_STONES)))]
    pub stones: u32,

    /// Directory for the files, which all ranks share; it is made if it is not there
    #[arg(long, default_value = ".")]
    pub directory: PathBuf,

    /// Bytes of updates that make a message to another rank; an update has 4
    #[arg(long, default_value = "4096", value_parser = value_parser!(u32).range(4..=1 << 24))]
    pub batch: u32,

    /// Calls that a rank has under way at most; as many as are good, if not given
    #[arg(long, value_parser = value_parser!(u16).range(1..))]
    pub calls: Option<u16>,

    /// Make those again that are there
    #[arg(long)]
    pub again: bool,
}

/// Options of `awari query`.
#[derive(Debug, Clone, Args)]
#[command(after_help = QUERY)]
pub struct QueryOptions {
    /// Board: 12 numbers, the mover's pits first
    pub board: Board,

    /// Directory of the databases
    #[arg(long, default_value = ".")]
    pub directory: PathBuf,
}

/// Options of `awari play`.
#[derive(Debug, Clone, Args)]
#[command(after_help = PLAY)]
pub struct PlayOptions {
    /// Directory of the databases
    #[arg(long, default_value = ".")]
    pub directory: PathBuf,

    /// Board to begin with: 12 numbers, the pits of who begins first
    #[arg(long, default_value_t = Board::first())]
    pub board: Board,

    /// Let the program begin
    #[arg(long)]
    pub second: bool,

    /// Moves that the program looks ahead where no database reaches
    #[arg(long, default_value = "10", value_parser = value_parser!(u32).range(1..=30))]
    pub depth: u32,
}

/// Options of `awari check`.
#[derive(Debug, Clone, Args)]
#[command(after_help = CHECK)]
pub struct CheckOptions {
    /// Directory of the databases, on rank 0's host
    #[arg(long, default_value = ".")]
    pub directory: PathBuf,

    /// Stones of the largest boards; without it, those of the largest database that is there
    #[arg(long, value_parser = value_parser!(u32).range(0..=i64::from(MOST_STONES)))]
    pub stones: Option<u32>,

    /// Check so many positions of each database, evenly spread, instead of all
    #[arg(long, value_parser = value_parser!(u32).range(1..))]
    pub sample: Option<u32>,
}
