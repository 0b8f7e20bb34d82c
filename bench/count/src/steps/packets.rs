//! Packets of 8 bytes, empty polls, and a fetch-and-add.

use super::ranks::{alone, credits_are_due, pair};
use crate::collect::{Counter, Other};
use anyhow::{Result, ensure};
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use weft_endpoint::{Packets, Rank, Variable};

/// A sender and a receiver.
struct Pair {
    sender: Packets,
    receiver: Packets,
    /// Packets that the receiver has had.
    had: Arc<AtomicU64>,
}

impl Pair {
    fn new(other: &Other) -> Result<Self> {
        let [sender, receiver] = pair(other)?;
        let had = Arc::<AtomicU64>::default();
        let counted = Arc::clone(&had);
        receiver.on_packet(move |packet| {
            black_box(&*packet);
            // Nobody else writes it.
            counted.store(counted.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        });
        Ok(Pair { sender, receiver, had })
    }

    fn send_short(&self) -> Result<()> {
        let bytes = black_box([7; 8]);
        let is_sent = self.sender.send_short(Rank(1), &[&bytes[..]]);
        ensure!(is_sent, "a packet finds a credit");
        Ok(())
    }

    fn send_framed(&self) -> Result<()> {
        let mut packet = self.sender.packet()?;
        packet.put(black_box(&[7; 8]))?;
        Ok(packet.unicast(Rank(1))?)
    }

    fn receive(&self) -> Result<()> {
        ensure!(self.receiver.poll()?, "a packet is there");
        Ok(())
    }

    /// Takes credits, every half window.
    fn take_credits(&self, round: u64) -> Result<()> {
        if credits_are_due(round) {
            self.sender.poll()?;
        }
        Ok(())
    }
}

pub fn play(counter: &Counter) -> Result<()> {
    let other = &counter.other;
    let pair = Pair::new(other)?;
    counter.figure("packet", |round, turn| {
        turn.step(|| pair.send_short())?;
        turn.other(|| pair.receive())?;
        turn.step(|| pair.take_credits(round))
    })?;
    counter.figure("packet_out", |round, turn| {
        turn.step(|| pair.send_short())?;
        other.run(|| pair.receive())?;
        pair.take_credits(round)
    })?;
    counter.figure("packet_in", |round, turn| {
        pair.send_short()?;
        turn.other(|| pair.receive())?;
        pair.take_credits(round)
    })?;
    counter.figure("packet_framed", |round, turn| {
        turn.step(|| pair.send_framed())?;
        turn.other(|| pair.receive())?;
        turn.step(|| pair.take_credits(round))
    })?;
    ensure!(pair.had.load(Ordering::Relaxed) > 0 || counter.only.is_some(), "packets arrive");
    let variable = Variable { home: Rank(1), index: 0 };
    counter.figure("fetch_and_add", |_, turn| {
        turn.step(|| {
            black_box(pair.sender.fetch_and_add(black_box(variable), 1)?);
            Ok(())
        })
    })?;
    look_in_vain(counter, "poll_empty_2", 2)?;
    look_in_vain(counter, "poll_empty_64", 64)?;
    look_in_vain(counter, "poll_empty_1024", 1024)
}

fn look_in_vain(counter: &Counter, name: &str, of: u16) -> Result<()> {
    let packets = alone(of)?;
    packets.on_packet(|_| ());
    counter.figure(name, |_, turn| {
        turn.step(|| {
            ensure!(!packets.poll()?, "nothing is there");
            Ok(())
        })
    })
}
