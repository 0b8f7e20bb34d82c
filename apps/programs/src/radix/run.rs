use std::io;
use std::time::Duration;

use weft_app_common::{Measured, RegionRank, Stretch, Times, Traffic, print, thousands};
use weft_region::Result as Shares;

use crate::radix::array::Array;
use crate::radix::options::Options;
use crate::radix::pull::Pull;
use crate::radix::push::Push;
use crate::radix::sequential::{sequential, unsorted};
use crate::radix::sort::key;

/// Reason why a run gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The ranks could not share what they had to.
    #[error(transparent)]
    Regions(#[from] weft_region::Error),
    /// The keys are not sorted.
    #[error("the keys are not sorted: {0}")]
    Wrong(String),
    /// The report could not be written.
    #[error(transparent)]
    Output(#[from] io::Error),
}

/// Result of a sort, at rank 0.
#[derive(Debug, Clone)]
pub struct Solved {
    /// Times of the sort.
    pub times: Times,
    /// Time at which its last run by all ranks began.
    pub began: Duration,
    /// Traffic of each rank meanwhile.
    pub traffic: Vec<Traffic>,
}

/// Sorts, checks and reports. Collective: every rank of the job calls it with the same options.
/// Rank 0 prints the report, and returns the error if the check fails.
///
/// # Errors
/// [`enum@Error`].
pub fn run(shared: &RegionRank, options: &Options) -> Result<(), Error> {
    if let Some(solved) = solve(shared, options)? {
        let Options { keys, bits, radix, verify, .. } = *options;
        let passes = match options.passes() {
            1 => "1 pass".to_owned(),
            passes => format!("{passes} passes"),
        };
        let verified = if verify {
            "verified against the standard library's sort"
        } else {
            "not verified (--verify)"
        };
        let keys = thousands(keys.into());
        let lines = format!("{keys} keys of {bits} bits   radix {radix}, {passes}   {verified}");
        print(&lines, solved.times, &solved.traffic)?;
    }
    Ok(())
}

/// Sorts and checks. Collective; rank 0 gets what came of it.
///
/// # Errors
/// [`enum@Error`]; at rank 0 that of the check.
pub fn solve(shared: &RegionRank, options: &Options) -> Result<Option<Solved>, Error> {
    shared.regions().set_data(options.coherence.data())?;
    let Measured { mut part, times, began, traffic, .. } = shared.measure(
        (false, options.speedup),
        || sequential(options, |operations| shared.work(operations)),
        || Ok::<_, Error>(sort(shared, options)?),
    )?;
    if shared.rank() != 0 {
        return Ok(None);
    }
    if options.verify {
        check(&part.read(0..options.keys as usize)?, unsorted(options))?;
    }
    Ok(Some(Solved { times, began, traffic }))
}

/// Sorts what [`unsorted`] gives. Returns the array with the keys. Collective.
fn sort<'a>(shared: &'a RegionRank, options: &'a Options) -> Shares<Stretch<Array<'a>>> {
    let arrays = arrays(shared, options)?;
    if options.pull {
        let mut sort = Pull::new(shared, options, arrays)?;
        let stretch = shared.stretch(|| sort.sort())?;
        return Ok(stretch.of(sort.into_array()));
    }
    let mut sort = Push::new(shared, options, arrays)?;
    let stretch = shared.stretch(|| sort.sort())?;
    Ok(stretch.of(sort.into_array()))
}

/// Two arrays, the first with the keys. Collective.
fn arrays<'a>(shared: &'a RegionRank, options: &'a Options) -> Shares<(Array<'a>, Array<'a>)> {
    let (keys, length) = (options.keys as usize, options.region_bytes as usize / size_of::<u32>());
    let array = || Array::new(shared, keys, length, options.coherence.policy());
    let (mut from, to) = (array()?, array()?);
    let mine = from.mine();
    let keys: Vec<u32> = mine.clone().map(|place| key(options.seed, place, options.bits)).collect();
    from.write(mine.start, &keys)?;
    Ok((from, to))
}

/// Compares `sorted` with what the standard library makes of `keys`.
pub(crate) fn check(sorted: &[u32], mut keys: Vec<u32>) -> Result<(), Error> {
    keys.sort_unstable();
    assert_eq!(sorted.len(), keys.len(), "as many were read as there are");
    let wrong = sorted.iter().zip(&keys).position(|(key, wanted)| key != wanted);
    wrong.map_or(Ok(()), |place| {
        let (key, wanted) = (sorted[place], keys[place]);
        Err(Error::Wrong(format!("place {place} has {key} instead of {wanted}")))
    })
}

#[cfg(test)]
mod tests;
