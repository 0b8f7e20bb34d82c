//! A barrier of all ranks, or an all-reduce of one number of each.
//!
//! The floor is a bare counter in shared memory that everybody adds to and watches, yielding.

use crate::micro::arena::Arena;
use crate::micro::launch::{Kind, Spec};
use crate::micro::report::Row;
use anyhow::Result;
use std::sync::atomic::Ordering;
use std::time::Instant;
use weft::collective::Sum;

/// Barriers in a sample.
const BATCH: u64 = 50;

const ARRIVED: usize = 0;

pub fn rank(spec: &Spec, arena: &Arena) -> Result<()> {
    let reduces = spec.kind == Kind::AllReduce;
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
        for turn in 0..BATCH {
            if reduces {
                let mut value = [turn + u64::from(weft.rank().0)];
                weft.all_reduce(&mut value, Sum)?;
                assert_eq!(value[0], ranks * turn + ranks * (ranks - 1) / 2);
            } else {
                weft.barrier()?;
            }
        }
        barriers.push(start.elapsed().as_nanos() as f64 / BATCH as f64);
    }
    if weft.rank() == 0 {
        let floors = vec![("shared counter with sched_yield", floor)];
        let (name, size) = if reduces { ("all-reduce", 8) } else { ("barrier", 0) };
        Row::new(name, (weft.size(), size), "ns", barriers, floors).print(spec);
    }
    Ok(weft.leave()?)
}
