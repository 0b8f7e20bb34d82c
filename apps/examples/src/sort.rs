//! Every rank has any number of values for every rank: an all-to-all of varied lengths, and a scan.

use weft::collective::Sum;
use weft::prelude::*;

const NUMBERS: u64 = 1000;

/// Ranks draw numbers and sort all of them: the least come to rank 0, the next to rank 1.
///
/// # Errors
/// A lost rank.
pub fn sort(weft: Weft) -> weft::Result<()> {
    let (all, size) = (weft.everyone(), weft.size());
    let mut parts: Vec<Vec<u32>> = vec![Vec::new(); size];
    let mut state = weft.rank().0 as u64 + 1;
    for _ in 0..NUMBERS {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let number = (state >> 32) as u32;
        parts[((u64::from(number) * size as u64) >> 32) as usize].push(number);
    }
    // Nobody knows how many numbers others have for it: they say so themselves.
    let mut mine = all.all_to_all_varied(&parts)?.concat();
    {
        let _span = weft.span("sort"); // until it is dropped
        mine.sort_unstable();
        weft.work(NUMBERS * 10);
    }
    // The place of the first of mine is the number of those at the ranks before.
    let mut place = [mine.len() as u64];
    all.exclusive_scan(&mut place, Sum)?;
    let first = if weft.rank().0 == 0 { 0 } else { place[0] };

    let (total, middle) = (NUMBERS * size as u64, NUMBERS * size as u64 / 2);
    let median = middle.checked_sub(first).and_then(|at| mine.get(at as usize));
    let mut found = [mine.len() as u64, median.map_or(0, |&median| u64::from(median))];
    weft.all_reduce(&mut found, Sum)?;
    assert_eq!(found[0], total);
    if weft.rank().0 == 0 {
        println!("{total} numbers are sorted; the one in the middle is {}", found[1]);
    }
    Ok(())
}
