use std::io;
use std::time::Duration;

use weft::prelude::*;
use weft_app_common::{agree, seconds, thousands, write_out};
use weft_search::{Iteration, Search, SearchAnswer, Solved};

use crate::puzzle::input::{InputError, Instance, instances};
use crate::puzzle::options::Options;
use crate::puzzle::report::report;

/// Time of a search from which on each of its iterations is told.
const LONG: Duration = Duration::from_secs(2);

/// Reason why a run gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Weft failed.
    #[error(transparent)]
    Weft(#[from] weft::Error),
    /// A search failed: a rank was lost.
    #[error(transparent)]
    Search(#[from] weft_search::Error),
    /// There is no such board.
    #[error(transparent)]
    Input(#[from] InputError),
    /// The deadline was over.
    #[error("no solution within {limit}: the shortest has {at_least} moves or more")]
    Late {
        /// The deadline.
        limit: humantime::Duration,
        /// Number of moves that it has at least.
        at_least: u16,
    },
    /// Another length than the file says.
    #[error("the shortest solution of {name} has {found} moves, and not {expected}")]
    Wrong {
        /// Name of the instance.
        name: String,
        /// Length that was found.
        found: usize,
        /// Length that is said.
        expected: u16,
    },
    /// A solution that is there was not found.
    #[error("no solution of {name} was found, which has one of {expected} moves")]
    Missed {
        /// Name of the instance.
        name: String,
        /// Length that is said.
        expected: u16,
    },
    /// The report could not be written.
    #[error(transparent)]
    Output(#[from] io::Error),
}

/// Solves boards, one after the other, and prints what comes of it. Collective: every rank of the
/// job calls it with the same options; rank 0 prints.
///
/// # Errors
/// Boards that are none, a lost rank, a length that is not the one that a file says, a deadline
/// that is over, or output that cannot be written.
pub fn run(weft: &Weft, options: &Options) -> Result<(), Error> {
    let is_first = weft.rank() == 0;
    solve(weft, options, |instance, solved| match is_first {
        true => Ok(write_out(report(instance, solved, options.brief))?),
        false => Ok(()),
    })
}

/// Does what [`run`] does, but prints no results: `after` hears of each board, at all ranks.
///
/// # Errors
/// Those of [`run`], and of `after`.
pub fn solve(
    weft: &Weft,
    options: &Options,
    mut after: impl FnMut(&Instance, &Solved) -> Result<(), Error>,
) -> Result<(), Error> {
    let instances = agree(weft, instances(options).map_err(Error::from))?;
    let mut search = Search::new(weft.engine(), weft.everyone(), "puzzle", options.settings())?;
    let is_first = weft.rank() == 0;
    for instance in &instances {
        let _span = weft.span("solve");
        let began = weft.now();
        let tell = |iteration: &Iteration| {
            if is_first && weft.now() - began >= LONG {
                tell(iteration);
            }
        };
        let solved = match options.best_first {
            None => search.solve(&instance.board, tell)?,
            Some(mib) => search.best_first(&instance.board, (mib as usize) << 20, tell)?,
        };
        after(instance, &solved)?;
        judge(instance, &solved, options, is_first)?;
    }
    Ok(())
}

/// Error of an answer that is none, or is not the expected one. Rank 0 says so; the others end in
/// silence.
fn judge(
    instance: &Instance,
    solved: &Solved,
    options: &Options,
    is_first: bool,
) -> Result<(), Error> {
    match (&solved.answer, instance.moves, options.deadline) {
        _ if !is_first => Ok(()),
        (SearchAnswer::Moves(moves), Some(expected), _) if moves.len() != usize::from(expected) => {
            Err(Error::Wrong { name: instance.name.clone(), found: moves.len(), expected })
        }
        (SearchAnswer::Late { at_least }, Some(expected), _) if *at_least > expected => {
            Err(Error::Missed { name: instance.name.clone(), expected })
        }
        (SearchAnswer::Late { at_least }, _, Some(limit)) => {
            Err(Error::Late { limit, at_least: *at_least })
        }
        _ => Ok(()),
    }
}

fn tell(iteration: &Iteration) {
    let Iteration { bound, nodes, time, .. } = iteration;
    eprintln!("puzzle: bound {bound}: {} nodes in {}", thousands(*nodes), seconds(*time));
}
