//! Broadcasts down trees of different shapes, in shared memory (figure 5.10): one sends, or all do.

use anyhow::{Context, Result, anyhow};
use std::sync::Arc;
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;
use weft_endpoint::{Node, Packets, Rank, Shape, WaitPolicy};
use weft_link_shm::{Shm, create_memory};
use weft_protocol::{Recovery, Settings};

/// Ranks, which are threads.
pub const RANKS: u16 = 4;
/// Bytes of a packet.
const BYTES: usize = 1024;
/// Packets of a sender in a sample.
const PACKETS: u64 = 4000;
/// Samples.
const SAMPLES: usize = 21;

/// Senders.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Senders {
    /// Rank 0.
    One,
    /// Everybody.
    All,
}

/// MB/s that each sender gets out down a tree: the lower quartile of the samples, the median, the
/// upper one.
pub type Quartiles = [f64; 3];

/// Rates that each sender reaches until the last receiver has all of it, down each of these trees
/// in turns, with recovery from deadlocks.
///
/// # Errors
/// What the system says.
pub fn rates(shapes: &[Shape], senders: Senders) -> Result<Vec<Quartiles>> {
    let mut samples = vec![Vec::new(); shapes.len()];
    for _ in 0..SAMPLES {
        for (shape, samples) in shapes.iter().zip(&mut samples) {
            samples.push(sample(*shape, senders)?);
        }
    }
    Ok(samples.into_iter().map(quartiles).collect())
}

fn quartiles(mut samples: Vec<f64>) -> Quartiles {
    samples.sort_by(f64::total_cmp);
    [1, 2, 3].map(|quarter| samples[(samples.len() - 1) * quarter / 4])
}

fn sample(shape: Shape, senders: Senders) -> Result<f64> {
    let memory = weft_link_shm::Settings::new(RANKS);
    let file = create_memory(&memory).context("shared memory")?;
    let settings = Settings {
        shape,
        recovery: Recovery::AtOnce,
        ..Settings::new(RANKS, memory.window_packets)
    };
    let (start, done) = (Barrier::new(RANKS.into()), AtomicUsize::new(0));
    let rank = |number| {
        let link = Shm::attach(Rank(number), memory, &file).context("a rank's memory")?;
        let policy = WaitPolicy::for_ranks(RANKS.into(), 2);
        let packets = Packets::new(Arc::new(Node::new(Rank(number), settings, link, policy)));
        part(&packets, senders, &start, &done)
    };
    let times: Vec<Result<f64>> = std::thread::scope(|scope| {
        let ranks: Vec<_> = (0..RANKS).map(|number| scope.spawn(move || rank(number))).collect();
        let joined = |rank: std::thread::ScopedJoinHandle<'_, _>| {
            rank.join().unwrap_or_else(|_| Err(anyhow!("a rank fell")))
        };
        ranks.into_iter().map(joined).collect()
    });
    let times = times.into_iter().collect::<Result<Vec<f64>>>()?;
    Ok((PACKETS as usize * BYTES) as f64 * 1e3 / times[0])
}

/// Nanoseconds until all ranks have everything.
fn part(packets: &Packets, senders: Senders, start: &Barrier, done: &AtomicUsize) -> Result<f64> {
    let arrived = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&arrived);
    packets.on_packet(move |packet| {
        std::hint::black_box(packet.first());
        count.store(count.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    });
    let sends = senders == Senders::All || packets.rank() == 0;
    let others = match senders {
        Senders::One => u64::from(packets.rank() != 0),
        Senders::All => u64::from(RANKS) - 1,
    };
    let payload = vec![7; BYTES];
    start.wait();
    let begin = Instant::now();
    for _ in 0..if sends { PACKETS } else { 0 } {
        let mut packet = packets.packet()?;
        packet.put(&payload)?;
        packet.broadcast()?;
    }
    packets.poll_until(|| arrived.load(Ordering::Relaxed) == others * PACKETS)?;
    done.fetch_add(1, Ordering::Relaxed);
    // Others may still need what passes here.
    while done.load(Ordering::Relaxed) < RANKS.into() {
        packets.poll()?;
        std::thread::yield_now();
    }
    Ok(begin.elapsed().as_nanos() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quartiles_are_samples() {
        assert_eq!(quartiles(vec![5.0, 1.0, 4.0, 2.0, 3.0]), [2.0, 3.0, 4.0]);
    }

    #[test]
    fn all_trees_reach_everybody() {
        for shape in [Shape::Flat, Shape::Binary, Shape::Chain] {
            for senders in [Senders::One, Senders::All] {
                let rate = sample(shape, senders).unwrap();
                assert!(rate > 0.0, "{shape:?} {senders:?}: {rate}");
            }
        }
    }
}
