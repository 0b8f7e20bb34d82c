use std::io;
use std::time::Duration;

use weft::prelude::{Rank, Weft};
use weft_app_common::{
    Blocks, Exchange, Mailboxes, Progress, Stretch, Times, Traffic, gather_traffic, measure,
    stretch,
};
use weft_object::{Objects, Placement, Types};

use crate::leq::candidate::Candidate;
use crate::leq::options::Options;
use crate::leq::problem::Problem;
use crate::leq::report::Report;
use crate::leq::solve::{Alone, Ended, OneObject, solve as iterate};
use crate::leq::verify::{Checked, check};

/// Name of the shared object.
const CANDIDATE: &str = "leq.candidate";

/// Reason why a run gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Weft failed.
    #[error(transparent)]
    Weft(#[from] weft::Error),
    /// The shared object failed: a rank was lost.
    #[error(transparent)]
    Object(#[from] weft_object::Error),
    /// The ranks could not exchange what they report.
    #[error(transparent)]
    Exchange(#[from] weft_app_common::Error),
    /// The result is none.
    #[error("the result is wrong: {0}")]
    Wrong(String),
    /// The report could not be written.
    #[error(transparent)]
    Output(#[from] io::Error),
}

/// Result of a run, at rank 0, which was checked.
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
    checked: Checked,
    /// True if every bit was compared with one rank's.
    is_compared: bool,
}

/// Solves, checks and reports. Collective: every rank of the job calls it with the same options.
/// Rank 0 prints the report, and returns the error if the check fails.
///
/// # Errors
/// A lost rank, a wrong result, or output that cannot be written.
pub fn run(weft: &Weft, options: &Options) -> Result<(), Error> {
    if let Some(solved) = solve(weft, options)? {
        let Solved { ref problem, ended, checked, is_compared, times, ref traffic, .. } = solved;
        let report = Report { problem, ended, checked, is_compared, times, traffic };
        weft_app_common::write_out(report.text())?;
    }
    Ok(())
}

/// Does what [`run`] does, but prints nothing. Rank 0 gets what came of it.
///
/// # Errors
/// A lost rank, or a wrong result.
pub fn solve(weft: &Weft, options: &Options) -> Result<Option<Solved>, Error> {
    let problem = options.problem();
    let objects = Objects::new(weft.orders(), weft.rpc(), Types::default().with::<Candidate>())?;
    let candidate = match weft.rank() {
        Rank(0) => {
            let first = Candidate::new(problem.unknowns, weft.size());
            objects.create(CANDIDATE, &first, Placement::Replicated)?
        }
        _ => objects.find(CANDIDATE)?,
    };
    let mut exchange = Mailboxes::open(weft, "leq")?;
    let (part, times, alone) =
        solve_and_measure(weft, &problem, options, &mut OneObject::new(candidate))?;
    let traffic = gather_traffic(&mut exchange, part.traffic)?;
    let Stretch { value: part, began, .. } = part;
    let sums = exchange.gather(&[checksum(&part)], |_| 1)?;
    let (Some(traffic), Some(sums)) = (traffic, sums) else { return Ok(None) };
    if let Some(rank) = sums.iter().position(|sum| *sum != sums[0]) {
        return Err(Error::Wrong(format!("rank {rank} has another one than rank 0")));
    }
    alone.as_ref().map_or(Ok(()), |alone| compare(alone, &part))?;
    let checked = check(&problem, &part.x, part.ended);
    if !checked.is_right() {
        return Err(Error::Wrong(format!(
            "its residual is {:e}, and its last change allows {:e}",
            checked.residual, checked.most
        )));
    }
    let (ended, is_compared) = (part.ended, alone.is_some());
    Ok(Some(Solved { times, began, traffic, problem, ended, checked, is_compared }))
}

/// Results of a rank.
struct Part {
    x: Vec<f64>,
    ended: Ended,
}

/// Result of one rank alone.
type Whole = (Vec<f64>, Ended);

/// Solves with all ranks; at rank 0 alone as well if that is to be compared or measured.
fn solve_and_measure(
    weft: &Weft,
    problem: &Problem,
    options: &Options,
    shared: &mut OneObject,
) -> Result<(Stretch<Part>, Times, Option<Whole>), Error> {
    let mut whole = None;
    let mut sequential = || {
        let solved = solve_alone(weft, problem)?;
        let time = solved.as_ref().map(|&(_, time)| time);
        whole = solved.map(|(solved, _)| solved);
        Ok::<_, Error>(time)
    };
    let speedup = options.speedup && weft.size() > 1;
    if options.verify && !speedup {
        sequential()?;
    }
    let (part, times) = measure(speedup, sequential, || {
        let part = solve_together(weft, problem, shared)?;
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
        let equations = problem.equations(0..problem.unknowns);
        let start = weft.now();
        let (x, ended) = iterate(&equations, problem, &mut Alone, |done| progress.set(done))?;
        weft.work((ended.iterations * problem.unknowns * problem.unknowns) as u64);
        solved = Some(((x, ended), weft.now() - start));
    }
    weft.barrier()?;
    Ok(solved)
}

fn solve_together(
    weft: &Weft,
    problem: &Problem,
    shared: &mut OneObject,
) -> Result<Stretch<Part>, Error> {
    let owned = Blocks::new(problem.unknowns, weft.size()).of(weft.rank().index());
    let progress = Progress::new(weft.rank().index(), problem.iterations, "iterations");
    let equations = problem.equations(owned.clone());
    stretch(weft, || {
        let (x, ended) = iterate(&equations, problem, shared, |done| {
            weft.work((owned.len() * problem.unknowns) as u64);
            progress.set(done);
        })?;
        Ok(Part { x, ended })
    })
}

/// Number that differs, but for chance, if a bit of the result does.
fn checksum(part: &Part) -> u64 {
    let ended = [part.ended.iterations as u64, part.ended.change.to_bits()];
    let bits = part.x.iter().map(|value| value.to_bits()).chain(ended);
    bits.fold(0, weft_app_common::random)
}

/// Compares all bits of the result, and how the iteration ended, with what one rank has.
fn compare((expected, ended): &Whole, part: &Part) -> Result<(), Error> {
    if part.ended != *ended {
        let Ended { iterations, change } = part.ended;
        return Err(Error::Wrong(format!(
            "{iterations} iterations to a change of {change:e}, and one rank alone takes {} to {:e}",
            ended.iterations, ended.change
        )));
    }
    let differs = |(value, expected): (&f64, &f64)| value.to_bits() != expected.to_bits();
    match part.x.iter().zip(expected).position(differs) {
        Some(index) => Err(Error::Wrong(format!(
            "value {index} is {:e}, and {:e} with one rank alone",
            part.x[index], expected[index]
        ))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
