//! A poll that finds nothing, while all other ranks sleep. It must cost the same with 1,024 ranks
//! as with 2.
//!
//! The floor is one load of a line that another rank may write.

use crate::micro::arena::Arena;
use crate::micro::launch::Spec;
use crate::micro::report::Row;
use anyhow::Result;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// Polls in a sample.
const BATCH: u64 = 10_000;

const LINE: usize = 0;

pub fn rank(spec: &Spec, arena: &Arena) -> Result<()> {
    let weft = weft::join()?;
    let (mut polls, mut floor) = (Vec::new(), Vec::new());
    weft.barrier()?;
    if weft.rank() == 0 {
        for _ in 0..spec.rounds {
            let start = Instant::now();
            for _ in 0..BATCH {
                std::hint::black_box(arena.word(LINE).load(Ordering::Acquire));
            }
            floor.push(start.elapsed().as_nanos() as f64 / BATCH as f64);
            let start = Instant::now();
            for _ in 0..BATCH {
                weft.packets().poll().map_err(weft::Error::from)?;
            }
            polls.push(start.elapsed().as_nanos() as f64 / BATCH as f64);
        }
        let floors = vec![("one load", floor)];
        Row::new("poll", (weft.size(), 0), "ns", polls, floors).print(spec);
    }
    Ok(weft.leave()?)
}
