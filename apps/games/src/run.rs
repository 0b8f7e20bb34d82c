use std::io;

use weft::prelude::*;
use weft_app_common::{seconds, thousands, write_out};
use weft_rules::{GameVisitor, Written};
use weft_search::{Counted, Game, Search, Settings};

use crate::connect_four::ConnectFour;
use crate::options::{Choice, Command, GameName, Options, PerftOptions};
use crate::othello::Othello;
use crate::rules::{self, RulesError};

/// Reason why a run gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A search failed: a rank was lost.
    #[error(transparent)]
    Search(#[from] weft_search::Error),
    /// The rules cannot be used.
    #[error(transparent)]
    Rules(#[from] RulesError),
    /// The deadline was over.
    #[error("not counted within {0}")]
    Late(humantime::Duration),
    /// The report could not be written.
    #[error(transparent)]
    Output(#[from] io::Error),
}

/// Runs a command. Collective: every rank of the job calls it with the same options; rank 0 prints.
///
/// # Errors
/// [`enum@Error`].
pub fn run(weft: &Weft, options: &Options) -> Result<(), Error> {
    match &options.command {
        Command::Perft(options) => perft(weft, options),
        Command::Rules(options) => rules::show(weft, options),
    }
}

fn perft(weft: &Weft, options: &PerftOptions) -> Result<(), Error> {
    let settings = options.settings();
    let lines = Lines { weft, depth: options.depth, settings };
    let counted = match &options.game {
        Choice::Own(GameName::Othello) => lines.count(&Othello::FIRST)?,
        Choice::Own(GameName::ConnectFour) => lines.count(&ConnectFour::FIRST)?,
        Choice::Rules(name) => {
            let library = rules::load(weft, name)?;
            let grain = settings.grain.or_else(|| Some(library.grain()).filter(|grain| *grain > 0));
            library.game(Lines { settings: Settings { grain, ..settings }, ..lines })?
        }
    };
    match (counted.lines, options.deadline) {
        _ if weft.rank() != 0 => Ok(()),
        (None, Some(limit)) => Err(Error::Late(limit)),
        (lines, _) => Ok(write_out(report(options, lines.unwrap_or_default(), &counted))?),
    }
}

/// Counting of lines, of any game.
#[derive(Clone, Copy)]
struct Lines<'w> {
    weft: &'w Weft,
    depth: u16,
    settings: Settings,
}

impl Lines<'_> {
    fn count<G: Game>(&self, first: &G) -> Result<Counted, Error> {
        let weft = self.weft;
        let mut search = Search::new(weft.engine(), weft.everyone(), "game", self.settings)?;
        Ok(search.perft(first, self.depth)?)
    }
}

impl GameVisitor for Lines<'_> {
    type Output = Result<Counted, Error>;

    fn visit<G: Game + Written>(self, first: G) -> Result<Counted, Error> {
        self.count(&first)
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
