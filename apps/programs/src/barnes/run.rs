use std::time::Duration;

use weft_app_common::{Measured, Progress, RegionRank, Times, Traffic, agree, print, thousands};

use crate::barnes::body::Body;
use crate::barnes::error::Error;
use crate::barnes::options::Options;
use crate::barnes::plummer::plummer;
use crate::barnes::shared::SharedSky;
use crate::barnes::solve::{parallel, sequential};
use crate::barnes::verify::{Verdict, verify};

/// Result of a run, at rank 0.
#[derive(Debug, Clone)]
pub struct Solved {
    /// Times of the run.
    pub times: Times,
    /// Time at which its last run by all ranks began.
    pub began: Duration,
    /// Traffic of each rank meanwhile.
    pub traffic: Vec<Traffic>,
    /// Bodies and cells that were looked at for a body in the last step.
    visits: u64,
    /// Verdict of the checks, if they were asked for.
    verdict: Option<Verdict>,
}

/// Moves the bodies, checks and reports. Collective: every rank of the job calls it with the same
/// options. Rank 0 prints the report, and returns the error if a check fails.
///
/// # Errors
/// [`enum@Error`].
pub fn run(shared: &RegionRank, options: &Options) -> Result<(), Error> {
    let Some(solved) = solve(shared, options)? else { return Ok(()) };
    let checks = solved.verdict.map_or("not verified (--verify)".to_owned(), |verdict| {
        format!(
            "verified bit for bit against one rank\n\
             forces on {} bodies off by {:.1e} of the mean, energy by {:.1e}, momentum by {:.1e}",
            verdict.sample, verdict.error, verdict.energy, verdict.momentum
        )
    });
    let lines = format!(
        "{} bodies   {} steps of {}   {} visits for a body   {checks}",
        thousands(options.bodies.into()),
        options.steps,
        options.step,
        thousands(solved.visits)
    );
    Ok(print(&lines, solved.times, &solved.traffic)?)
}

/// Does what [`run`] does, but prints nothing. Rank 0 gets what came of it.
///
/// # Errors
/// [`enum@Error`]; at rank 0 that of a check.
pub fn solve(shared: &RegionRank, options: &Options) -> Result<Option<Solved>, Error> {
    let problem = options.problem();
    let begin = agree(shared, plummer(problem.bodies, options.seed).map_err(Error::from))?;
    shared.regions().set_data(options.coherence.data())?;
    let mut sky = SharedSky::new(shared, problem.bodies, options.coherence)?;
    let Measured { whole, part, times, began, traffic } = shared.measure(
        (options.verify, options.speedup),
        || {
            let mut bodies = begin.clone();
            sequential(&problem, &mut bodies, |operations| shared.work(operations)).map(|()| bodies)
        },
        || {
            let progress = Progress::new(shared.rank(), problem.steps, "Barnes-Hut");
            sky.begin(&begin)?;
            let stretch =
                shared.stretch(|| parallel(&mut sky, &problem, |step| progress.set(step)))?;
            let bodies = if shared.rank() == 0 { all(&mut sky, problem.bodies)? } else { vec![] };
            // Before they begin again.
            shared.barrier()?;
            Ok::<_, Error>(stretch.of(bodies))
        },
    )?;
    if shared.rank() != 0 {
        return Ok(None);
    }
    let visits = part.iter().map(|body| body.cost).sum::<u64>() / part.len() as u64;
    let verdict = match whole {
        Some(whole) if options.verify => Some(verify(&problem, &begin, &part, &whole?)?),
        _ => None,
    };
    Ok(Some(Solved { times, began, traffic, visits, verdict }))
}

fn all(sky: &mut SharedSky<'_>, count: usize) -> Result<Vec<Body>, Error> {
    Ok((0..count as u32).map(|body| sky.whole_body(body)).collect::<Result<_, _>>()?)
}
