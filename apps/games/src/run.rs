use std::io;

use weft::prelude::*;
use weft_app_common::{seconds, thousands, write_out};
use weft_search::{Counted, Search};

use crate::connect_four::ConnectFour;
use crate::options::{Command, GameName, Options, PerftOptions};
use crate::othello::Othello;

/// Reason why a run gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A search failed: a rank was lost.
    #[error(transparent)]
    Search(#[from] weft_search::Error),
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
    let Command::Perft(options) = &options.command;
    let mut search = Search::new(weft.engine(), weft.everyone(), "game", options.settings())?;
    let counted = match options.game {
        GameName::Othello => search.perft(&Othello::FIRST, options.depth)?,
        GameName::ConnectFour => search.perft(&ConnectFour::FIRST, options.depth)?,
    };
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
