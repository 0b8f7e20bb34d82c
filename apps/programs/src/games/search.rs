//! Searches of all commands, and words about them.

use weft::prelude::*;
use weft_app_common::{seconds, thousands};
use weft_search::{Deepened, Judged, Search, Settings};

use crate::games::board::{Board, Played};
use crate::games::error::Error;

/// The searches of a command.
pub(crate) fn search(weft: &Weft, settings: Settings) -> Result<Search, Error> {
    Ok(Search::new(weft.engine(), weft.everyone(), "game", settings)?)
}

/// Tells a user who waits what is known of a position.
pub(crate) fn tell<B: Board>(played: &Played<B>, one: &Deepened) {
    let Deepened { depth, value, best, nodes, time, .. } = one;
    eprintln!(
        "weft-game: {depth} moves ahead: {}, {}; {} nodes in {}",
        B::write_move(*best),
        played.say(*value, false),
        thousands(*nodes),
        seconds(*time)
    );
}

/// Words for the cost of a search.
pub(crate) fn work(judged: &Judged) -> String {
    let work = &judged.work;
    let rate = work.nodes_per_second() / 1e6;
    let [nodes, hits, jobs, messages] =
        [work.nodes, work.hits, work.jobs, work.messages].map(thousands);
    format!(
        "{nodes} nodes, {}, {rate:.2} million nodes a second, {hits} from the table, {jobs} \
         requests sent in {messages} messages",
        seconds(work.time)
    )
}
