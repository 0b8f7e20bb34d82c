//! A transform by bare threads, in the same steps: a stripe of rows each, which all read to
//! transpose.

use std::sync::{PoisonError, RwLock};
use std::time::Duration;

use weft_app_common::{Blocks, Crewmate, crew};

use crate::fft::complex::Complex;
use crate::fft::options::Options;
use crate::fft::plan::Plan;
use crate::fft::run::{Error, check};
use crate::fft::sequential::{by_tiles, sequential};

/// Transforms by so many threads, and checks the result as ranks do. Returns the time of the
/// transform.
///
/// # Errors
/// More threads than rows, or a wrong result.
pub fn solve(options: &Options, threads: usize) -> Result<Duration, Error> {
    let side = options.side();
    if threads > side {
        return Err(Error::Ranks { ranks: threads, side });
    }
    let plan = Plan::new(side, options.seed);
    let parts = Blocks::new(side, threads);
    let stripes: Vec<Stripe> = (0..threads).map(|_| RwLock::default()).collect();
    let times = crew(threads, |mate| {
        let rows = parts.of(mate.rank());
        let places = rows.flat_map(|row| (0..side).map(move |column| (row, column)));
        let values = places.map(|(row, column)| plan.input(row, column)).collect();
        write(&stripes[mate.rank()], values);
        mate.timed(|| transform(&plan, parts, mate, &stripes)).1
    });
    let output: Vec<Complex> = stripes
        .into_iter()
        .flat_map(|stripe| stripe.into_inner().unwrap_or_else(PoisonError::into_inner))
        .collect();
    check(&plan, &output, &sequential(&plan, |_| ()))?;
    Ok(times[0])
}

/// Rows of a thread.
type Stripe = RwLock<Vec<Complex>>;

fn transform(plan: &Plan, parts: Blocks, mate: &Crewmate<'_>, stripes: &[Stripe]) {
    for first in [true, false] {
        let mut mine = transposed(plan.side, parts, mate, stripes);
        for (number, row) in parts.of(mate.rank()).zip(mine.chunks_exact_mut(plan.side)) {
            plan.transform(row, first.then_some(number));
        }
        // All have read.
        mate.barrier();
        write(&stripes[mate.rank()], mine);
        mate.barrier();
    }
    let mine = transposed(plan.side, parts, mate, stripes);
    mate.barrier();
    write(&stripes[mate.rank()], mine);
}

/// The rows of this thread in the transposed matrix.
fn transposed(side: usize, parts: Blocks, mate: &Crewmate<'_>, stripes: &[Stripe]) -> Vec<Complex> {
    let columns = parts.of(mate.rank());
    let mut mine = vec![Complex::default(); columns.len() * side];
    // Beginning with the thread after this one, so that not all read the same at once.
    for other in (1..=mate.size()).map(|step| (mate.rank() + step) % mate.size()) {
        let stripe = stripes[other].read().unwrap_or_else(PoisonError::into_inner);
        let rows = parts.of(other);
        by_tiles(rows.len(), columns.len(), |row, column| {
            mine[column * side + rows.start + row] = stripe[row * side + columns.start + column];
        });
    }
    mine
}

fn write(stripe: &Stripe, values: Vec<Complex>) {
    *stripe.write().unwrap_or_else(PoisonError::into_inner) = values;
}
