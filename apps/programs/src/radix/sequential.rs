//! The whole sort on one rank, in ordinary memory.

use crate::radix::options::Options;
use crate::radix::sort::{COUNT, Digit, MOVE, key};

/// Sorts, saying how many operations that takes.
pub fn sequential(options: &Options, work: impl Fn(usize)) -> Vec<u32> {
    let mut keys = unsorted(options);
    let mut sorted = vec![0; keys.len()];
    for digit in Digit::all(options.radix, options.passes()) {
        let counts = digit.counts(&keys);
        digit.sort(&keys, &counts, &mut sorted);
        std::mem::swap(&mut keys, &mut sorted);
        work((COUNT + MOVE) * keys.len());
    }
    keys
}

/// Keys to be sorted.
pub fn unsorted(options: &Options) -> Vec<u32> {
    (0..options.keys as usize).map(|place| key(options.seed, place, options.bits)).collect()
}
