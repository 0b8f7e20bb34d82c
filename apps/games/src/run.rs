use std::io;

use weft::prelude::*;
use weft_app_common::{agree, seconds, thousands, write_out};
use weft_search::{Counted, Search, Settings};

use crate::bench::bench;
use crate::board::{Board, NoMove};
use crate::connect_four::{ConnectFour, ConnectFour5x4};
use crate::options::{Choice, Command, GameName, Options, PerftOptions, SolveOptions};
use crate::othello::Othello;
use crate::play::play;
use crate::ruled;
use crate::rules::{self, RulesError};
use crate::solve::solve;

/// Reason why a run gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Weft failed.
    #[error(transparent)]
    Weft(#[from] weft::Error),
    /// A search failed: a rank was lost.
    #[error(transparent)]
    Search(#[from] weft_search::Error),
    /// The rules cannot be used.
    #[error(transparent)]
    Rules(#[from] RulesError),
    /// The deadline was over.
    #[error("not counted within {0}")]
    Late(humantime::Duration),
    /// The deadline was over.
    #[error("not solved within {limit}: {known}")]
    Unsolved {
        /// The deadline.
        limit: humantime::Duration,
        /// Knowledge by then.
        known: String,
    },
    /// A puzzle is no game of two players.
    #[error("{0} is a puzzle, which is solved: weft-game solve {0}; perft counts its lines, too")]
    Puzzle(String),
    /// A puzzle has no solution.
    #[error("{0} has no solution from there")]
    Unsolvable(String),
    /// A position that is none.
    #[error("'{text}' is no position by these rules, whose first one is\n{like}")]
    Position {
        /// The text.
        text: String,
        /// The first position.
        like: String,
    },
    /// Positions are given to games by rules.
    #[error("--position is for games by rules: give the moves that led there")]
    NoPosition,
    /// A move of a puzzle that cannot be made.
    #[error("'{text}' is no move here: a move is its number by the rules; there are {legal}")]
    Move {
        /// The text.
        text: String,
        /// Moves there are.
        legal: String,
    },
    /// The moves played before are none.
    #[error(transparent)]
    Moves(#[from] NoMove),
    /// The report could not be written, or moves not read.
    #[error(transparent)]
    Output(#[from] io::Error),
}

/// Runs a command. Collective: every rank of the job calls it with the same options; rank 0 prints.
///
/// # Errors
/// [`enum@Error`].
pub fn run(weft: &Weft, options: &Options) -> Result<(), Error> {
    let command = &options.command;
    let choice = match command {
        Command::Perft(options) => &options.game,
        Command::Solve(options) => &options.game,
        Command::Play(options) => &options.game,
        Command::Bench(options) => &options.game,
        Command::Rules(options) => return rules::show(weft, options),
    };
    if let (Command::Solve(SolveOptions { position: Some(_), .. }), Choice::Own(_)) =
        (command, choice)
    {
        return agree(weft, Err(Error::NoPosition));
    }
    match choice {
        Choice::Own(GameName::Othello) => run_game(weft, Othello::FIRST, command),
        Choice::Own(GameName::ConnectFour) => run_game(weft, ConnectFour::FIRST, command),
        Choice::Own(GameName::ConnectFour5x4) => run_game(weft, ConnectFour5x4::FIRST, command),
        Choice::Rules(name) => {
            let library = rules::load(weft, name)?;
            ruled::run(weft, library, command)
        }
    }
}

/// Runs a command that is about a game which begins with the position `first`.
pub(crate) fn run_game<B: Board>(weft: &Weft, first: B, command: &Command) -> Result<(), Error> {
    match command {
        Command::Perft(options) => perft(weft, first, options),
        Command::Solve(options) => solve(weft, first, options),
        Command::Play(options) => play(weft, first, options),
        Command::Bench(options) => bench(weft, first, options),
        Command::Rules(options) => rules::show(weft, options),
    }
}

/// The searches of a command.
pub(crate) fn search(weft: &Weft, settings: Settings) -> Result<Search, Error> {
    Ok(Search::new(weft.engine(), weft.everyone(), "game", settings)?)
}

fn perft<B: Board>(weft: &Weft, first: B, options: &PerftOptions) -> Result<(), Error> {
    let mut search = search(weft, options.jobs.settings(options.deadline))?;
    let counted = search.perft(&first, options.depth)?;
    match (counted.lines, options.deadline) {
        _ if weft.rank() != 0 => Ok(()),
        (None, Some(limit)) => Err(Error::Late(limit)),
        (lines, _) => Ok(write_out(report(options, lines.unwrap_or_default(), &counted))?),
    }
}

fn report(options: &PerftOptions, lines: u64, counted: &Counted) -> String {
    let work = &counted.work;
    let rate = work.nodes_per_second() / 1e6;
    let [lines, nodes, jobs, messages] =
        [lines, work.nodes, work.jobs, work.messages].map(thousands);
    format!(
        "{lines} lines of {} moves   {nodes} nodes, {}, {rate:.1} million nodes a second, {jobs} \
         jobs sent in {messages} messages\n",
        options.depth,
        seconds(work.time)
    )
}
