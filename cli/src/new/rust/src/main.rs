//! A rank that is a process: `weft run -n 4 -- target/release/my-program`.

use my_program::{LIMIT, program};
use weft::prelude::*;

#[weft::main]
fn main(weft: Weft) -> weft::Result<()> {
    let found = program(&weft)?;
    if weft.rank() == 0 {
        let (primes, gap, size) = (found.primes, found.widest_gap, weft.size());
        println!("{primes} primes below {LIMIT}, the widest gap is {gap} (ranks: {size})");
    }
    Ok(())
}
