//! The sort as in the thesis: keys are written into the parts of the array where they belong.

use weft_app_common::RegionRank;
use weft_region::{Mapped, Result as Shares};

use crate::radix::array::Array;
use crate::radix::options::Options;
use crate::radix::sort::{ADD, COPY, COUNT, Digit, MOVE, places};

/// A rank's part in a sort that writes keys into others' parts.
pub struct Push<'a> {
    shared: &'a RegionRank,
    options: &'a Options,
    /// Arrays that keys are moved between.
    from: Array<'a>,
    to: Array<'a>,
    /// Keys of this rank before a pass, and by the digit of the pass.
    keys: Vec<u32>,
    sorted: Vec<u32>,
    /// Counts of each rank.
    counts: Vec<Mapped<u32>>,
}

impl<'a> Push<'a> {
    /// A sort of what is in `from`, with room in `to`. Collective.
    pub fn new(
        shared: &'a RegionRank,
        options: &'a Options,
        (from, to): (Array<'a>, Array<'a>),
    ) -> Shares<Self> {
        let bytes = options.radix as usize * size_of::<u32>();
        let family = shared.create(options.coherence.policy(), |_| 1, |_| bytes)?;
        let map = |rank| shared.regions().map(family.id(rank, 0));
        let counts = (0..shared.size()).map(map).collect::<Shares<_>>()?;
        let keys = vec![0; from.mine().len()];
        Ok(Push { shared, options, from, to, sorted: keys.clone(), keys, counts })
    }

    /// Sorts by one digit after the other. Collective.
    pub fn sort(&mut self) -> Shares<()> {
        for digit in Digit::all(self.options.radix, self.options.passes()) {
            self.pass(digit)?;
            // Everybody has written.
            self.shared.barrier()?;
        }
        Ok(())
    }

    /// The array with the keys.
    pub fn into_array(self) -> Array<'a> {
        self.from
    }

    /// Writes this rank's keys to where they belong by a digit, and exchanges the arrays.
    fn pass(&mut self, digit: Digit) -> Shares<()> {
        if self.options.coherence.prefetch {
            self.from.prefetch_mine()?;
        }
        self.from.read_into(self.from.mine().start, &mut self.keys)?;
        let counts = digit.counts(&self.keys);
        self.shared.work(COUNT * self.keys.len());
        digit.sort(&self.keys, &counts, &mut self.sorted);
        self.shared.work(MOVE * self.keys.len());
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
}
