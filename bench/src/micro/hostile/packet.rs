//! Packets that show whether they are the ones that were sent.

use anyhow::Result;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use weft_endpoint::{Packets, Rank};

/// The number, and the mark.
pub const SIZE_MIN: usize = 9;

/// Request of a packet to its receiver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mark {
    /// Nothing, and others follow at once.
    More = 0,
    /// Nothing.
    Pause = 1,
    /// An answer.
    Answer = 2,
    /// To end.
    End = 3,
}

/// The way out.
pub struct Stream<'a> {
    packets: &'a Packets,
    answers: Arc<AtomicU64>,
    bytes: Vec<u8>,
    sent: u64,
    asked: u64,
}

impl<'a> Stream<'a> {
    /// Packets of that size to rank 1. It takes the upcall.
    pub fn new(packets: &'a Packets, size: usize) -> Self {
        let answers = Arc::new(AtomicU64::new(0));
        let count = Arc::clone(&answers);
        packets.on_packet(move |_| {
            count.fetch_add(1, Relaxed);
        });
        Stream { packets, answers, bytes: vec![0; size], sent: 0, asked: 0 }
    }

    /// Bytes of a packet.
    pub fn size(&self) -> usize {
        self.bytes.len()
    }

    /// Packets sent so far.
    pub fn sent(&self) -> u64 {
        self.sent
    }

    /// Sends the next.
    ///
    /// # Errors
    /// The other rank was lost.
    pub fn send(&mut self, mark: Mark) -> Result<()> {
        fill(&mut self.bytes, self.sent, mark);
        self.packets.hold(mark == Mark::More);
        let mut packet = self.packets.packet()?;
        packet.put(&self.bytes)?;
        packet.unicast(Rank(1))?;
        self.sent += 1;
        self.asked += u64::from(mark == Mark::Answer);
        Ok(())
    }

    /// Waits until all answers have come.
    ///
    /// # Errors
    /// The other rank was lost.
    pub fn wait_for_answer(&self) -> Result<()> {
        Ok(self.packets.poll_until(|| self.answers.load(Relaxed) == self.asked)?)
    }
}

/// Answers rank 0.
///
/// # Errors
/// It was lost.
pub fn answer(packets: &Packets) -> Result<()> {
    Ok(packets.packet()?.unicast(Rank(0))?)
}

fn fill(bytes: &mut [u8], number: u64, mark: Mark) {
    bytes[..8].copy_from_slice(&number.to_le_bytes());
    bytes[8] = mark as u8;
    bytes[9..].fill(number as u8);
}

/// Mark of packet `number`, if this is that packet.
fn is_right(bytes: &[u8], number: u64) -> Option<u8> {
    let (mark, rest) = bytes.strip_prefix(&number.to_le_bytes())?.split_first()?;
    rest.iter().all(|&byte| byte == number as u8).then_some(*mark)
}

/// Observations of a receiver.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Check {
    /// Packets that came in order and unchanged.
    pub arrived: u64,
    /// Others.
    pub foreign: u64,
}

/// Packets that a receiver sees.
#[derive(Default)]
pub struct Arrived {
    right: AtomicU64,
    wrong: AtomicU64,
    asked: AtomicU64,
    ended: AtomicBool,
}

impl Arrived {
    /// True if the last packet was received.
    pub fn has_ended(&self) -> bool {
        self.ended.load(Relaxed)
    }

    /// Answers that were asked for so far.
    pub fn asked(&self) -> u64 {
        self.asked.load(Relaxed)
    }

    /// Counts so far.
    pub fn counted(&self) -> Check {
        Check { arrived: self.right.load(Relaxed), foreign: self.wrong.load(Relaxed) }
    }

    fn see(&self, bytes: &[u8]) {
        let number = self.right.load(Relaxed);
        let Some(mark) = is_right(bytes, number) else {
            self.wrong.fetch_add(1, Relaxed);
            return;
        };
        self.right.store(number + 1, Relaxed);
        if mark == Mark::Answer as u8 {
            self.asked.fetch_add(1, Relaxed);
        }
        if mark == Mark::End as u8 {
            self.ended.store(true, Relaxed);
        }
    }
}

/// Checks what comes. It takes the upcall.
pub fn check(packets: &Packets) -> Arc<Arrived> {
    let arrived = Arc::new(Arrived::default());
    let see = Arc::clone(&arrived);
    packets.on_packet(move |packet| see.see(&packet));
    arrived
}

#[cfg(test)]
mod tests;
