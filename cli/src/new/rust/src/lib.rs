//! Primes below a limit, and the widest gap between two neighbours.
//!
//! Each rank looks at a part of the numbers. The gap between two parts is seen by the rank of the
//! second one, which is told the last prime of the first.

use weft::collective::{Max, Sum};
use weft::prelude::*;

/// Limit of the numbers.
pub const LIMIT: u64 = 100_000;

/// Result, which all ranks have found together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    pub primes: u64,
    pub widest_gap: u64,
}

/// Program of a rank, which is a process or simulated.
///
/// # Errors
/// A rank was lost.
pub fn program(weft: &Weft) -> weft::Result<Found> {
    let (rank, size) = (weft.rank().0, weft.size() as u16);
    let begin_of = |rank: u16| LIMIT * u64::from(rank) / u64::from(size);
    let part = begin_of(rank)..begin_of(rank + 1);
    let primes: Vec<u64> = part.clone().filter(|number| is_prime(*number)).collect();
    weft.work(part.clone().map(|number| number.isqrt()).sum()); // What that takes, for the simulator.

    // The last prime up to here goes to the next rank, that of the rank before comes; 0 is none.
    let mailbox = weft.mailbox("last")?;
    if rank + 1 < size {
        let last = (0..part.end).rev().find(|number| is_prime(*number)).unwrap_or(0);
        mailbox.send(Rank(rank + 1), &last.to_le_bytes())?;
    }
    let mut neighbours = primes.clone();
    if rank > 0 {
        let mut last = [0; 8];
        mailbox.receive()?.read_exact(&mut last)?;
        neighbours.insert(0, u64::from_le_bytes(last));
    }
    let pairs = neighbours.windows(2).filter(|pair| pair[0] > 0);

    // All ranks get the sum of what they counted, and the widest of their gaps.
    let mut count = [primes.len() as u64];
    let mut gap = [pairs.map(|pair| pair[1] - pair[0]).max().unwrap_or(0)];
    weft.all_reduce(&mut count, Sum)?;
    weft.all_reduce(&mut gap, Max)?;
    Ok(Found { primes: count[0], widest_gap: gap[0] })
}

fn is_prime(number: u64) -> bool {
    number >= 2 && (2..=number.isqrt()).all(|divisor| number % divisor != 0)
}
