//! A sort by bare threads: each sorts its part by a digit, and then takes from
//! the parts of all what belongs into its own.

use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;

use weft_app_common::{Blocks, Crewmate, crew};

use crate::options::Options;
use crate::run::{Error, check};
use crate::sequential::unsorted;
use crate::sort::{Digit, Piece, key, pieces, places};

/// Sorts by so many threads, and checks the result as ranks do. Returns the time of the sort.
///
/// # Errors
/// A wrong result.
pub fn solve(options: &Options, threads: usize) -> Result<Duration, Error> {
    let parts = Blocks::new(options.keys as usize, threads);
    let sorted: Vec<Part> = (0..threads).map(|_| RwLock::default()).collect();
    let all = crew(threads, |mate| {
        let mine = parts.of(mate.rank());
        let mut keys: Vec<u32> = mine.map(|place| key(options.seed, place, options.bits)).collect();
        // Memory is made before time counts, as that of ranks is.
        locked(&sorted[mate.rank()]).keys.clone_from(&keys);
        let ((), time) = mate.timed(|| {
            for digit in Digit::all(options.radix, options.passes()) {
                pass(digit, &mut keys, parts, mate, &sorted);
            }
        });
        (keys, time)
    });
    let time = all[0].1;
    let keys: Vec<u32> = all.into_iter().flat_map(|(keys, _)| keys).collect();
    check(&keys, unsorted(options))?;
    Ok(time)
}

/// Keys of a thread by the digit, with the number of each.
#[derive(Default)]
struct Sorted {
    keys: Vec<u32>,
    counts: Vec<u32>,
}

type Part = RwLock<Sorted>;

fn locked(part: &Part) -> RwLockWriteGuard<'_, Sorted> {
    part.write().unwrap_or_else(PoisonError::into_inner)
}

fn pass(digit: Digit, keys: &mut [u32], parts: Blocks, mate: &Crewmate<'_>, sorted: &[Part]) {
    let counts = digit.counts(keys);
    {
        let mut mine = locked(&sorted[mate.rank()]);
        digit.sort(keys, &counts, &mut mine.keys);
        mine.counts = counts;
    }
    mate.barrier();
    let all: Vec<RwLockReadGuard<'_, Sorted>> =
        sorted.iter().map(|part| part.read().unwrap_or_else(PoisonError::into_inner)).collect();
    let counts: Vec<Vec<u32>> = all.iter().map(|part| part.counts.clone()).collect();
    let own = parts.of(mate.rank());
    for (thread, part) in all.iter().enumerate() {
        for Piece { from, to } in pieces(places(&counts, thread), 0, &own) {
            let count = to.len();
            keys[to].copy_from_slice(&part.keys[from..from + count]);
        }
    }
    drop(all);
    // Before anybody writes again.
    mate.barrier();
}
