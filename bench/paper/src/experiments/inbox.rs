//! Receiving, as the experiments do it.

use crate::cluster::{Nanoseconds, now};
use anyhow::Result;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use weft_endpoint::{KeptPacket, Packets};

/// Handling of a packet's bytes by a receiver (thesis 5.1.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Receive {
    /// Nothing.
    NoTouch,
    /// It copies them to where it wants them.
    Copy,
}

impl Receive {
    /// Does it to `bytes` bytes.
    pub fn apply(self, packets: &Packets, bytes: usize) {
        if self == Receive::Copy && bytes > 0 {
            packets.copied(bytes);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Packets kept as they arrive, so that their release is off the critical path.
pub struct Inbox {
    packets: Packets,
    kept: Arc<Mutex<VecDeque<KeptPacket>>>,
}

impl Inbox {
    /// Keeps what arrives at `packets` from now on.
    pub fn open(packets: &Packets) -> Self {
        let kept = Arc::new(Mutex::new(VecDeque::new()));
        let arriving = Arc::clone(&kept);
        packets.on_packet(move |packet| {
            if let Some(packet) = packet.keep() {
                lock(&arriving).push_back(packet);
            }
        });
        Inbox { packets: packets.clone(), kept }
    }

    /// The next packet, polled for. The packet is released when it is dropped.
    ///
    /// # Errors
    /// Those of [`Packets::poll`].
    pub fn next(&self) -> Result<KeptPacket> {
        let mut next = None;
        self.packets.poll_until(|| {
            next = lock(&self.kept).pop_front();
            next.is_some()
        })?;
        Ok(next.unwrap_or_else(|| unreachable!("polled until there is one")))
    }

    /// Takes a packet that has arrived and been polled for.
    pub fn take(&self) -> Option<KeptPacket> {
        lock(&self.kept).pop_front()
    }
}

/// Times at which packets arrived; none is kept.
#[derive(Clone)]
pub struct Arrivals {
    packets: Packets,
    times: Arc<Mutex<Vec<Nanoseconds>>>,
}

impl Arrivals {
    /// Notes when packets have been received from now on, with what `receive` does to them.
    pub fn note(packets: &Packets, receive: Receive) -> Self {
        let times = Arc::new(Mutex::new(Vec::new()));
        let (noted, clock) = (Arc::clone(&times), packets.clone());
        packets.on_packet(move |packet| {
            receive.apply(&clock, packet.len());
            let now = now(&clock);
            lock(&noted).push(now);
        });
        Arrivals { packets: packets.clone(), times }
    }

    /// Polls until `count` packets have arrived.
    ///
    /// # Errors
    /// Those of [`Packets::poll`].
    pub fn wait(&self, count: usize) -> Result<()> {
        Ok(self.packets.poll_until(|| lock(&self.times).len() >= count)?)
    }

    /// Times of arrival, in order.
    pub fn times(&self) -> Vec<Nanoseconds> {
        lock(&self.times).clone()
    }
}

/// Nanoseconds for each packet of a stream that arrived at `times`. The first quarter, which
/// credits and empty queues let through faster, does not count.
pub fn gap(times: &[Nanoseconds]) -> f64 {
    let start = times.len() / 4;
    let (Some(&first), Some(&last)) = (times.get(start), times.last()) else { return f64::NAN };
    (last - first) as f64 / (times.len() - 1 - start) as f64
}
