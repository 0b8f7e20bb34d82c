//! Large messages beside bare packets with the same bytes: both are written once, sent, and read
//! where they lie. And how much of a message is read before its sender has sent the last of it.

use crate::micro::arena::Arena;
use crate::micro::bandwidth::xor_up;
use crate::micro::launch::Spec;
use crate::micro::report::Row;
use anyhow::Result;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;
use weft::{Mailbox, Packets, Rank, Weft};

/// Messages in a sample.
const BATCH: u64 = 8;

const READ: usize = 0;
const SENT: usize = 1;
const MET: usize = 2;
const EARLY: usize = 3;

pub fn rank(spec: &Spec, arena: &Arena) -> Result<()> {
    let weft = weft::join()?;
    let mailbox = weft.mailbox("stream")?;
    let read = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&read);
    weft.packets().on_packet(move |packet| {
        std::hint::black_box(xor_up(&packet));
        count.store(count.load(Ordering::Relaxed) + packet.len() as u64, Ordering::Relaxed);
    });
    let data = vec![7; spec.size()];
    let (mut messages, mut packets) = (Vec::new(), Vec::new());
    let mut meetings = 0;
    for round in 0..spec.rounds as u64 {
        meet(arena, &weft, &mut meetings);
        packets.push(packet_round(weft.packets(), arena, &read, round, &data)?);
        meet(arena, &weft, &mut meetings);
        messages.push(message_round(&weft, &mailbox, arena, round, &data)?);
    }
    meet(arena, &weft, &mut meetings);
    if weft.rank() == 0 {
        let floors = vec![("packets", packets)];
        let shape = (weft.size(), spec.size());
        Row::new("stream", shape, "bytes_per_second", messages, floors).print(spec);
        let all = spec.rounds as f64 * BATCH as f64 * spec.size() as f64;
        let early = arena.word(EARLY).load(Ordering::Acquire) as f64 / all;
        if !spec.json {
            weft_app_common::say!(
                "  {:.0} % read before the last of its message was sent",
                100.0 * early
            );
        }
    }
    Ok(weft.leave()?)
}

fn meet(arena: &Arena, weft: &Weft, meetings: &mut u64) {
    *meetings += weft.size() as u64;
    arena.word(MET).fetch_add(1, Ordering::SeqCst);
    while arena.word(MET).load(Ordering::SeqCst) < *meetings {
        std::hint::spin_loop();
    }
}

fn packet_round(
    packets: &Packets,
    arena: &Arena,
    read: &AtomicU64,
    round: u64,
    data: &[u8],
) -> Result<f64> {
    // The upcall thread would take packets for messages.
    let _off = packets.interrupts_off();
    let total = (round + 1) * BATCH * data.len() as u64;
    let start = Instant::now();
    if packets.rank() == 0 {
        for _ in 0..BATCH {
            for piece in data.chunks(packets.max_payload()) {
                let mut packet = packets.packet()?;
                packet.put(piece)?;
                packet.unicast(Rank(1))?;
            }
        }
        packets.poll_until(|| arena.word(READ).load(Ordering::Acquire) > 2 * round)?;
    } else {
        packets.poll_until(|| read.load(Ordering::Relaxed) >= total)?;
        arena.word(READ).store(2 * round + 1, Ordering::Release);
    }
    Ok(rate(start, data.len()))
}

fn message_round(
    weft: &Weft,
    mailbox: &Mailbox,
    arena: &Arena,
    round: u64,
    data: &[u8],
) -> Result<f64> {
    let start = Instant::now();
    for message in round * BATCH..(round + 1) * BATCH {
        if weft.rank() == 0 {
            mailbox.send(1, data)?;
            arena.word(SENT).store(message + 1, Ordering::Release);
        } else {
            read_message(mailbox, arena, message)?;
        }
    }
    if weft.rank() == 0 {
        weft.poll_until(|| arena.word(READ).load(Ordering::Acquire) > 2 * round + 1)?;
    } else {
        arena.word(READ).store(2 * round + 2, Ordering::Release);
    }
    Ok(rate(start, data.len()))
}

/// Reads a message where it lies, and counts the bytes that were read before all of it was sent.
fn read_message(mailbox: &Mailbox, arena: &Arena, number: u64) -> Result<()> {
    let mut message = mailbox.receive()?;
    let mut early = 0;
    while message.remaining() > 0 {
        let chunk = message.chunk()?;
        std::hint::black_box(xor_up(chunk));
        let length = chunk.len();
        message.consume(length);
        if arena.word(SENT).load(Ordering::Acquire) <= number {
            early += length as u64;
        }
    }
    arena.word(EARLY).fetch_add(early, Ordering::Relaxed);
    Ok(())
}

fn rate(start: Instant, size: usize) -> f64 {
    BATCH as f64 * size as f64 / start.elapsed().as_secs_f64()
}
