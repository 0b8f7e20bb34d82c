//! A barrier of all ranks.
//!
//! The floor is a bare counter in shared memory that everybody adds to and watches, yielding.

use crate::arena::Arena;
use crate::launch::Spec;
use crate::report::Row;
use anyhow::Result;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// Barriers in a sample.
const BATCH: u64 = 50;

const ARRIVED: usize = 0;

pub fn rank(spec: &Spec, arena: &Arena) -> Result<()> {
    let weft = weft::join()?;
    let ranks = weft.size() as u64;
    let (mut barriers, mut floor) = (Vec::new(), Vec::new());
    let mut passed = 0;
    weft.barrier()?;
    for _ in 0..spec.rounds {
        let start = Instant::now();
        for _ in 0..BATCH {
            passed += ranks;
            arena.word(ARRIVED).fetch_add(1, Ordering::SeqCst);
            while arena.word(ARRIVED).load(Ordering::Acquire) < passed {
                std::thread::yield_now();
            }
        }
        floor.push(start.elapsed().as_nanos() as f64 / BATCH as f64);
        let start = Instant::now();
        for _ in 0..BATCH {
            weft.barrier()?;
        }
        barriers.push(start.elapsed().as_nanos() as f64 / BATCH as f64);
    }
    if weft.rank() == 0 {
        let floors = vec![("shared counter with sched_yield", floor)];
        Row::new("barrier", (weft.size(), 0), "ns", barriers, floors).print(spec.json);
    }
    Ok(weft.leave()?)
}
