//! Every rank has something for every rank: an all-to-all.

use weft::collective::Sum;
use weft::prelude::*;

const NUMBERS: u64 = 10_000;
const BUCKETS: usize = 8;

/// All ranks draw numbers, count them in buckets, and each gets the counts of its own buckets.
///
/// # Errors
/// A lost rank.
pub fn histogram(weft: Weft) -> weft::Result<()> {
    let mut counts = vec![0u64; weft.size() * BUCKETS];
    let mut number = weft.rank().0 as u64 + 1;
    for _ in 0..NUMBERS {
        number = number.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let bucket = ((number >> 32) as usize * counts.len()) >> 32;
        counts[bucket] += 1;
    }
    weft.work(NUMBERS);
    // The first eight buckets go to rank 0, the next to rank 1; from each rank come the counts of
    // ours.
    let from_all = weft.all_to_all(&counts)?;
    let mine = |bucket: usize| from_all.iter().skip(bucket).step_by(BUCKETS).sum::<u64>();
    let mine: Vec<u64> = (0..BUCKETS).map(mine).collect();
    let mut all = [mine.iter().sum::<u64>()];
    weft.all_reduce(&mut all, Sum)?;
    assert_eq!(all[0], NUMBERS * weft.size() as u64);
    if weft.rank() == 0 {
        println!("{} numbers; in the first {BUCKETS} buckets are {mine:?}", all[0]);
    }
    Ok(())
}
