use std::io;
use std::time::Duration;

use weft_app_common::{Measured, RegionRank, Times, Traffic, agree, print, thousands};

use crate::fft::complex::Complex;
use crate::fft::options::Options;
use crate::fft::plan::Plan;
use crate::fft::sequential::sequential;
use crate::fft::stripe::Stripe;
use crate::fft::verify::{Checks, SAMPLE};

/// Reason why a run gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The ranks could not share what they had to.
    #[error(transparent)]
    Regions(#[from] weft_region::Error),
    /// There is not a row for each rank.
    #[error(
        "{ranks} ranks for a matrix of {side} x {side} points: take at most {side} ranks, or more points"
    )]
    Ranks {
        /// Ranks of the job.
        ranks: usize,
        /// Rows.
        side: usize,
    },
    /// The transform is wrong.
    #[error("the transform is wrong: {0}")]
    Wrong(String),
    /// The report could not be written.
    #[error(transparent)]
    Output(#[from] io::Error),
}

/// Result of a transform, at rank 0.
#[derive(Debug, Clone)]
pub struct Solved {
    /// Times of the transform.
    pub times: Times,
    /// Time at which its last run by all ranks began.
    pub began: Duration,
    /// Traffic of each rank meanwhile.
    pub traffic: Vec<Traffic>,
    /// Errors of the result, if they were asked for.
    checks: Option<Checks>,
}

/// Transforms, checks and reports. Collective: every rank of the job calls it with the same
/// options. Rank 0 prints the report, and returns the error if a check fails.
///
/// # Errors
/// [`enum@Error`].
pub fn run(shared: &RegionRank, options: &Options) -> Result<(), Error> {
    if let Some(solved) = solve(shared, options)? {
        let (points, side) = (thousands(options.points.into()), options.side());
        let verified = match &solved.checks {
            None => "not verified (--verify)".to_owned(),
            Some(checks) => format!(
                "verified bit for bit against one rank, and {SAMPLE} outputs by their definition\n\
                 off by {:.1e} of an output's size, energy by {:.1e}, transformed back by {:.1e}",
                checks.definition, checks.energy, checks.inverse
            ),
        };
        let lines = format!("{points} points   {side} x {side}   {verified}");
        print(&lines, solved.times, &solved.traffic)?;
    }
    Ok(())
}

/// Transforms and checks. Collective; rank 0 gets what came of it.
///
/// # Errors
/// [`enum@Error`]; at rank 0 that of a check.
pub fn solve(shared: &RegionRank, options: &Options) -> Result<Option<Solved>, Error> {
    let (ranks, side) = (shared.size(), options.side());
    let fits = if ranks <= side { Ok(()) } else { Err(Error::Ranks { ranks, side }) };
    agree(shared, fits)?;
    shared.regions().set_data(options.coherence.data())?;
    let plan = Plan::new(side, options.seed);
    let Measured { whole, part, times, began, traffic } = shared.measure(
        (options.verify, options.speedup),
        || sequential(&plan, |operations| shared.work(operations)),
        || {
            let mut stripe = Stripe::new(shared, &plan, options.coherence)?;
            let stretch = shared.stretch(|| stripe.transform())?;
            Ok::<_, Error>(stretch.of(stripe))
        },
    )?;
    if shared.rank() != 0 {
        return Ok(None);
    }
    let checks = match whole {
        Some(whole) if options.verify => Some(check(&plan, &part.whole()?, &whole)?),
        _ => None,
    };
    Ok(Some(Solved { times, began, traffic, checks }))
}

/// Checks `output`, which must be what one rank has, `whole`, in all bits.
pub(crate) fn check(plan: &Plan, output: &[Complex], whole: &[Complex]) -> Result<Checks, Error> {
    let differs =
        |(value, wanted): (&Complex, &Complex)| value.map(f32::to_bits) != wanted.map(f32::to_bits);
    if let Some(place) = output.iter().zip(whole).position(differs) {
        let (value, wanted) = (output[place], whole[place]);
        return Err(Error::Wrong(format!(
            "output {place} is {value:?}, and {wanted:?} on one rank"
        )));
    }
    let checks = Checks::of(plan, output);
    checks.wrong().map_or(Ok(checks), |what| Err(Error::Wrong(what)))
}

#[cfg(test)]
mod tests;
