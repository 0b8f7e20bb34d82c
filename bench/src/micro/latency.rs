//! One way of a packet: its sender's call to its receiver's upcall, credits and release included.
//!
//! Ping-pong in upcalls. The floor bounces two cache lines between the same two cores: one line
//! each way is the least that any message through shared memory costs.

use crate::micro::arena::Arena;
use crate::micro::launch::Spec;
use crate::micro::report::Row;
use anyhow::Result;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;
use weft::{Packets, Rank};

/// Round trips in a sample.
const BATCH: u64 = 200;

/// Words of the arena.
const PING: usize = 0;
const PONG: usize = 1;
const DONE: usize = 2;

pub fn rank(spec: &Spec, arena: &Arena) -> Result<()> {
    let job = weft::join_packets()?;
    let packets = job.packets();
    let arrived = Arc::new(AtomicU64::new(0));
    let (count, echo, payload) = (Arc::clone(&arrived), packets.clone(), vec![7; spec.size()]);
    let echoes = packets.rank() == 1;
    packets.on_packet(move |packet| {
        if echoes {
            // A lost rank shows at the next poll.
            let _ = send(&echo, packet.source(), &packet);
        }
        count.store(count.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    });
    let (mut weft, mut floor) = (Vec::new(), Vec::new());
    for round in 0..spec.rounds as u64 {
        match packets.rank().0 {
            0 => {
                floor.push(floor_ping(arena, round));
                let start = Instant::now();
                for trip in round * BATCH..(round + 1) * BATCH {
                    send(packets, Rank(1), &payload)?;
                    packets.poll_until(|| arrived.load(Ordering::Relaxed) > trip)?;
                }
                weft.push(start.elapsed().as_nanos() as f64 / (2 * BATCH) as f64);
            }
            1 => {
                floor_pong(arena, round);
                packets.poll_until(|| arrived.load(Ordering::Relaxed) >= (round + 1) * BATCH)?;
            }
            _ => break,
        }
    }
    if packets.rank() == 0 {
        let floors = vec![("cache-line ping-pong", floor)];
        let shape = (packets.size(), spec.size());
        Row::new("latency", shape, "ns", weft, floors).print(spec);
    }
    arena.word(DONE).fetch_add(1, Ordering::SeqCst);
    packets.poll_until(|| arena.word(DONE).load(Ordering::SeqCst) == packets.size() as u64)?;
    Ok(job.leave()?)
}

fn send(packets: &Packets, to: Rank, bytes: &[u8]) -> Result<(), weft::Error> {
    let mut packet = packets.packet()?;
    packet.put(bytes)?;
    packet.unicast(to)?;
    Ok(())
}

/// Rank 0's side of the floor: nanoseconds one way of a cache line.
pub fn floor_ping(arena: &Arena, round: u64) -> f64 {
    let start = Instant::now();
    for trip in round * BATCH + 1..=(round + 1) * BATCH {
        arena.word(PING).store(trip, Ordering::Release);
        while arena.word(PONG).load(Ordering::Acquire) != trip {
            std::hint::spin_loop();
        }
    }
    start.elapsed().as_nanos() as f64 / (2 * BATCH) as f64
}

/// Rank 1's side of the floor.
pub fn floor_pong(arena: &Arena, round: u64) {
    for trip in round * BATCH + 1..=(round + 1) * BATCH {
        while arena.word(PING).load(Ordering::Acquire) != trip {
            std::hint::spin_loop();
        }
        arena.word(PONG).store(trip, Ordering::Release);
    }
}
