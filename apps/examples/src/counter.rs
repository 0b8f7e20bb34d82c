//! Work that is shared by counting: a rank that is free takes the next piece.

use weft::Atomic;
use weft::collective::Sum;
use weft::prelude::*;

const BELOW: u64 = 100_000;
const PIECE: u64 = 100;

/// All ranks count the primes below 100,000, in pieces of a hundred numbers.
///
/// # Errors
/// A lost rank.
pub fn counter(weft: Weft) -> weft::Result<()> {
    let (next, last) = (Variable::new(Rank(0), 0), Variable::new(Rank(0), 1));
    weft.barrier()?; // Nobody begins before all are there.
    let (mut primes, mut pieces, mut largest) = (0, 0, 0);
    loop {
        let from = weft.fetch_and_add(next, PIECE)?;
        if from >= BELOW {
            break;
        }
        for number in (from..from + PIECE).filter(|number| is_prime(&weft, *number)) {
            (primes, largest) = (primes + 1, number);
        }
        pieces += 1;
    }
    weft.atomic(last, Atomic::Max(largest))?;
    let mut totals = [primes, pieces];
    weft.all_reduce(&mut totals, Sum)?;
    assert_eq!(totals, [9592, BELOW / PIECE]);
    if weft.rank() == 0 {
        println!("{} primes below {BELOW}; rank 0 did {pieces} of {} pieces", totals[0], totals[1]);
        println!("the last of them is {}", weft.fetch_and_add(last, 0)?);
    }
    Ok(())
}

fn is_prime(weft: &Weft, n: u64) -> bool {
    let mut divisors = 2..=n.isqrt();
    weft.work(n.isqrt()); // What it costs, for the simulator.
    n >= 2 && divisors.all(|divisor| !n.is_multiple_of(divisor))
}
