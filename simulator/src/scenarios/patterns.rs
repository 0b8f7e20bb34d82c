//! Simple patterns of communication, each a program for all ranks that measures itself by the clock
//! of its packets. Where that clock is virtual, all ranks have the same one, and so a time that one
//! rank notes can be compared with another's.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use weft_endpoint::{Error, Packets, Rank};

/// Times noted by ranks, one for each round.
#[derive(Debug, Default)]
pub struct Times(Mutex<Vec<Duration>>);

impl Times {
    /// Nothing noted yet.
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    /// Notes one.
    pub fn note(&self, time: Duration) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(time);
    }

    /// All that was noted, in the order in which it was.
    pub fn all(&self) -> Vec<Duration> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The one in the middle, if any was noted.
    pub fn median(&self) -> Option<Duration> {
        let mut times = self.all();
        times.sort_unstable();
        times.get(times.len() / 2).copied()
    }
}

/// Rank 0 and rank 1 send `bytes` bytes to each other in turn, `rounds` times; rank 0 notes half of
/// each round trip. Others look on.
///
/// # Errors
/// What the packet layer says.
pub fn ping(packets: &Packets, rounds: u64, bytes: usize, times: &Times) -> Result<(), Error> {
    let heard = Counted::new(packets, |_| {});
    let payload = vec![0; bytes];
    let send = |to| {
        let mut packet = packets.packet()?;
        packet.put(&payload)?;
        packet.unicast(Rank(to))
    };
    for round in 1..=rounds {
        match packets.rank().0 {
            0 => {
                let start = packets.now();
                send(1)?;
                packets.poll_until(|| heard.packets() == round)?;
                times.note((packets.now() - start) / 2);
            }
            1 => {
                packets.poll_until(|| heard.packets() == round)?;
                send(0)?;
            }
            _ => return Ok(()),
        }
    }
    packets.flush()
}

/// Rank 0 broadcasts `bytes` bytes `rounds` times, each once all others have answered the one
/// before. For each broadcast the time until the last rank had it is noted (thesis 5.3.1).
///
/// # Errors
/// What the packet layer says.
pub fn broadcast(
    packets: &Packets,
    rounds: u64,
    bytes: usize,
    last: &Arc<AtomicU64>,
    times: &Times,
) -> Result<(), Error> {
    let latest = Arc::clone(last);
    let is_root = packets.rank() == 0;
    let heard = Counted::new(packets, move |now| {
        if !is_root {
            latest.fetch_max(now.as_nanos() as u64, Ordering::Relaxed);
        }
    });
    let others = packets.size() as u64 - 1;
    for round in 1..=rounds {
        if is_root {
            last.store(0, Ordering::Relaxed);
            let start = packets.now();
            let mut packet = packets.packet()?;
            packet.put(&vec![0; bytes])?;
            packet.broadcast()?;
            packets.poll_until(|| heard.packets() == round * others)?;
            let last = Duration::from_nanos(last.load(Ordering::Relaxed));
            times.note(last.saturating_sub(start));
        } else {
            packets.poll_until(|| heard.packets() == round)?;
            packets.packet()?.unicast(Rank(0))?;
        }
    }
    packets.flush()
}

/// Every rank broadcasts `rounds` packets of `bytes` bytes as fast as it can, and has all of the
/// others' in the end. Rank 0 notes how long that took it.
///
/// # Errors
/// What the packet layer says.
pub fn all_to_all(
    packets: &Packets,
    rounds: u64,
    bytes: usize,
    times: &Times,
) -> Result<(), Error> {
    let heard = Counted::new(packets, |_| {});
    let start = packets.now();
    let payload = vec![0; bytes];
    for _ in 0..rounds {
        let mut packet = packets.packet()?;
        packet.put(&payload)?;
        packet.broadcast()?;
    }
    let due = rounds * (packets.size() as u64 - 1);
    packets.poll_until(|| heard.packets() == due)?;
    packets.flush()?;
    if packets.rank() == 0 {
        times.note(packets.now() - start);
    }
    Ok(())
}

/// Rank 0 sends `rounds` packets of `bytes` bytes to rank 1 as fast as it can; rank 1 notes how
/// long it took from the first to the last. Others look on.
///
/// # Errors
/// What the packet layer says.
pub fn stream(packets: &Packets, rounds: u64, bytes: usize, times: &Times) -> Result<(), Error> {
    let first = Arc::new(AtomicU64::new(u64::MAX));
    let earliest = Arc::clone(&first);
    let heard = Counted::new(packets, move |now| {
        earliest.fetch_min(now.as_nanos() as u64, Ordering::Relaxed);
    });
    match packets.rank().0 {
        0 => {
            let payload = vec![0; bytes];
            for _ in 0..rounds {
                let mut packet = packets.packet()?;
                packet.put(&payload)?;
                packet.unicast(Rank(1))?;
            }
            packets.flush()
        }
        1 => {
            packets.poll_until(|| heard.packets() == rounds)?;
            let first = Duration::from_nanos(first.load(Ordering::Relaxed));
            times.note(packets.now().saturating_sub(first));
            Ok(())
        }
        _ => Ok(()),
    }
}

/// The upcall of these programs: counts packets, and tells when they came.
struct Counted<'a> {
    packets: &'a Packets,
    count: Arc<AtomicU64>,
}

impl<'a> Counted<'a> {
    fn new(packets: &'a Packets, mut each: impl FnMut(Duration) + Send + 'static) -> Self {
        let count = Arc::new(AtomicU64::new(0));
        let (counted, clock) = (Arc::clone(&count), packets.clone());
        packets.on_packet(move |_| {
            counted.fetch_add(1, Ordering::Relaxed);
            each(clock.now());
        });
        Counted { packets, count }
    }

    fn packets(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }
}

impl Drop for Counted<'_> {
    /// The upcall holds its own packet interface, which would live for ever.
    fn drop(&mut self) {
        self.packets.on_packet(|_| {});
    }
}
