//! Packets a second from one rank to another.
//!
//! The floor is a bare ring of cache lines, a sequence number and eight bytes in each, with one
//! acknowledgement for every half of it.

use crate::micro::arena::Arena;
use crate::micro::launch::Spec;
use crate::micro::report::Row;
use anyhow::Result;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;
use weft::Rank;

/// Packets in a sample.
const BATCH: u64 = 20_000;
/// Lines of the floor's ring.
const RING: u64 = 128;

const ACKNOWLEDGED: usize = 0;
const RECEIVED: usize = 1;
const DONE: usize = 2;

pub fn rank(spec: &Spec, arena: &Arena) -> Result<()> {
    let job = weft::join_packets()?;
    let packets = job.packets();
    let arrived = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&arrived);
    packets.on_packet(move |packet| {
        std::hint::black_box(packet.first());
        count.store(count.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    });
    let payload = vec![7; spec.size()];
    let (mut weft, mut floor) = (Vec::new(), Vec::new());
    for round in 0..spec.rounds as u64 {
        let until = (round + 1) * BATCH;
        match packets.rank().0 {
            0 => {
                floor.push(floor_send(arena, round));
                let start = Instant::now();
                for _ in 0..BATCH {
                    let mut packet = packets.packet()?;
                    packet.put(&payload)?;
                    packet.unicast(Rank(1))?;
                }
                packets.poll_until(|| arena.word(RECEIVED).load(Ordering::Acquire) >= until)?;
                weft.push(BATCH as f64 / start.elapsed().as_secs_f64());
            }
            1 => {
                floor_receive(arena, round);
                packets.poll_until(|| arrived.load(Ordering::Relaxed) >= until)?;
                arena.word(RECEIVED).store(until, Ordering::Release);
            }
            _ => break,
        }
    }
    if packets.rank() == 0 {
        let floors = vec![("bare ring of cache lines", floor)];
        let shape = (packets.size(), spec.size());
        Row::new("rate", shape, "per_second", weft, floors).print(spec);
    }
    arena.word(DONE).fetch_add(1, Ordering::SeqCst);
    packets.poll_until(|| arena.word(DONE).load(Ordering::SeqCst) == packets.size() as u64)?;
    Ok(job.leave()?)
}

fn floor_send(arena: &Arena, round: u64) -> f64 {
    let start = Instant::now();
    for number in round * BATCH + 1..=(round + 1) * BATCH {
        while number > arena.word(ACKNOWLEDGED).load(Ordering::Acquire) + RING {
            std::hint::spin_loop();
        }
        let line = arena.line((number % RING) as usize);
        line[1].store(number, Ordering::Relaxed);
        line[0].store(number, Ordering::Release);
    }
    while arena.word(ACKNOWLEDGED).load(Ordering::Acquire) < (round + 1) * BATCH {
        std::hint::spin_loop();
    }
    BATCH as f64 / start.elapsed().as_secs_f64()
}

fn floor_receive(arena: &Arena, round: u64) {
    for number in round * BATCH + 1..=(round + 1) * BATCH {
        let line = arena.line((number % RING) as usize);
        while line[0].load(Ordering::Acquire) != number {
            std::hint::spin_loop();
        }
        std::hint::black_box(line[1].load(Ordering::Relaxed));
        if number.is_multiple_of(RING / 2) || number == (round + 1) * BATCH {
            arena.word(ACKNOWLEDGED).store(number, Ordering::Release);
        }
    }
}
