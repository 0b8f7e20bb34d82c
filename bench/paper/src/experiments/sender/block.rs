//! A block of 64 Mbyte from one rank's memory to another's, and from file to file (figure 4).

use crate::today::steps::{Memory, Receiver, median};
use anyhow::{Result, anyhow};
use std::fs::File;
use std::io::{Read, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex, PoisonError};
use std::time::Instant;
use weft_endpoint::{Packets, Rank};

/// Bytes of the block.
const BLOCK: usize = 64 << 20;
/// Number of times that it is moved.
const TURNS: usize = 7;
/// Packets of a flood.
const FLOOD: u64 = 200_000;

/// Results of a flood at its receiver.
pub struct Flood {
    /// Packets that arrived.
    pub delivered: u64,
    /// Packets that found no buffer.
    pub refused: u64,
}

/// GB/s of the block from memory to memory, from `/dev/zero` to `/dev/null`, and of one copy.
///
/// # Errors
/// What the system says.
pub fn rates() -> Result<[f64; 3]> {
    let source = vec![7u8; BLOCK];
    between(|packets, meet| send_blocks(packets, meet, &source), receive_blocks)
}

/// Runs a sender and a receiver, each in a thread of its own and as often as they meet.
fn between<T: Send>(
    send: impl FnOnce(&Packets, &Barrier) -> Result<()> + Send,
    receive: impl FnOnce(&Receiver, &Barrier) -> Result<T>,
) -> Result<T> {
    let (memory, meet) = (Memory::new()?, Barrier::new(2));
    std::thread::scope(|scope| {
        let (memory, meet) = (&memory, &meet);
        let sent = scope.spawn(move || {
            let (packets, _) = memory.rank(Rank(0))?;
            send(&packets, meet)?;
            Ok::<_, anyhow::Error>(packets.flush()?)
        });
        let received = receive(&memory.rank(Rank(1))?, meet);
        sent.join().map_err(|_| anyhow!("the sender fell"))??;
        received
    })
}

fn send_blocks(packets: &Packets, meet: &Barrier, source: &[u8]) -> Result<()> {
    let mut zero = File::open("/dev/zero")?;
    let mut buffer = vec![0; packets.max_payload()];
    for _ in 0..=TURNS {
        meet.wait();
        source.chunks(buffer.len()).try_for_each(|piece| send(packets, piece))?;
        // Packets that wait for credits leave only while their rank polls.
        packets.flush()?;
        meet.wait();
        let mut left = BLOCK;
        while left > 0 {
            let piece = &mut buffer[..left.min(packets.max_payload())];
            zero.read_exact(piece)?;
            left -= piece.len();
            send(packets, piece)?;
        }
        packets.flush()?;
    }
    Ok(())
}

fn send(packets: &Packets, bytes: &[u8]) -> Result<()> {
    let mut packet = packets.packet()?;
    packet.put(bytes)?;
    Ok(packet.unicast(Rank(1))?)
}

fn receive_blocks((packets, _): &Receiver, meet: &Barrier) -> Result<[f64; 3]> {
    let source = vec![7u8; BLOCK];
    let target = Arc::new(Mutex::new(vec![1u8; BLOCK]));
    let mut times: [Vec<f64>; 3] = Default::default();
    for turn in 0..=TURNS {
        let (to, mut place) = (Arc::clone(&target), 0);
        let memory = block(packets, meet, move |bytes| {
            let mut to = to.lock().unwrap_or_else(PoisonError::into_inner);
            to[place..place + bytes.len()].copy_from_slice(bytes);
            place += bytes.len();
        })?;
        let mut null = File::create("/dev/null")?;
        // It takes everything.
        let file = block(packets, meet, move |bytes| drop(null.write_all(bytes)))?;
        let mut target = target.lock().unwrap_or_else(PoisonError::into_inner);
        let start = Instant::now();
        target.copy_from_slice(&source);
        std::hint::black_box(&mut *target);
        let copy = rate(start);
        if turn > 0 {
            times.iter_mut().zip([memory, file, copy]).for_each(|(times, rate)| times.push(rate));
        }
    }
    Ok(times.map(median))
}

/// GB/s of a block of which `take` takes the pieces.
fn block(
    packets: &Packets,
    meet: &Barrier,
    mut take: impl FnMut(&[u8]) + Send + 'static,
) -> Result<f64> {
    let taken = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&taken);
    packets.on_packet(move |packet| {
        take(&packet);
        count.store(count.load(Ordering::Relaxed) + packet.len(), Ordering::Relaxed);
    });
    meet.wait();
    let start = Instant::now();
    packets.poll_until(|| taken.load(Ordering::Relaxed) == BLOCK)?;
    Ok(rate(start))
}

fn rate(start: Instant) -> f64 {
    BLOCK as f64 / start.elapsed().as_nanos() as f64
}

/// Small packets as fast as credits come.
///
/// # Errors
/// What the system says.
pub fn flood() -> Result<Flood> {
    between(
        |packets, _| {
            let bytes = |number: u64| number.to_le_bytes();
            (0..FLOOD)
                .try_for_each(|number| send(packets, &bytes(number)[..1 + number as usize % 8]))
        },
        |(packets, arrived), _| {
            packets.poll_until(|| arrived.load(Ordering::Relaxed) == FLOOD)?;
            let counters = packets.statistics().protocol;
            Ok(Flood { delivered: counters.packets_delivered, refused: counters.no_buffer })
        },
    )
}
