use std::io;
use std::time::Duration;

use weft::prelude::Weft;
use weft_app_common::{
    Alone, Mailboxes, Progress, Stretch, Times, Traffic, gather_traffic, measure, stretch,
};

use crate::qr::collectives::{ByTree, Collectives, Everyone};
use crate::qr::columns::Columns;
use crate::qr::factor::{Factors, factorize};
use crate::qr::options::Options;
use crate::qr::problem::Problem;
use crate::qr::report::Report;
use crate::qr::verify::{Errors, errors};

/// Reason why a run gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Weft failed.
    #[error(transparent)]
    Weft(#[from] weft::Error),
    /// The ranks could not exchange what they had to.
    #[error(transparent)]
    Exchange(#[from] weft_app_common::Error),
    /// The factors are not those of the matrix.
    #[error(
        "the factorization is wrong: |AP - QR| / |A| is {:.1e} and |Q'Q - I| {:.1e}, where rounding \
         comes to {allowed:.1e} at most, and a column was taken that was {:.1e} times shorter than another",
        .errors.residual, .errors.orthogonality, .errors.pivoting
    )]
    Wrong {
        /// Errors that were found.
        errors: Errors,
        /// Largest error that rounding explains.
        allowed: f64,
    },
    /// The report could not be written.
    #[error(transparent)]
    Output(#[from] io::Error),
}

/// Result of a run, at rank 0, which was checked.
#[derive(Debug, Clone)]
pub struct Solved {
    /// Times of the factorization.
    pub times: Times,
    /// Time at which its last run by all ranks began.
    pub began: Duration,
    /// Traffic of each rank meanwhile.
    pub traffic: Vec<Traffic>,
    problem: Problem,
    factors: Factors,
    errors: Errors,
}

/// Factorizes, checks and reports. Collective: every rank of the job calls it with the same
/// options. Rank 0 prints the report; all ranks return the error if the check fails.
///
/// # Errors
/// [`enum@Error`].
pub fn run(weft: &Weft, options: &Options) -> Result<(), Error> {
    if let Some(solved) = solve(weft, options)? {
        let Solved { ref problem, ref factors, errors, times, ref traffic, .. } = solved;
        weft_app_common::write_out(Report { problem, factors, errors, times, traffic }.text())?;
    }
    Ok(())
}

/// Does what [`run`] does, but prints nothing. Rank 0 gets what came of it.
///
/// # Errors
/// [`enum@Error`]; on all ranks that of the check.
pub fn solve(weft: &Weft, options: &Options) -> Result<Option<Solved>, Error> {
    let mut exchange = Mailboxes::open(weft, "qr")?;
    let problem = options.problem();
    let (part, times) = measure(
        options.speedup && weft.size() > 1,
        || factorize_alone(weft, problem),
        || {
            let part = factorize_together(weft, problem, options.tree)?;
            let time = part.time;
            Ok::<_, Error>((part, time))
        },
    )?;
    let Stretch { value: Part { columns, factors }, began, traffic, .. } = part;
    let errors = errors(&columns, &factors, &mut Everyone(weft))?;
    if !errors.are_small(problem.rows, problem.columns) {
        let allowed = Errors::allowed(problem.rows, problem.columns);
        return Err(Error::Wrong { errors, allowed });
    }
    let traffic = gather_traffic(&mut exchange, traffic)?;
    Ok(traffic.map(|traffic| Solved { times, began, traffic, problem, factors, errors }))
}

/// Results of a rank.
struct Part {
    columns: Columns,
    factors: Factors,
}

/// Time of rank 0 for everything, with nobody to talk to, while the other ranks wait.
fn factorize_alone(weft: &Weft, problem: Problem) -> Result<Option<Duration>, Error> {
    let mut time = None;
    if weft.rank() == 0 {
        let progress = Progress::new(0, problem.steps(), "one rank alone");
        let mut columns = Columns::new(problem, 0, 1);
        let start = weft.now();
        let factors = factorize(&mut columns, &mut Alone, |done| progress.set(done))?;
        weft.work(problem.operations(factors.steps()) as u64);
        time = Some(weft.now() - start);
    }
    weft.barrier()?;
    Ok(time)
}

fn factorize_together(
    weft: &Weft,
    problem: Problem,
    by_tree: bool,
) -> Result<Stretch<Part>, Error> {
    let everyone = Everyone(weft);
    let progress = Progress::new(everyone.rank(), problem.steps(), "QR factorization");
    let mut columns = Columns::new(problem, everyone.rank(), everyone.size());
    let exchange = by_tree.then(|| Mailboxes::open(weft, "qr.tree")).transpose()?;
    let mut solved = stretch(weft, || {
        let done = |done| progress.set(done);
        match exchange {
            Some(exchange) => factorize(&mut columns, &mut ByTree { everyone, exchange }, done),
            None => factorize(&mut columns, &mut { everyone }, done),
        }
    })?;
    let factors = std::mem::take(&mut solved.value);
    Ok(solved.of(Part { columns, factors }))
}
