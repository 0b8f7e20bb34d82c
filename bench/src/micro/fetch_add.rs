//! A fetch-and-add on another rank's variable, whose program takes no part.
//!
//! The floor is the bare instruction on a line of shared memory. With `-n 2` rank 1 does all of
//! them; with more, all but rank 0 do, and contend.

use crate::micro::arena::Arena;
use crate::micro::launch::Spec;
use crate::micro::report::Row;
use anyhow::{Result, ensure};
use std::sync::atomic::Ordering;
use std::time::Instant;
use weft::{Rank, Variable};

/// Operations in a sample.
const BATCH: u64 = 1000;

const COUNTER: usize = 0;

pub fn rank(spec: &Spec, arena: &Arena) -> Result<()> {
    let weft = weft::join()?;
    let variable = Variable { home: Rank(0), index: 0 };
    let (mut operations, mut floor) = (Vec::new(), Vec::new());
    weft.barrier()?;
    if weft.rank() != 0 {
        for _ in 0..spec.rounds {
            let start = Instant::now();
            for _ in 0..BATCH {
                arena.word(COUNTER).fetch_add(1, Ordering::SeqCst);
            }
            floor.push(start.elapsed().as_nanos() as f64 / BATCH as f64);
            let start = Instant::now();
            for _ in 0..BATCH {
                weft.fetch_and_add(variable, 1)?;
            }
            operations.push(start.elapsed().as_nanos() as f64 / BATCH as f64);
        }
    }
    weft.barrier()?;
    let expected = BATCH * spec.rounds as u64 * (weft.size() as u64 - 1);
    let counted = weft.fetch_and_add(variable, 0)?;
    ensure!(counted == expected, "{counted} additions arrived, {expected} were made");
    if weft.rank() == 1 {
        let floors = vec![("bare fetch-and-add", floor)];
        Row::new("fetch-add", (weft.size(), 8), "ns", operations, floors).print(spec);
    }
    Ok(weft.leave()?)
}
