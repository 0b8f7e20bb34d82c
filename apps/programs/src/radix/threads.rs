//! A sort by bare threads, as ranks sort that take keys from others' parts (`pull`): each reads
//! what belongs to it where it lies, and writes it into its own part of the other array, by the
//! digit of a pass.

use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;

use weft_app_common::{Blocks, Crewmate, crew};

use crate::radix::options::Options;
use crate::radix::run::{Error, check};
use crate::radix::sequential::unsorted;
use crate::radix::sort::{Digit, Piece, Runs, key, pieces, places};

/// Sorts by so many threads, and checks the result as ranks do. Returns the time of the sort.
///
/// # Errors
/// A wrong result.
pub fn solve(options: &Options, threads: usize) -> Result<Duration, Error> {
    let parts = Blocks::new(options.keys as usize, threads);
    let digits: Vec<Digit> = Digit::all(options.radix, options.passes()).collect();
    let arrays: [Array; 2] = std::array::from_fn(|_| array(threads));
    let counts: Vec<Array> = digits.iter().map(|_| array(threads)).collect();
    let times = crew(threads, |mate| {
        let own = parts.of(mate.rank());
        // Memory is made before time counts, as that of ranks is.
        let keys: Vec<u32> = own.map(|place| key(options.seed, place, options.bits)).collect();
        write(&arrays[1][mate.rank()]).clone_from(&keys);
        *write(&arrays[0][mate.rank()]) = keys;
        let ((), time) = mate.timed(|| sort(&digits, mate, parts, &arrays, &counts));
        time
    });
    let sorted = &arrays[(digits.len() + 1) % 2];
    let keys: Vec<u32> = sorted.iter().flat_map(|part| read(part).clone()).collect();
    check(&keys, unsorted(options))?;
    Ok(times[0])
}

/// Parts of an array, a thread each.
type Array = Vec<RwLock<Vec<u32>>>;

fn array(threads: usize) -> Array {
    (0..threads).map(|_| RwLock::default()).collect()
}

fn read(part: &RwLock<Vec<u32>>) -> RwLockReadGuard<'_, Vec<u32>> {
    part.read().unwrap_or_else(PoisonError::into_inner)
}

fn write(part: &RwLock<Vec<u32>>) -> RwLockWriteGuard<'_, Vec<u32>> {
    part.write().unwrap_or_else(PoisonError::into_inner)
}

/// A thread's part in a sort of what is in the first of two arrays, between which keys move. Its
/// counts of a pass are where no other pass has any, so that a barrier behind each is enough: who
/// has come to it has read what the next one writes.
fn sort(
    digits: &[Digit],
    mate: &Crewmate<'_>,
    parts: Blocks,
    arrays: &[Array; 2],
    counts: &[Array],
) {
    let me = mate.rank();
    let own = parts.of(me);
    let mut lots = vec![(me, Piece { from: 0, to: 0..own.len() })];
    for (pass, (&digit, counts)) in digits.iter().zip(counts).enumerate() {
        with_keys(&lots, &arrays[pass % 2], |keys| {
            let mut mine = vec![0; digit.radix];
            keys.iter().for_each(|keys| digit.count(keys, &mut mine));
            let mut to = write(&arrays[(pass + 1) % 2][me]);
            let mut runs = Runs::new([to.as_mut_slice()], &mine);
            keys.iter().for_each(|keys| digit.deal(keys, &mut runs));
            *write(&counts[me]) = mine;
        });
        mate.barrier();
        let counts: Vec<Vec<u32>> = counts.iter().map(|part| read(part).clone()).collect();
        let of = |thread| pieces(places(&counts, thread), 0, &own).into_iter();
        lots =
            (0..mate.size()).flat_map(|thread| of(thread).map(move |lot| (thread, lot))).collect();
        lots.sort_unstable_by_key(|(_, piece)| piece.to.start);
    }
    with_keys(&lots, &arrays[digits.len() % 2], |keys| {
        let mut rest = write(&arrays[(digits.len() + 1) % 2][me]);
        let mut rest = rest.as_mut_slice();
        for keys in keys {
            let now = rest.split_off_mut(..keys.len()).unwrap_or_default();
            now.copy_from_slice(keys);
        }
    });
}

/// Shows keys in the parts of threads to `look`.
fn with_keys(lots: &[(usize, Piece)], array: &Array, look: impl FnOnce(&[&[u32]])) {
    let parts: Vec<_> = array.iter().map(read).collect();
    let keys = |(thread, piece): &(usize, Piece)| &parts[*thread][piece.from..][..piece.to.len()];
    look(&lots.iter().map(keys).collect::<Vec<_>>());
}
