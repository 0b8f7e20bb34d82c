use clap::{Args, Parser, Subcommand, ValueEnum, value_parser};
use std::time::Duration;
use weft_rules::{SHIPPED, Source};
use weft_search::{MOST_JOBS_PER_MESSAGE, Replacement, Settings, Strategy};

const EXAMPLES: &str = "\
Examples:
  weft run -n 4 -- weft-game solve connect-four-5x4
                                                  who wins, and by which moves
  weft-game solve connect-four-5x4 3 3 2          the same after three moves
  weft-game solve fifteen --position '1 5 2 3 4 0 6 7 8 9 10 11 12 13 14 15'
                                                  a puzzle, by as few moves as there can be
  weft run -n 4 -- weft-game play othello --deadline 5s
                                                  you begin; it thinks for 5 s a move
  weft run -n 4 -- weft-game play connect-four --self --deadline 1s
                                                  it plays both sides
  weft run -n 4 -- weft-game bench othello --depth 9
                                                  nodes a second in fixed positions
  weft-game perft othello 9                       3,005,288 lines of 9 moves, on one rank
  weft run -n 4 -- weft-game perft connect-four 10 --jobs-per-message 4
                                                  jobs travel in fours
  weft-game perft checkers 8                      a game that comes as a text of rules
  weft-game perft mine.rules 5                    your own; also a C file, or a library that it
                                                  became (./mine.so)
  weft-game rules mine.rules                      check it, and say what is wrong with it
  weft-game rules checkers --text > mine.rules    a text to begin with";

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
    /// Check rules of a game, and show them
    Rules(RulesOptions),
}

/// Options of `weft-game solve`.
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLES)]
pub struct SolveOptions {
    /// Game: othello, connect-four, connect-four-5x4, or rules: awari, checkers, fifteen,
    /// solitaire, FILE.rules, FILE.c, FILE.so
    #[arg(value_parser = choice)]
    pub game: Choice,

    /// Moves played before, such as '4 4 3' or d3 c5
    pub moves: Vec<String>,

    /// Position to begin with, as its rules write it; for games by rules
    #[arg(long, value_name = "POSITION")]
    pub position: Option<String>,

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
    /// Game: othello, connect-four, connect-four-5x4, or rules: awari, checkers, fifteen,
    /// solitaire, FILE.rules, FILE.c, FILE.so
    #[arg(value_parser = choice)]
    pub game: Choice,

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
    /// Game: othello, connect-four, connect-four-5x4, or rules: awari, checkers, fifteen,
    /// solitaire, FILE.rules, FILE.c, FILE.so
    #[arg(value_parser = choice)]
    pub game: Choice,

    /// Moves that are looked ahead
    #[arg(long, value_name = "MOVES", default_value = "8", value_parser = value_parser!(u16).range(1..=60))]
    pub depth: u16,

    /// Options of the search
    #[command(flatten)]
    pub search: ValueOptions,
}

/// Options of `weft-game rules`.
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLES)]
pub struct RulesOptions {
    /// Rules: FILE.rules, FILE.c, FILE.so, or a game that comes along
    #[arg(value_name = "RULES")]
    pub rules: String,

    /// Print the C that they become
    #[arg(long)]
    pub emit_c: bool,

    /// Print the text
    #[arg(long, conflicts_with = "emit_c")]
    pub text: bool,
}

/// Options of `weft-game perft`.
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLES)]
pub struct PerftOptions {
    /// Game: othello, connect-four, connect-four-5x4, or rules: awari, checkers, fifteen,
    /// solitaire, FILE.rules, FILE.c, FILE.so
    #[arg(value_parser = choice)]
    pub game: Choice,

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

/// A game that somebody chose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Choice {
    /// One that is part of the program.
    Own(GameName),
    /// Rules: a path, or a game that comes along as a text.
    Rules(String),
}

/// A game that is part of the program.
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

fn choice(text: &str) -> Result<Choice, String> {
    if let Ok(name) = GameName::from_str(text, true) {
        return Ok(Choice::Own(name));
    }
    if Source::is_name(text) {
        return Ok(Choice::Rules(text.into()));
    }
    let own = GameName::value_variants().iter().filter_map(ValueEnum::to_possible_value);
    let mut all: Vec<String> = own.map(|value| value.get_name().to_owned()).collect();
    all.extend(SHIPPED.iter().map(|(name, _)| (*name).to_owned()));
    all.sort();
    all.dedup();
    Err(format!("games are {}, and files that end in .rules, .c or .so", all.join(", ")))
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
