//! Work that is shared by counting: a rank that is free takes the next piece.

use weft::collective::Sum;
use weft::prelude::*;

const BELOW: u64 = 100_000;
const PIECE: u64 = 100;

/// All ranks count the primes below 100,000, in pieces of a hundred numbers.
///
/// # Errors
/// A lost rank.
pub fn counter(weft: Weft) -> weft::Result<()> {
    let next = Variable { home: Rank(0), index: 0 };
    weft.barrier()?; // Nobody begins before all are there.
    let (mut primes, mut pieces) = (0, 0);
    loop {
        let from = weft.fetch_and_add(next, PIECE)?;
        if from >= BELOW {
            break;
        }
        primes += (from..from + PIECE).filter(|n| is_prime(&weft, *n)).count() as u64;
        pieces += 1;
    }
    let mut totals = [primes, pieces];
    weft.all_reduce(&mut totals, Sum)?;
    assert_eq!(totals, [9592, BELOW / PIECE]);
    if weft.rank() == 0 {
        println!("{} primes below {BELOW}; rank 0 did {pieces} of {} pieces", totals[0], totals[1]);
    }
    Ok(())
}

fn is_prime(weft: &Weft, n: u64) -> bool {
    let mut divisors = 2..=n.isqrt();
    weft.work(n.isqrt()); // What it costs, for the simulator.
    n >= 2 && divisors.all(|divisor| !n.is_multiple_of(divisor))
}
