use std::io;

use weft::prelude::*;
use weft_app_common::{seconds, thousands, write_out};
use weft_search::{Counted, Search, Settings};

use crate::bench::bench;
use crate::board::{Board, NoMove};
use crate::connect_four::{ConnectFour, ConnectFour5x4};
use crate::options::{Command, GameName, Options, PerftOptions};
use crate::othello::Othello;
use crate::play::play;
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
    let game = match &options.command {
        Command::Perft(options) => options.game,
        Command::Solve(options) => options.game,
        Command::Play(options) => options.game,
        Command::Bench(options) => options.game,
    };
    match game {
        GameName::Othello => run_game::<Othello>(weft, &options.command),
        GameName::ConnectFour => run_game::<ConnectFour>(weft, &options.command),
        GameName::ConnectFour5x4 => run_game::<ConnectFour5x4>(weft, &options.command),
    }
}

fn run_game<B: Board>(weft: &Weft, command: &Command) -> Result<(), Error> {
    match command {
        Command::Perft(options) => perft::<B>(weft, options),
        Command::Solve(options) => solve::<B>(weft, options),
        Command::Play(options) => play::<B>(weft, options),
        Command::Bench(options) => bench::<B>(weft, options),
    }
}

/// The searches of a command.
pub(crate) fn search(weft: &Weft, settings: Settings) -> Result<Search, Error> {
    Ok(Search::new(weft.engine(), weft.everyone(), "game", settings)?)
}

fn perft<B: Board>(weft: &Weft, options: &PerftOptions) -> Result<(), Error> {
    let mut search = search(weft, options.jobs.settings(options.deadline))?;
    let counted = search.perft(&B::FIRST, options.depth)?;
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
