//! Operations on the keys of a rank, and their cost on the thesis's processors.

use std::ops::Range;

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
        keys.iter().for_each(|&key| counts[self.of(key)] += 1);
        counts
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
