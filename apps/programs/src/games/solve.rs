//! `weft-game solve`: the outcome of a position.

use std::ops::ControlFlow;
use std::time::Duration;

use weft::prelude::*;
use weft_app_common::{agree, write_out};
use weft_search::{Deepened, Judged, Plan};

use crate::games::board::{Board, Played};
use crate::games::error::Error;
use crate::games::options::SolveOptions;
use crate::games::search::{search, tell, work};

/// Time of a search from which on each of its depths is told.
const LONG: Duration = Duration::from_secs(2);

pub(crate) fn solve<B: Board>(weft: &Weft, first: B, options: &SolveOptions) -> Result<(), Error> {
    let played = agree(weft, Played::after(first, &options.moves).map_err(Error::from))?;
    let mut search = search(weft, options.search.settings(options.deadline))?;
    let plan = Plan { depth: u16::MAX, strategy: options.search.strategy() };
    let began = weft.now();
    let after = |one: &Deepened| {
        if weft.now() - began >= LONG {
            tell(&played, one);
        }
        match played.position.outcome(one.value, false) {
            Some(_) => ControlFlow::Break(()),
            None => ControlFlow::Continue(()),
        }
    };
    let judged = search.best_move(&played.position, plan, after)?;
    if weft.rank() != 0 {
        return Ok(());
    }
    let is_solved = judged.is_exact || played.position.outcome(judged.value, false).is_some();
    match options.deadline.filter(|_| !is_solved) {
        None => Ok(write_out(report(&played, &judged))?),
        Some(limit) => Err(Error::Unsolved { limit, known: estimate(&played, &judged) }),
    }
}

fn estimate<B: Board>(played: &Played<B>, judged: &Judged) -> String {
    match judged.best() {
        Some(best) if judged.depth > 0 => format!(
            "{} moves ahead it is {}, with {}",
            judged.depth,
            played.say(judged.value, false),
            B::write_move(best)
        ),
        _ => "nothing is known by then".into(),
    }
}

fn report<B: Board>(played: &Played<B>, judged: &Judged) -> String {
    let line = match judged.line.as_slice() {
        [] => "the game is over".into(),
        [best, ..] => {
            format!("best {}   line {}", B::write_move(*best), Played::<B>::write(&judged.line))
        }
    };
    format!(
        "{}{}\n{line}\n{}\n",
        played.draw(),
        played.say(judged.value, judged.is_exact),
        work(judged)
    )
}
