use clap::{Args, Parser, Subcommand, ValueEnum, value_parser};
use std::time::Duration;
use weft_rules::{SHIPPED, Source};
use weft_search::{MOST_JOBS_PER_MESSAGE, Settings};

const EXAMPLES: &str = "\
Examples:
  weft-game perft othello 9                       3,005,288 lines of 9 moves, on one rank
  weft run -n 4 -- weft-game perft othello 11     on four ranks
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
    /// Count the lines of so many moves from the first position; a pass is a move
    Perft(PerftOptions),
    /// Check rules of a game, and show them
    Rules(RulesOptions),
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
    /// Game: othello, connect-four, or rules: awari, checkers, fifteen, solitaire, FILE.rules,
    /// FILE.c, FILE.so
    #[arg(value_parser = choice)]
    pub game: Choice,

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
