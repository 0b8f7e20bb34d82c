//! A multicast packet until the last receiver has read it, against as many unicasts.
//!
//! Receivers read the bytes and count themselves in memory that Weft does not know of. The floor is
//! what a program does that has no multicast. Measured two ways: packets in a row (`multicast`),
//! and one at a time, the next after the last receiver has read it (`multicast-alone`). With fewer
//! cores than ranks the second is mostly the scheduler's time, which both ways of sending share.

use crate::micro::arena::Arena;
use crate::micro::bandwidth::xor_up;
use crate::micro::launch::Spec;
use crate::micro::report::Row;
use anyhow::Result;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;
use weft::{Packets, Rank};

/// Times that a sample repeats what it measures.
const BATCH: u64 = 48;

const RECEIVED: usize = 0;
const DONE: usize = 1;

pub fn rank(spec: &Spec, arena: &Arc<Arena>) -> Result<()> {
    let job = weft::join_packets()?;
    let packets = job.packets();
    if packets.rank() == 0 {
        let payload = vec![7; spec.size()];
        let mut sender = Sender { packets, arena, payload: &payload, received: 0 };
        for (name, in_flight) in [("multicast", BATCH), ("multicast-alone", 1)] {
            let (mut multicasts, mut unicasts) = (Vec::new(), Vec::new());
            for _ in 0..spec.rounds {
                unicasts.push(sender.sample(in_flight, Sender::unicasts)?);
                multicasts.push(sender.sample(in_flight, Sender::multicast)?);
            }
            let shape = (packets.size(), spec.size());
            let floors = vec![("a unicast to each receiver", unicasts)];
            Row::new(name, shape, "ns", multicasts, floors).print(spec);
        }
        arena.word(DONE).store(1, Ordering::SeqCst);
    } else {
        let counter = Arc::clone(arena);
        packets.on_packet(move |packet| {
            std::hint::black_box(xor_up(&packet));
            counter.word(RECEIVED).fetch_add(1, Ordering::Release);
        });
        packets.poll_until(|| arena.word(DONE).load(Ordering::Relaxed) > 0)?;
    }
    Ok(job.leave()?)
}

struct Sender<'a> {
    packets: &'a Packets,
    arena: &'a Arena,
    payload: &'a [u8],
    received: u64,
}

impl Sender<'_> {
    /// Nanoseconds for each of a batch of `send`s, with `in_flight` of them before waiting.
    fn sample(&mut self, in_flight: u64, send: fn(&Self) -> weft::Result<()>) -> Result<f64> {
        let start = Instant::now();
        for sent in 1..=BATCH {
            send(self)?;
            self.received += self.packets.size() as u64 - 1;
            if sent.is_multiple_of(in_flight) {
                let all = self.received;
                let counter = self.arena.word(RECEIVED);
                self.packets.poll_until(|| counter.load(Ordering::Acquire) >= all)?;
            }
        }
        Ok(start.elapsed().as_nanos() as f64 / BATCH as f64)
    }

    fn multicast(&self) -> weft::Result<()> {
        let mut packet = self.packets.packet()?;
        packet.put(self.payload)?;
        packet.broadcast()?;
        Ok(())
    }

    fn unicasts(&self) -> weft::Result<()> {
        for to in 1..self.packets.size() as u16 {
            let mut packet = self.packets.packet()?;
            packet.put(self.payload)?;
            packet.unicast(Rank(to))?;
        }
        Ok(())
    }
}
