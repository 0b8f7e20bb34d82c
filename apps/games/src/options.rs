use clap::{Args, Parser, Subcommand, ValueEnum, value_parser};
use std::time::Duration;
use weft_search::{MOST_JOBS_PER_MESSAGE, Replacement, Settings, Strategy};

const EXAMPLES: &str = "\
Examples:
  weft run -n 4 -- weft-game solve connect-four-5x4
                                                  who wins, and by which moves
  weft-game solve connect-four-5x4 3 3 2          the same after three moves
  weft run -n 4 -- weft-game play othello --deadline 5s
                                                  you begin; it thinks for 5 s a move
  weft run -n 4 -- weft-game play connect-four --self --deadline 1s
                                                  it plays both sides
  weft run -n 4 -- weft-game bench othello --depth 9
                                                  nodes a second in fixed positions
  weft-game perft othello 9                       3,005,288 lines of 9 moves, on one rank
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
    /// Find out who wins, by how much, and by which moves
    Solve(SolveOptions),
    /// Play against the ranks, or let them play both sides
    Play(PlayOptions),
    /// Count the lines of so many moves from the first position; a pass is a move
    Perft(PerftOptions),
    /// Search fixed positions to a depth, and print nodes a second
    Bench(BenchOptions),
}

/// Options of `weft-game solve`.
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLES)]
pub struct SolveOptions {
    /// Game
    pub game: GameName,

    /// Moves played before, such as '4 4 3' or d3 c5
    pub moves: Vec<String>,

    /// Options of the search
    #[command(flatten)]
    pub search: ValueOptions,

    /// Longest time, such as 5s or 2min
    #[arg(long, value_name = "TIME")]
    pub deadline: Option<humantime::Duration>,
}

/// Options of `weft-game play`.
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLES)]
pub struct PlayOptions {
    /// Game
    pub game: GameName,

    /// Moves played before, such as '4 4 3' or d3 c5
    pub moves: Vec<String>,

    /// Options of the search
    #[command(flatten)]
    pub search: ValueOptions,

    /// Longest time for a move, such as 5s or 200ms
    #[arg(long, value_name = "TIME", default_value = "5s")]
    pub deadline: humantime::Duration,

    /// Moves that are looked ahead at most
    #[arg(long, value_name = "MOVES", default_value = "60", value_parser = value_parser!(u16).range(1..))]
    pub depth: u16,

    /// Play both sides
    #[arg(long = "self", conflicts_with = "second")]
    pub both: bool,

    /// Let the ranks begin
    #[arg(long)]
    pub second: bool,
}

/// Options of `weft-game bench`.
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLES)]
pub struct BenchOptions {
    /// Game
    pub game: GameName,

    /// Moves that are looked ahead
    #[arg(long, value_name = "MOVES", default_value = "8", value_parser = value_parser!(u16).range(1..=60))]
    pub depth: u16,

    /// Options of the search
    #[command(flatten)]
    pub search: ValueOptions,
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

    /// Options of jobs
    #[command(flatten)]
    pub jobs: JobOptions,

    /// Longest time, such as 5s or 2min
    #[arg(long, value_name = "TIME")]
    pub deadline: Option<humantime::Duration>,
}

/// Options of jobs.
#[derive(Debug, Clone, Args)]
pub struct JobOptions {
    /// Jobs that are combined in a message at most
    #[arg(long, value_name = "JOBS", default_value = "64",
        value_parser = value_parser!(u16).range(1..=MOST_JOBS_PER_MESSAGE as i64))]
    pub jobs_per_message: u16,

    /// Moves left down to which positions go to their owners [default: by the game]
    #[arg(long, value_name = "MOVES")]
    pub grain: Option<u16>,
}

/// Options of searches for values.
#[derive(Debug, Clone, Args)]
pub struct ValueOptions {
    /// Options of jobs
    #[command(flatten)]
    pub jobs: JobOptions,

    /// MiB of each rank's transposition table; 0 for none
    #[arg(long, value_name = "MIB", default_value = "64",
        value_parser = value_parser!(u32).range(0..=1 << 20))]
    pub table: u32,

    /// Rule by which positions in the table give way
    #[arg(long, value_name = "RULE", default_value = "deeper")]
    pub replace: Replace,

    /// Way to find a value
    #[arg(long, value_name = "STRATEGY", default_value = "mtdf")]
    pub strategy: StrategyName,
}

/// Rule by which positions in the table give way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Replace {
    /// Always
    Always,
    /// To one that was searched as deep, or deeper
    Deeper,
}

/// Way to find a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum StrategyName {
    /// MTD(f): searches that each ask whether the value is so much, or more
    Mtdf,
    /// Alpha-beta: one search for all values
    AlphaBeta,
}

/// A game.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum GameName {
    /// Othello on 8 x 8 squares
    Othello,
    /// Connect Four on 7 columns of 6
    ConnectFour,
    /// Connect Four on 5 columns of 4
    #[value(name = "connect-four-5x4")]
    ConnectFour5x4,
}

impl JobOptions {
    /// Settings of a search.
    pub(crate) fn settings(&self, deadline: Option<humantime::Duration>) -> Settings {
        Settings {
            jobs_per_message: self.jobs_per_message.into(),
            grain: self.grain,
            deadline: deadline.map(Duration::from),
            ..Settings::default()
        }
    }
}

impl ValueOptions {
    /// Settings of a search.
    pub(crate) fn settings(&self, deadline: Option<humantime::Duration>) -> Settings {
        Settings {
            table_bytes: (self.table as usize) << 20,
            replacement: match self.replace {
                Replace::Deeper => Replacement::DepthPreferred,
                Replace::Always => Replacement::Always,
            },
            // Nodes take longer than those of a puzzle, and others wait for answers.
            poll_nodes: 256,
            ..self.jobs.settings(deadline)
        }
    }

    /// Way to find a value.
    pub(crate) fn strategy(&self) -> Strategy {
        match self.strategy {
            StrategyName::Mtdf => Strategy::MtdF,
            StrategyName::AlphaBeta => Strategy::AlphaBeta,
        }
    }
}
