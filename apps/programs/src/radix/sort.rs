//! Operations on the keys of a rank, and their cost on the thesis's processors.

use std::ops::Range;
use std::slice::IterMut;

use weft_app_common::random;

/// Operations of 20 ns (`links/sim/machines/myrinet.toml`) of reading a key and counting its digit,
/// of moving a key to its digit's others, of copying one into a region, and of adding two counts.
/// The first three are chosen so that 3,000,000 keys take one rank 3.24 s in three passes, as table
/// 8.6 has it (3.20 s).
pub const COUNT: usize = 6;
pub const MOVE: usize = 10;
pub const COPY: usize = 2;
pub const ADD: usize = 1;

/// The key at a place of the array to be sorted.
pub fn key(seed: u64, place: usize, bits: u32) -> u32 {
    (random(seed, place as u64) >> (64 - bits)) as u32
}

/// A digit of keys.
#[derive(Clone, Copy, Debug)]
pub struct Digit {
    /// Values that it may have, a power of two.
    pub radix: usize,
    /// Bits of keys below it.
    pub shift: u32,
}

impl Digit {
    /// All digits, the lowest first.
    pub fn all(radix: u32, passes: u32) -> impl Iterator<Item = Digit> {
        let bits = radix.ilog2();
        (0..passes).map(move |pass| Digit { radix: radix as usize, shift: pass * bits })
    }

    fn of(self, key: u32) -> usize {
        (key >> self.shift) as usize & (self.radix - 1)
    }

    /// Number of keys with each value.
    pub fn counts(self, keys: &[u32]) -> Vec<u32> {
        let mut counts = vec![0; self.radix];
        self.count(keys, &mut counts);
        counts
    }

    /// Adds the number of keys with each value.
    pub fn count(self, keys: &[u32], counts: &mut [u32]) {
        keys.iter().for_each(|&key| counts[self.of(key)] += 1);
    }

    /// Moves keys to where they belong by this digit, into as many places, in the order that they
    /// had where it is equal.
    pub fn sort(self, keys: &[u32], counts: &[u32], sorted: &mut [u32]) {
        let mut next = 0;
        let places = counts.iter().map(|&count| {
            let first = next;
            next += count as usize;
            first
        });
        let mut places: Vec<usize> = places.collect();
        for &key in keys {
            let place = &mut places[self.of(key)];
            sorted[*place] = key;
            *place += 1;
        }
    }

    /// Moves keys to the ends of the runs of their values.
    // Apart: within its callers it has too few registers.
    #[inline(never)]
    pub fn deal(self, keys: &[u32], runs: &mut Runs<'_>) {
        keys.iter().for_each(|&key| runs.push(self.of(key), key));
    }
}

/// Places for keys: a run for each value of a digit, which may go on elsewhere.
pub struct Runs<'a> {
    /// Rest of the stretch of each run that is being filled.
    places: Vec<IterMut<'a, u32>>,
    /// Stretches that come after it, the last first.
    later: Vec<Vec<&'a mut [u32]>>,
}

impl<'a> Runs<'a> {
    /// Runs for so many keys, one behind the other in these stretches of memory.
    pub fn new(stretches: impl IntoIterator<Item = &'a mut [u32]>, counts: &[u32]) -> Self {
        let mut stretches = stretches.into_iter();
        let mut rest: &mut [u32] = &mut [];
        let run = |&count: &u32| {
            let (mut missing, mut run) = (count as usize, Vec::new());
            while missing > 0 {
                if rest.is_empty() {
                    rest = stretches.next().unwrap_or_else(|| panic!("no room for all keys"));
                }
                let now = rest.split_off_mut(..missing.min(rest.len())).unwrap_or_default();
                missing -= now.len();
                run.push(now);
            }
            run.reverse();
            run
        };
        let later: Vec<Vec<&mut [u32]>> = counts.iter().map(run).collect();
        Runs { places: later.iter().map(|_| Default::default()).collect(), later }
    }

    /// Puts a key at the end of a run.
    fn push(&mut self, run: usize, key: u32) {
        match self.places[run].next() {
            Some(place) => *place = key,
            None => self.push_behind(run, key),
        }
    }

    /// Puts a key into the next stretch of a run.
    #[cold]
    fn push_behind(&mut self, run: usize, key: u32) {
        self.go_on(run);
        self.push(run, key);
    }

    /// Takes the next stretch of a run.
    ///
    /// # Panics
    /// If there is none: keys are more than were counted.
    fn go_on(&mut self, run: usize) {
        let next = self.later[run].pop().unwrap_or_else(|| panic!("run {run} is full"));
        self.places[run] = next.iter_mut();
    }

    /// Puts keys at the end of a run.
    pub fn extend(&mut self, run: usize, mut keys: &[u32]) {
        while !keys.is_empty() {
            if self.places[run].len() == 0 {
                self.go_on(run);
            }
            let places = std::mem::take(&mut self.places[run]).into_slice();
            let (now, later) = keys.split_at(keys.len().min(places.len()));
            let (places, rest) = places.split_at_mut(now.len());
            places.copy_from_slice(now);
            (self.places[run], keys) = (rest.iter_mut(), later);
        }
    }
}

/// Ranges of the whole array to which the keys of `rank` belong, by their digit, if the ranks have
/// counted `counts`: smaller digits first, and keys with the same digit in the order of ranks.
pub fn places(counts: &[Vec<u32>], rank: usize) -> Vec<Range<usize>> {
    let mut smaller = 0;
    let place = |digit: usize| {
        let of =
            |ranks: &[Vec<u32>]| ranks.iter().map(|counts| counts[digit] as usize).sum::<usize>();
        let first = smaller + of(&counts[..rank]);
        smaller += of(counts);
        first..first + counts[rank][digit] as usize
    };
    (0..counts[rank].len()).map(place).collect()
}

/// Keys of a rank with one digit that belong into a part of the array.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Piece {
    /// Place of the first among all ranks' sorted keys.
    pub from: usize,
    /// Destination, counted from where the part begins.
    pub to: Range<usize>,
}

/// Pieces that belong into `part`, of a rank whose sorted keys begin at `first` and belong to
/// `places`. They lie one behind the other.
pub fn pieces(places: Vec<Range<usize>>, mut first: usize, part: &Range<usize>) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for run in places {
        let (start, end) = (run.start.max(part.start), run.end.min(part.end));
        if start < end {
            let to = start - part.start..end - part.start;
            pieces.push(Piece { from: first + start - run.start, to });
        }
        first += run.len();
    }
    pieces
}

#[cfg(test)]
mod tests;
