//! Bytes a second in large messages: written by the sender, sent, read by the receiver.
//!
//! The floor does the same with one copy through shared memory, in pieces, so that writing, copying
//! and reading overlap as they do in a stream message. Two areas are used in turn.

use crate::micro::arena::{Arena, BULK_BYTES};
use crate::micro::launch::Spec;
use crate::micro::report::Row;
use anyhow::Result;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;
use weft::prelude::*;

/// Messages in a sample.
const BATCH: u64 = 8;
/// Bytes of a piece of the floor's copy.
const PIECE: usize = 8192;

const COPIED: usize = 0;
const READ: usize = 1;
const RECEIVED: usize = 2;

pub fn rank(spec: &Spec, arena: &Arena) -> Result<()> {
    let weft = weft::join()?;
    let mailbox = weft.mailbox("bandwidth")?;
    let mut data = vec![0; spec.size()];
    let (mut messages, mut floor) = (Vec::new(), Vec::new());
    weft.barrier()?;
    for round in 0..spec.rounds as u64 {
        match weft.rank().0 {
            0 => {
                floor.push(floor_send(arena, round, &mut data));
                let start = Instant::now();
                for message in 0..BATCH {
                    write(&mut data, message as u8);
                    mailbox.send(1, &data)?;
                }
                let until = (round + 1) * BATCH;
                // Packets that wait for credits leave when these come, which polling brings about.
                while arena.word(RECEIVED).load(Ordering::Acquire) < until {
                    weft.poll()?;
                }
                messages.push(rate(start, spec.size()));
            }
            1 => {
                floor_receive(arena, round, spec.size());
                for message in 0..BATCH {
                    let sum = read(&mut mailbox.receive()?)?;
                    assert_eq!(sum, expected(message, spec.size()));
                    arena.word(RECEIVED).store(round * BATCH + message + 1, Ordering::Release);
                }
            }
            _ => break,
        }
    }
    if weft.rank() == 0 {
        let floors = vec![("one copy through shared memory", floor)];
        let shape = (weft.size(), spec.size());
        Row::new("bandwidth", shape, "bytes_per_second", messages, floors).print(spec);
    }
    Ok(weft.leave()?)
}

/// Exclusive or of all bytes of message number `message`.
fn expected(message: u64, size: usize) -> u64 {
    if size.is_multiple_of(2) { 0 } else { u64::from(message as u8) }
}

/// Writes all of `data`.
fn write(data: &mut [u8], value: u8) {
    data.fill(value);
    std::hint::black_box(data);
}

/// Reads a message where it lies, while it arrives.
fn read(message: &mut Message) -> Result<u64> {
    let mut sum = 0;
    while message.remaining() > 0 {
        let chunk = message.chunk()?;
        sum ^= xor_up(chunk);
        let length = chunk.len();
        message.consume(length);
    }
    Ok(sum)
}

/// Reads every byte, as cheaply as compilers can: so that reading costs what memory costs.
pub fn xor_up(bytes: &[u8]) -> u64 {
    let (blocks, rest) = bytes.as_chunks::<64>();
    let mut lanes = [0u64; 8];
    for block in blocks {
        let (words, _) = block.as_chunks::<8>();
        for (lane, word) in lanes.iter_mut().zip(words) {
            *lane ^= u64::from_le_bytes(*word);
        }
    }
    let rest = rest.iter().fold(0, |sum, &byte| sum ^ u64::from(byte));
    lanes
        .iter()
        .fold(0, |sum, lane| sum ^ lane)
        .to_le_bytes()
        .iter()
        .fold(rest, |sum, &byte| sum ^ u64::from(byte))
}

fn rate(start: Instant, size: usize) -> f64 {
    BATCH as f64 * size as f64 / start.elapsed().as_secs_f64()
}

fn spin_until(word: &AtomicU64, value: u64) {
    while word.load(Ordering::Acquire) < value {
        std::hint::spin_loop();
    }
}

fn area(message: u64) -> usize {
    (message % 2) as usize * BULK_BYTES / 2
}

fn floor_send(arena: &Arena, round: u64, data: &mut [u8]) -> f64 {
    let pieces = data.len().div_ceil(PIECE) as u64;
    let start = Instant::now();
    for message in round * BATCH..(round + 1) * BATCH {
        write(data, message as u8);
        // The area is free once the message before the last has been read.
        spin_until(arena.word(READ), message.saturating_sub(1));
        for (index, piece) in data.chunks(PIECE).enumerate() {
            arena.copy_in(area(message) + index * PIECE, piece);
            let copied = message * pieces + index as u64 + 1;
            arena.word(COPIED).store(copied, Ordering::Release);
        }
    }
    spin_until(arena.word(READ), (round + 1) * BATCH);
    rate(start, data.len())
}

fn floor_receive(arena: &Arena, round: u64, size: usize) {
    let pieces = size.div_ceil(PIECE) as u64;
    for message in round * BATCH..(round + 1) * BATCH {
        let mut sum = 0;
        for index in 0..pieces {
            spin_until(arena.word(COPIED), message * pieces + index + 1);
            let offset = index as usize * PIECE;
            let length = PIECE.min(size - offset);
            sum ^= arena.read(area(message) + offset, length, xor_up);
        }
        assert_eq!(sum, expected(message, size));
        arena.word(READ).store(message + 1, Ordering::Release);
    }
}
