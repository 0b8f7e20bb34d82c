//! An event of a trace: a span of the program, which is two of them.
//!
//! The floor is a look at the clock, which each event needs.

use crate::micro::launch::Spec;
use crate::micro::report::Row;
use anyhow::Result;
use std::hint::black_box;
use std::time::Instant;

/// Spans in a sample.
const BATCH: u32 = 10_000;

pub fn rank(spec: &Spec) -> Result<()> {
    let weft = weft::join()?;
    let (mut events, mut floor) = (Vec::new(), Vec::new());
    let each = |start: Instant| start.elapsed().as_nanos() as f64 / f64::from(2 * BATCH);
    weft.barrier()?;
    if weft.rank() == 0 {
        for _ in 0..spec.rounds {
            let start = Instant::now();
            (0..2 * BATCH).for_each(|_| {
                black_box(weft.now());
            });
            floor.push(each(start));
            let start = Instant::now();
            (0..BATCH).for_each(|_| drop(black_box(weft.span("event"))));
            events.push(each(start));
        }
        let floors = vec![("a look at the clock", floor)];
        Row::new("trace", (weft.size(), 0), "ns", events, floors).print(spec);
    }
    Ok(weft.leave()?)
}
