//! `weft-game bench`: fixed positions, searched to a depth.

use std::ops::ControlFlow;
use std::time::Duration;

use weft::prelude::*;
use weft_app_common::{seconds, thousands, write_out};
use weft_search::Plan;

use crate::games::board::{Board, Played};
use crate::games::error::Error;
use crate::games::options::BenchOptions;
use crate::games::search::{search, work};

/// Positions that are searched.
const POSITIONS: u64 = 6;

pub(crate) fn bench<B: Board>(weft: &Weft, first: B, options: &BenchOptions) -> Result<(), Error> {
    let mut search = search(weft, options.search.settings(None))?;
    let plan = Plan { depth: options.depth, strategy: options.search.strategy() };
    let (mut nodes, mut time) = (0, Duration::ZERO);
    for number in 0..POSITIONS {
        let played = position(first, number);
        // Each position counts for itself.
        search.forget();
        let go_on = |_: &_| ControlFlow::Continue(());
        let judged = search.best_move(&played.position, plan, go_on)?;
        nodes += judged.work.nodes;
        time += judged.work.time;
        if weft.rank() == 0 {
            let (moves, value) = (Played::<B>::write(&played.moves), judged.value);
            let line = Played::<B>::write(&judged.line);
            write_out(format!(
                "after {moves}\n  value {value}   line {line}\n  {}\n",
                work(&judged)
            ))?;
        }
    }
    if weft.rank() == 0 {
        let rate = nodes as f64 / time.as_secs_f64().max(f64::MIN_POSITIVE) / 1e6;
        let (nodes, time) = (thousands(nodes), seconds(time));
        write_out(format!("{nodes} nodes in {time}, {rate:.2} million nodes a second\n"))?;
    }
    Ok(())
}

/// A position some moves into a game of moves that look random.
fn position<B: Board>(first: B, number: u64) -> Played<B> {
    let mut played = Played::first(first);
    let mut random = number;
    while played.moves.len() < 4 + 2 * number as usize {
        random =
            random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let count = played.position.count_moves().max(1);
        let by = played.position.moves().nth(((random >> 33) % count) as usize);
        // A game must go on, and not be won by the next move.
        let next = by.map(|by| played.position.play(by));
        let Some((by, next)) = by.zip(next) else { break };
        if next.moves().any(|by| next.play(by).count_moves() == 0) {
            break;
        }
        played.play(by);
    }
    played
}
