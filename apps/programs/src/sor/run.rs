use std::io;
use std::time::Duration;

use weft::prelude::Weft;
use weft_app_common::{
    Alone, Blocks, Exchange, Mailboxes, Progress, Stretch, Times, Traffic, gather_traffic, measure,
    stretch,
};

use crate::sor::grid::Grid;
use crate::sor::options::Options;
use crate::sor::problem::Problem;
use crate::sor::report::Report;
use crate::sor::solve::{Ended, largest_of_all, solve as relax};

/// Reason why a run gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Weft failed.
    #[error(transparent)]
    Weft(#[from] weft::Error),
    /// The ranks could not exchange what they had to.
    #[error(transparent)]
    Exchange(#[from] weft_app_common::Error),
    /// The ranks together and one rank alone differ.
    #[error("the result differs from that of one rank: {0}")]
    Wrong(String),
    /// The report could not be written.
    #[error(transparent)]
    Output(#[from] io::Error),
}

/// Result of a run, at rank 0, which was compared with that of one rank.
#[derive(Debug, Clone)]
pub struct Solved {
    /// Times of the iteration.
    pub times: Times,
    /// Time at which its last run by all ranks began.
    pub began: Duration,
    /// Traffic of each rank meanwhile.
    pub traffic: Vec<Traffic>,
    problem: Problem,
    ended: Ended,
    /// The largest distance of a point from the exact solution.
    error: f64,
}

/// Solves, checks and reports. Collective: every rank of the job calls it with the same options.
/// Rank 0 prints the report, and returns the error if the check fails.
///
/// # Errors
/// [`enum@Error`].
pub fn run(weft: &Weft, options: &Options) -> Result<(), Error> {
    if let Some(solved) = solve(weft, options)? {
        let Solved { ref problem, ended, error, times, ref traffic, .. } = solved;
        weft_app_common::write_out(Report { problem, ended, error, times, traffic }.text())?;
    }
    Ok(())
}

/// Does what [`run`] does, but prints nothing. Rank 0 gets what came of it.
///
/// # Errors
/// [`enum@Error`]; at rank 0 that of the check.
pub fn solve(weft: &Weft, options: &Options) -> Result<Option<Solved>, Error> {
    let mut exchange = Mailboxes::open(weft, "sor")?;
    let mut problem = options.problem();
    // Cosines may differ in the last bit between the hosts of a job; the factor must not differ.
    let mut omega = [problem.omega];
    exchange.spread(&mut omega)?;
    problem.omega = omega[0];

    let (part, times, whole) = solve_and_measure(weft, &problem, options.speedup, &mut exchange)?;
    let error = largest_of_all(part.value.grid.largest_error(), &mut exchange)?;
    let traffic = gather_traffic(&mut exchange, part.traffic)?;
    let Stretch { value: part, began, .. } = part;
    let blocks = Blocks::new(problem.rows, exchange.size());
    let values_of = |rank| 2 * blocks.of(rank).len() * part.grid.half();
    let values = exchange.gather(&part.grid.values(), values_of)?;
    let (Some(traffic), Some(values), Some(whole)) = (traffic, values, whole) else {
        return Ok(None);
    };
    compare(&whole, &part, &values, blocks)?;
    let ended = part.ended;
    Ok(Some(Solved { times, began, traffic, problem, ended, error }))
}

/// Results of a rank.
pub(crate) struct Part {
    pub grid: Grid,
    pub ended: Ended,
}

/// Result of one rank alone.
pub(crate) type Whole = (Grid, Ended);

/// Solves with all ranks, and at rank 0 alone as well, because that is what the result is compared
/// with.
fn solve_and_measure(
    weft: &Weft,
    problem: &Problem,
    speedup: bool,
    exchange: &mut Mailboxes,
) -> Result<(Stretch<Part>, Times, Option<Whole>), Error> {
    let mut whole = None;
    let mut sequential = || {
        let solved = solve_alone(weft, problem)?;
        let time = solved.as_ref().map(|&(_, time)| time);
        whole = solved.map(|(solved, _)| solved);
        Ok::<_, Error>(time)
    };
    let speedup = speedup && exchange.size() > 1;
    if !speedup {
        sequential()?;
    }
    let (part, times) = measure(speedup, sequential, || {
        let part = solve_together(weft, problem, exchange)?;
        let time = part.time;
        Ok::<_, Error>((part, time))
    })?;
    Ok((part, times, whole))
}

/// The whole problem at rank 0, with nobody to talk to, while the other ranks wait.
fn solve_alone(weft: &Weft, problem: &Problem) -> Result<Option<(Whole, Duration)>, Error> {
    let mut solved = None;
    if weft.rank() == 0 {
        let progress = Progress::new(0, problem.iterations, "one rank alone");
        let blocks = Blocks::new(problem.rows, 1);
        let mut grid = Grid::new(*problem, 0..problem.rows);
        let start = weft.now();
        let ended = relax(&mut grid, problem, blocks, &mut Alone, |done| progress.set(done))?;
        weft.work((ended.iterations * problem.rows * problem.columns) as u64);
        solved = Some(((grid, ended), weft.now() - start));
    }
    weft.barrier()?;
    Ok(solved)
}

fn solve_together(
    weft: &Weft,
    problem: &Problem,
    exchange: &mut Mailboxes,
) -> Result<Stretch<Part>, Error> {
    let blocks = Blocks::new(problem.rows, exchange.size());
    let progress = Progress::new(exchange.rank(), problem.iterations, "overrelaxation");
    let mut grid = Grid::new(*problem, blocks.of(exchange.rank()));
    let solved =
        stretch(weft, || relax(&mut grid, problem, blocks, exchange, |done| progress.set(done)))?;
    let ended = solved.value;
    Ok(solved.of(Part { grid, ended }))
}

/// Compares all bits of all ranks' `values`, and how the iteration ended, with what one rank has.
pub(crate) fn compare(
    (whole, expected): &Whole,
    part: &Part,
    values: &[Vec<f64>],
    blocks: Blocks,
) -> Result<(), Error> {
    let Ended { iterations, change } = part.ended;
    if iterations != expected.iterations || change.to_bits() != expected.change.to_bits() {
        return Err(Error::Wrong(format!(
            "{iterations} iterations to a change of {change:e} instead of {} to {:e}",
            expected.iterations, expected.change
        )));
    }
    for (rank, values) in values.iter().enumerate() {
        let expected = whole.part(blocks.of(rank));
        let differs = |(value, expected): (&f64, &f64)| value.to_bits() != expected.to_bits();
        if let Some(index) = values.iter().zip(&expected).position(differs) {
            return Err(Error::Wrong(format!(
                "value {index} of rank {rank} is {:e} instead of {:e}",
                values[index], expected[index]
            )));
        }
        assert_eq!(values.len(), expected.len(), "gather checks the lengths");
    }
    Ok(())
}

#[cfg(test)]
mod tests;
