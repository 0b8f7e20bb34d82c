use std::io;
use std::time::Duration;

use weft_app_common::{Measured, Shared, Times, Traffic, print, thousands};
use weft_region::{Mapped, Result as Shares};

use crate::array::Array;
use crate::options::Options;
use crate::sequential::{sequential, unsorted};
use crate::sort::{ADD, COPY, COUNT, Digit, MOVE, Piece, key, pieces, places};

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
    /// Arrays that keys are moved between. Who pulls has its keys in the first before and after all
    /// passes, and shows them in the second.
    from: Array<'a>,
    to: Array<'a>,
    /// Keys of this rank before a pass, and by the digit of the pass.
    keys: Vec<u32>,
    sorted: Vec<u32>,
    /// Counts of each rank, unless they are summed up by all.
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
        let keys: Vec<u32> =
            mine.clone().map(|place| key(options.seed, place, options.bits)).collect();
        from.write(mine.start, &keys)?;
        let mut counts = Vec::new();
        if !options.pull {
            let bytes = options.radix as usize * size_of::<u32>();
            let family = shared.create(policy, |_| 1, |_| bytes)?;
            let map = |rank| shared.regions().map(family.id(rank, 0));
            counts = (0..shared.size()).map(map).collect::<Shares<_>>()?;
        }
        let sorted = vec![0; keys.len()];
        let mut sort = Sort { shared, options, from, to, keys, sorted, counts };
        if options.pull {
            sort.map_slices()?;
        }
        Ok(sort)
    }

    /// Maps what this rank will take from others, if keys are spread evenly, with a region more at
    /// either end, and has memory for it.
    fn map_slices(&mut self) -> Shares<()> {
        let (me, ranks) = (self.shared.rank(), self.shared.size());
        let more = self.options.region_bytes as usize / size_of::<u32>();
        for rank in (0..ranks).filter(|&rank| rank != me) {
            let part = self.to.of(rank);
            let [start, end] = [me, me + 1].map(|rank| part.start + part.len() * rank / ranks);
            let start = start.saturating_sub(more).max(part.start);
            let end = (end + more).min(part.end);
            self.to.read_into(start, &mut vec![0; end - start])?;
        }
        Ok(())
    }

    /// Sorts by one digit after the other. Collective.
    fn sort(&mut self) -> Shares<()> {
        let (pulls, own) = (self.options.pull, self.from.mine());
        if pulls {
            self.from.read_into(own.start, &mut self.keys)?;
        }
        for digit in Digit::all(self.options.radix, self.options.passes()) {
            match pulls {
                true => self.pull(digit)?,
                false => self.push(digit)?,
            }
            // Everybody has written, or taken what it needs.
            self.shared.barrier()?;
        }
        if pulls {
            self.from.write(own.start, &self.keys)?;
        }
        Ok(())
    }

    /// Writes this rank's keys to where they belong by a digit, and exchanges the arrays.
    fn push(&mut self, digit: Digit) -> Shares<()> {
        if self.options.coherence.prefetch {
            self.from.prefetch_mine()?;
        }
        self.from.read_into(self.from.mine().start, &mut self.keys)?;
        let counts = self.arrange(digit)?;
        let places = places(&self.exchange(&counts)?, self.shared.rank());
        let mut next = 0;
        let firsts = counts.iter().map(|&count| {
            next += count as usize;
            next - count as usize
        });
        let firsts: Vec<usize> = firsts.collect();
        // Beginning where this rank's own part is, for keys that are spread evenly: so not all
        // write to the same.
        let own = self.shared.rank() * digit.radix / self.shared.size();
        for value in (0..digit.radix).map(|step| (own + step) % digit.radix) {
            let run = &self.sorted[firsts[value]..][..counts[value] as usize];
            self.to.write(places[value].start, run)?;
            self.shared.work(COPY * run.len());
        }
        std::mem::swap(&mut self.from, &mut self.to);
        Ok(())
    }

    /// Shows this rank's keys by a digit, and takes what belongs into its part from all ranks'.
    fn pull(&mut self, digit: Digit) -> Shares<()> {
        let own = self.to.mine();
        if self.options.coherence.prefetch {
            // Nobody reads the last pass's keys any more.
            self.to.prefetch_to_write()?;
        }
        let counts = self.arrange(digit)?;
        self.to.write(own.start, &self.sorted)?;
        let counts = self.gather(&counts)?;
        let (me, ranks) = (self.shared.rank(), self.shared.size());
        let order = (0..ranks).map(|step| (me + step) % ranks);
        let pieces: Vec<Vec<Piece>> =
            order.map(|rank| pieces(places(&counts, rank), self.to.of(rank).start, &own)).collect();
        if self.options.coherence.prefetch {
            for of_rank in &pieces {
                if let (Some(first), Some(last)) = (of_rank.first(), of_rank.last()) {
                    self.to.prefetch(first.from..last.from + last.to.len())?;
                }
            }
        }
        for Piece { from, to } in pieces.into_iter().flatten() {
            self.to.read_into(from, &mut self.keys[to])?;
        }
        self.shared.work(COPY * self.keys.len());
        Ok(())
    }

    /// Sorts this rank's keys by a digit, and counts them by it.
    fn arrange(&mut self, digit: Digit) -> Shares<Vec<u32>> {
        let counts = digit.counts(&self.keys);
        self.shared.work(COUNT * self.keys.len());
        self.serve()?;
        digit.sort(&self.keys, &counts, &mut self.sorted);
        self.shared.work(MOVE * self.keys.len());
        self.serve()?;
        Ok(counts)
    }

    /// Serves what others have asked for ahead, who would otherwise wait, or interrupt.
    fn serve(&self) -> Shares<()> {
        let asks_ahead = self.options.pull && self.options.coherence.prefetch;
        while asks_ahead && self.shared.regions().poll()? {}
        Ok(())
    }

    /// Numbers of keys with each digit that all ranks have counted, of which `counts` are this
    /// rank's. Collective.
    fn exchange(&self, counts: &[u32]) -> Shares<Vec<Vec<u32>>> {
        let (me, ranks) = (self.shared.rank(), self.shared.size());
        self.counts[me].write()?.copy_from_slice(counts);
        self.shared.barrier()?;
        let mut all = vec![counts.to_vec(); ranks];
        for other in (1..ranks).map(|step| (me + step) % ranks) {
            all[other] = self.counts[other].read()?.to_vec();
        }
        self.shared.work(ADD * ranks * self.options.radix as usize);
        Ok(all)
    }

    /// Does what [`Self::exchange`] does by one reduction, which nobody leaves before all have
    /// come. Collective.
    fn gather(&self, counts: &[u32]) -> Shares<Vec<Vec<u32>>> {
        let (me, ranks) = (self.shared.rank(), self.shared.size());
        let mut all = vec![0; ranks * counts.len()];
        all[me * counts.len()..][..counts.len()].copy_from_slice(counts);
        self.shared.regions().reduce(&mut all, |a: u32, b| a + b)?;
        self.shared.work(ADD * all.len());
        Ok(all.chunks_exact(counts.len()).map(<[u32]>::to_vec).collect())
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
