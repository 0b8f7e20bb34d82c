use std::io;
use std::time::Duration;

use weft::prelude::Weft;
use weft_app_common::{
    Alone, Blocks, Exchange, Mailboxes, Progress, Times, Traffic, gather_traffic, measure,
};

use crate::grid::Grid;
use crate::options::Options;
use crate::problem::Problem;
use crate::report::Report;
use crate::solve::{Ended, largest_of_all, solve};

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

/// Solves, checks and reports. Collective: every rank of the job calls it with the same options.
/// Rank 0 prints the report, and returns the error if the check fails.
pub fn run(weft: &Weft, options: &Options) -> Result<(), Error> {
    let mut exchange = Mailboxes::open(weft, "sor")?;
    let mut problem = options.problem();
    // Cosines may differ in the last bit between the hosts of a job; the factor must not differ.
    let mut omega = [problem.omega];
    exchange.spread(&mut omega)?;
    problem.omega = omega[0];

    let (solved, times, whole) = solve_and_measure(weft, &problem, options.speedup, &mut exchange)?;
    let error = largest_of_all(solved.grid.largest_error(), &mut exchange)?;
    let traffic = gather_traffic(&mut exchange, solved.traffic)?;
    let blocks = Blocks::new(problem.rows, exchange.size());
    let values_of = |rank| 2 * blocks.of(rank).len() * solved.grid.half();
    let values = exchange.gather(&solved.grid.values(), values_of)?;
    if let (Some(traffic), Some(values), Some(whole)) = (traffic, values, whole) {
        compare(&whole, &solved, &values, blocks)?;
        let report =
            Report { problem: &problem, ended: solved.ended, error, times, traffic: &traffic };
        weft_app_common::write_out(report.text())?;
    }
    Ok(())
}

/// Results of a rank.
struct Solved {
    grid: Grid,
    ended: Ended,
    traffic: Traffic,
}

/// Result of one rank alone.
type Whole = (Grid, Ended);

/// Solves with all ranks, and at rank 0 alone as well, because that is what the result is compared
/// with.
fn solve_and_measure(
    weft: &Weft,
    problem: &Problem,
    speedup: bool,
    exchange: &mut Mailboxes,
) -> Result<(Solved, Times, Option<Whole>), Error> {
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
    let (solved, times) = measure(speedup, sequential, || solve_together(weft, problem, exchange))?;
    Ok((solved, times, whole))
}

/// The whole problem at rank 0, with nobody to talk to, while the other ranks wait.
fn solve_alone(weft: &Weft, problem: &Problem) -> Result<Option<(Whole, Duration)>, Error> {
    let mut solved = None;
    if weft.rank() == 0 {
        let progress = Progress::new(0, problem.iterations, "one rank alone");
        let blocks = Blocks::new(problem.rows, 1);
        let mut grid = Grid::new(*problem, 0..problem.rows);
        let start = weft.now();
        let ended = solve(&mut grid, problem, blocks, &mut Alone, |done| progress.set(done))?;
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
) -> Result<(Solved, Duration), Error> {
    let blocks = Blocks::new(problem.rows, exchange.size());
    let progress = Progress::new(exchange.rank(), problem.iterations, "overrelaxation");
    let mut grid = Grid::new(*problem, blocks.of(exchange.rank()));
    let before = Traffic::so_far(weft.packets());
    weft.barrier()?;
    let start = weft.now();
    let ended = solve(&mut grid, problem, blocks, exchange, |done| progress.set(done))?;
    weft.barrier()?;
    let time = weft.now() - start;
    let traffic = Traffic::so_far(weft.packets()).since(before);
    Ok((Solved { grid, ended, traffic }, time))
}

/// Compares all bits of all ranks' `values`, and how the iteration ended, with what one rank has.
fn compare(
    (whole, expected): &Whole,
    solved: &Solved,
    values: &[Vec<f64>],
    blocks: Blocks,
) -> Result<(), Error> {
    let Ended { iterations, change } = solved.ended;
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
