//! The sort in which keys are taken out of the parts of others: each rank shows its keys in its own
//! part, by the digit of a pass, and in the next pass all read theirs where they lie.
//!
//! A pass reads one array and writes this rank's part of the other, and keys are nowhere else. The
//! reduction behind it, which nobody leaves before all have come, tells all what all have counted;
//! so the keys are there then, and nobody reads any more where they were before.

use std::ops::Range;

use weft_app_common::RegionRank;
use weft_region::Result as Shares;

use crate::radix::array::{Array, Open};
use crate::radix::options::Options;
use crate::radix::sort::{ADD, COPY, COUNT, Digit, MOVE, Piece, Runs, pieces, places};

/// A rank's part in a sort that takes keys from others' parts.
pub struct Pull<'a> {
    shared: &'a RegionRank,
    options: &'a Options,
    /// Arrays that keys are moved between.
    from: Array<'a>,
    to: Array<'a>,
}

/// Keys that belong to a rank: in pieces of each rank's part, which lie one behind the other.
type Lots = Vec<Vec<Piece>>;

impl<'a> Pull<'a> {
    /// A sort of what is in `from`, with room in `to`. Maps what this rank will take from others if
    /// keys are spread evenly, with a region more at either end, and has memory for it.
    pub fn new(
        shared: &'a RegionRank,
        options: &'a Options,
        (mut from, mut to): (Array<'a>, Array<'a>),
    ) -> Shares<Self> {
        let (me, ranks) = (shared.rank(), shared.size());
        let more = options.region_bytes as usize / size_of::<u32>();
        for rank in (0..ranks).filter(|&rank| rank != me) {
            let part = to.of(rank);
            let [start, end] = [me, me + 1].map(|rank| part.start + part.len() * rank / ranks);
            let start = start.saturating_sub(more).max(part.start);
            let end = (end + more).min(part.end);
            for array in [&mut from, &mut to] {
                array.read_into(start, &mut vec![0; end - start])?;
            }
        }
        // Memory that has left the caches takes twice the time to write, in the first pass.
        let own = from.mine();
        let keys = from.read(own.clone())?;
        to.write(own.start, &keys)?;
        Ok(Pull { shared, options, from, to })
    }

    /// Sorts by one digit after the other. Collective.
    pub fn sort(&mut self) -> Shares<()> {
        let own = self.from.mine();
        let mut lots = vec![vec![Piece { from: own.start, to: 0..own.len() }]];
        for digit in Digit::all(self.options.radix, self.options.passes()) {
            self.ask(&lots)?;
            let counts = self.show(digit, &lots)?;
            lots = self.gather(&counts)?;
            std::mem::swap(&mut self.from, &mut self.to);
        }
        self.ask(&lots)?;
        self.take(&lots)?;
        std::mem::swap(&mut self.from, &mut self.to);
        Ok(())
    }

    /// The array with the keys.
    pub fn into_array(self) -> Array<'a> {
        self.from
    }

    /// Maps the keys that belong to this rank. Asks ahead for them, and to write where they go.
    fn ask(&mut self, lots: &Lots) -> Shares<()> {
        for extent in lots.iter().filter_map(|lot| extent(lot)) {
            self.from.map(extent.clone())?;
            if self.options.coherence.prefetch {
                self.from.prefetch(extent)?;
            }
        }
        if self.options.coherence.prefetch {
            self.to.prefetch_to_write()?;
        }
        Ok(())
    }

    /// Moves the keys into this rank's part by a digit. Returns how many have which.
    fn show(&self, digit: Digit, lots: &Lots) -> Shares<Vec<u32>> {
        let mut counts = vec![0; digit.radix];
        let opened = self.open(lots, |keys| digit.count(keys, &mut counts))?;
        let own = self.to.mine().len();
        self.shared.work(COUNT * own);
        let mut regions = self.to.write_mine()?;
        let mut runs = Runs::new(regions.iter_mut().map(|region| &mut **region), &counts);
        for keys in in_order(lots, &opened) {
            digit.deal(keys, &mut runs);
            self.serve()?;
        }
        self.shared.work(MOVE * own);
        Ok(counts)
    }

    /// Moves the keys, which are sorted, into this rank's part.
    fn take(&self, lots: &Lots) -> Shares<()> {
        let opened = self.open(lots, |_| ())?;
        let own = self.to.mine().len();
        let mut regions = self.to.write_mine()?;
        let all = [own as u32];
        let mut part = Runs::new(regions.iter_mut().map(|region| &mut **region), &all);
        for keys in in_order(lots, &opened) {
            part.extend(0, keys);
            self.serve()?;
        }
        self.shared.work(COPY * own);
        Ok(())
    }

    /// Opens the keys that belong to this rank, and shows them to `look` as they come.
    fn open(&self, lots: &Lots, mut look: impl FnMut(&[u32])) -> Shares<Vec<Open<'_>>> {
        let mut look = |keys: &[u32]| {
            look(keys);
            self.serve()
        };
        lots.iter().map(|lot| self.from.open(extent(lot).unwrap_or_default(), &mut look)).collect()
    }

    /// Serves what others have asked for ahead, who would otherwise wait, or interrupt.
    fn serve(&self) -> Shares<()> {
        while self.options.coherence.prefetch && self.shared.regions().poll()? {}
        Ok(())
    }

    /// Tells all ranks what this one has counted. Returns where the keys are that belong to it, its
    /// own first. Collective.
    fn gather(&self, counts: &[u32]) -> Shares<Lots> {
        let (me, ranks) = (self.shared.rank(), self.shared.size());
        let mut all = vec![0; ranks * counts.len()];
        all[me * counts.len()..][..counts.len()].copy_from_slice(counts);
        self.shared.regions().reduce(&mut all, |a: u32, b| a + b)?;
        self.shared.work(ADD * all.len());
        let counts: Vec<Vec<u32>> = all.chunks_exact(counts.len()).map(<[u32]>::to_vec).collect();
        let own = self.to.mine();
        let order = (0..ranks).map(|step| (me + step) % ranks);
        Ok(order.map(|rank| pieces(places(&counts, rank), self.to.of(rank).start, &own)).collect())
    }
}

/// Places of all keys of a lot; none if it has no pieces.
fn extent(lot: &[Piece]) -> Option<Range<usize>> {
    let (first, last) = (lot.first()?, lot.last()?);
    Some(first.from..last.from + last.to.len())
}

/// The keys of all lots, in the order in which they belong.
fn in_order<'a>(lots: &'a Lots, opened: &'a [Open<'a>]) -> impl Iterator<Item = &'a [u32]> {
    let of_lot =
        |(lot, open): (&'a Vec<Piece>, &'a Open<'a>)| lot.iter().map(move |piece| (piece, open));
    let mut all: Vec<_> = lots.iter().zip(opened).flat_map(of_lot).collect();
    all.sort_unstable_by_key(|(piece, _)| piece.to.start);
    all.into_iter().flat_map(|(piece, open)| open.slices(piece.from..piece.from + piece.to.len()))
}
