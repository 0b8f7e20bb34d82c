use weft::prelude::*;
use weft_app_common::{agree, seconds, thousands, write_out};
use weft_search::Counted;

use crate::games::bench::bench;
use crate::games::board::Board;
use crate::games::connect_four::{ConnectFour, ConnectFour5x4};
use crate::games::error::Error;
use crate::games::options::{Choice, Command, GameName, Options, PerftOptions, SolveOptions};
use crate::games::othello::Othello;
use crate::games::play::play;
use crate::games::ruled;
use crate::games::rules;
use crate::games::search::search;
use crate::games::solve::solve;

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
