use std::io;
use std::ops::Range;
use std::time::Duration;

use weft_app_common::{Measured, Shared, Times, Traffic, print, thousands};
use weft_region::{Mapped, Result as Shares};

use crate::array::Array;
use crate::options::Options;
use crate::sequential::{sequential, unsorted};
use crate::sort::{ADD, COPY, COUNT, Digit, MOVE, key, places};

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
pub fn run(shared: &Shared, options: &Options) -> Result<(), Error> {
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
pub fn solve(shared: &Shared, options: &Options) -> Result<Option<Solved>, Error> {
    shared.regions().set_data(options.coherence.data())?;
    let Measured { mut part, times, began, traffic, .. } = shared.measure(
        (false, options.speedup),
        || sequential(options, |operations| shared.work(operations)),
        || {
            let mut sort = Sort::new(shared, options)?;
            let stretch = shared.stretch(|| sort.sort())?;
            Ok::<_, Error>(stretch.of(sort))
        },
    )?;
    if shared.rank() != 0 {
        return Ok(None);
    }
    if options.verify {
        check(&part.from.read(0..options.keys as usize)?, unsorted(options))?;
    }
    Ok(Some(Solved { times, began, traffic }))
}

/// A rank's part in a sort.
struct Sort<'a> {
    shared: &'a Shared,
    options: &'a Options,
    /// Arrays that keys are moved between.
    from: Array<'a>,
    to: Array<'a>,
    /// Counts of each rank.
    counts: Vec<Mapped<u32>>,
}

impl<'a> Sort<'a> {
    /// Creates the regions and fills one array. Collective.
    fn new(shared: &'a Shared, options: &'a Options) -> Shares<Self> {
        let policy = options.coherence.policy();
        let (keys, length) =
            (options.keys as usize, options.region_bytes as usize / size_of::<u32>());
        let array = || Array::new(shared, keys, length, policy);
        let (mut from, to) = (array()?, array()?);
        let mine = from.mine();
        let unsorted: Vec<u32> =
            mine.clone().map(|place| key(options.seed, place, options.bits)).collect();
        from.write(mine.start, &unsorted)?;
        let family = shared.create(policy, |_| 1, |_| options.radix as usize * size_of::<u32>())?;
        let counts = (0..shared.size()).map(|rank| shared.regions().map(family.id(rank, 0)));
        Ok(Sort { shared, options, from, to, counts: counts.collect::<Shares<_>>()? })
    }

    /// Sorts by one digit after the other. Collective.
    fn sort(&mut self) -> Shares<()> {
        for digit in Digit::all(self.options.radix, self.options.passes()) {
            self.pass(digit)?;
            // Everybody has written.
            self.shared.barrier()?;
            std::mem::swap(&mut self.from, &mut self.to);
        }
        Ok(())
    }

    fn pass(&mut self, digit: Digit) -> Shares<()> {
        if self.options.coherence.prefetch {
            self.from.prefetch_mine()?;
        }
        let keys = self.from.read(self.from.mine())?;
        let counts = digit.counts(&keys);
        self.shared.work(COUNT * keys.len());
        let sorted = digit.sorted(&keys, &counts);
        self.shared.work(MOVE * keys.len());
        let mut next = 0;
        let runs = counts.iter().map(|&count| {
            next += count as usize;
            &sorted[next - count as usize..next]
        });
        let runs: Vec<&[u32]> = runs.collect();
        let places = self.places(counts)?;
        // Beginning where this rank's own part is, for keys that are spread evenly: so not all
        // write to the same.
        let own = self.shared.rank() * digit.radix / self.shared.size();
        for value in (0..digit.radix).map(|step| (own + step) % digit.radix) {
            self.to.write(places[value].start, runs[value])?;
            self.shared.work(COPY * runs[value].len());
        }
        Ok(())
    }

    /// Ranges to which the keys of this rank belong, of which it has counted so many of each digit.
    fn places(&self, counts: Vec<u32>) -> Shares<Vec<Range<usize>>> {
        let (me, ranks) = (self.shared.rank(), self.shared.size());
        self.counts[me].write()?.copy_from_slice(&counts);
        self.shared.barrier()?;
        let mut all = vec![counts; ranks];
        for other in (1..ranks).map(|step| (me + step) % ranks) {
            all[other] = self.counts[other].read()?.to_vec();
        }
        self.shared.work(ADD * ranks * self.options.radix as usize);
        Ok(places(&all, me))
    }
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
