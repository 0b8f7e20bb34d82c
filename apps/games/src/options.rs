use clap::{Args, Parser, Subcommand, ValueEnum, value_parser};
use std::time::Duration;
use weft_search::{MOST_JOBS_PER_MESSAGE, Settings};

const EXAMPLES: &str = "\
Examples:
  weft-game perft othello 9                       3,005,288 lines of 9 moves, on one rank
  weft run -n 4 -- weft-game perft othello 11     on four ranks
  weft run -n 4 -- weft-game perft connect-four 10 --jobs-per-message 4
                                                  jobs travel in fours";

/// Games of two players, searched on all ranks of a Weft job
#[derive(Debug, Clone, Parser)]
#[command(name = "weft-game", version, after_help = EXAMPLES)]
pub struct Options {
    /// Command to run
    #[command(subcommand)]
    pub command: Command,
}

/// A command.
#[derive(Debug, Clone, Subcommand)]
pub enum Command {
    /// Count the lines of so many moves from the first position; a pass is a move
    Perft(PerftOptions),
}

/// Options of `weft-game perft`.
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLES)]
pub struct PerftOptions {
    /// Game
    pub game: GameName,

    /// Moves of a line
    #[arg(value_parser = value_parser!(u16).range(0..=60))]
    pub depth: u16,

    /// Jobs that are combined in a message at most
    #[arg(long, value_name = "JOBS", default_value = "64",
        value_parser = value_parser!(u16).range(1..=MOST_JOBS_PER_MESSAGE as i64))]
    pub jobs_per_message: u16,

    /// Moves left down to which positions go to their owners [default: 5 or 6, by the game]
    #[arg(long, value_name = "MOVES")]
    pub grain: Option<u16>,

    /// Longest time, such as 5s or 2min
    #[arg(long, value_name = "TIME")]
    pub deadline: Option<humantime::Duration>,
}

/// A game.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum GameName {
    /// Othello on 8 x 8 squares
    Othello,
    /// Connect Four on 7 columns of 6
    ConnectFour,
}

impl PerftOptions {
    /// Settings of the search.
    pub(crate) fn settings(&self) -> Settings {
        Settings {
            jobs_per_message: self.jobs_per_message.into(),
            grain: self.grain,
            deadline: self.deadline.map(Duration::from),
            ..Settings::default()
        }
    }
}
