use std::io;

use weft_app_common::{Measured, RegionRank, Times, Traffic, print, thousands};

use crate::lu::blocks::Blocks;
use crate::lu::options::Options;
use crate::lu::sequential::sequential;
use crate::lu::verify::residual;

/// Reason why a run gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The ranks could not share what they had to.
    #[error(transparent)]
    Regions(#[from] weft_region::Error),
    /// The factors are wrong.
    #[error("the factors are wrong: {0}")]
    Wrong(String),
    /// The report could not be written.
    #[error(transparent)]
    Output(#[from] io::Error),
}

/// Result of a factorisation, at rank 0.
#[derive(Debug, Clone)]
pub struct Solved {
    /// Times of the factorisation.
    pub times: Times,
    /// Traffic of each rank meanwhile.
    pub traffic: Vec<Traffic>,
    /// The residual of a system solved with the factors, if that was asked.
    residual: Option<f64>,
}

/// Factorises, checks and reports. Collective: every rank of the job calls it with the same
/// options. Rank 0 prints the report, and returns the error if a check fails.
///
/// # Errors
/// [`enum@Error`].
pub fn run(shared: &RegionRank, options: &Options) -> Result<(), Error> {
    if let Some(solved) = solve(shared, options)? {
        let (order, block) = (thousands(options.order.into()), options.block);
        let verified = match solved.residual {
            None => "not verified (--verify)".to_owned(),
            Some(residual) => format!(
                "verified bit for bit against one rank, and with a residual of {residual:.1e}"
            ),
        };
        let lines = format!("{order} x {order} in blocks of {block} x {block}   {verified}");
        print(&lines, solved.times, &solved.traffic)?;
    }
    Ok(())
}

/// Factorises and checks. Collective; rank 0 gets what came of it.
///
/// # Errors
/// [`enum@Error`]; at rank 0 that of a check.
pub fn solve(shared: &RegionRank, options: &Options) -> Result<Option<Solved>, Error> {
    shared.regions().set_data(options.coherence.data())?;
    let matrix = options.matrix();
    let measured = shared.measure(
        (options.verify, options.speedup),
        || sequential(&matrix, |operations| shared.work(operations)),
        || {
            let blocks = Blocks::new(shared, matrix, options.coherence)?;
            let stretch = shared.stretch(|| blocks.factorise())?;
            Ok::<_, Error>(stretch.of(blocks))
        },
    )?;
    if shared.rank() != 0 {
        return Ok(None);
    }
    let Measured { whole, part, times, traffic, .. } = measured;
    let mut solved = Solved { times, traffic, residual: None };
    if let Some(whole) = whole.filter(|_| options.verify) {
        let factors = part.whole()?;
        same(&factors, &whole)?;
        solved.residual = Some(residual(&matrix, &factors).map_err(Error::Wrong)?);
    }
    Ok(Some(solved))
}

/// Compares all bits of the blocks of `factors` with what one rank has.
fn same(factors: &[Vec<f64>], whole: &[Vec<f64>]) -> Result<(), Error> {
    for (number, (block, wanted)) in factors.iter().zip(whole).enumerate() {
        let differs = |(value, wanted): (&f64, &f64)| value.to_bits() != wanted.to_bits();
        if let Some(index) = block.iter().zip(wanted).position(differs) {
            let (value, wanted) = (block[index], wanted[index]);
            return Err(Error::Wrong(format!(
                "value {index} of block {number} is {value:e}, and {wanted:e} on one rank"
            )));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
