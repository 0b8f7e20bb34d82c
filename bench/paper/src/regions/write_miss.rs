//! Figure 7.18: what a clean write miss takes if others have copies, which are invalidated one by
//! one or all at once.

use crate::cluster::work_to_miss;
use crate::conditions::machine;
use anyhow::{Context, Result, anyhow};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use weft_endpoint::{Packets, Rank};
use weft_region::coherence::Policy;
use weft_region::{RegionId, Regions, Settings};
use weft_simulator::{Options, Simulation};

/// Nodes: one misses, one is the home, and others read.
pub const RANKS: u16 = 64;
/// Misses that are measured.
const MISSES: u32 = 4;
/// Operations that the one that misses computes first, so that nobody is busy with the barrier any
/// more.
pub const QUIET_OPERATIONS: u64 = 100_000;
/// Bytes of a message that asks, and before the data of the answer (`weft_region::format`).
const HEADERS: [usize; 2] = [16, 24];

/// Microseconds of a write miss on one of so many `ranks`, on a region of `bytes`, of which so many
/// `readers` have copies.
///
/// # Errors
/// What a rank or the simulator says.
pub fn write_miss_us(ranks: u16, bytes: u64, readers: u16, multicast: bool) -> Result<f64> {
    let context = || format!("a write miss with {readers} readers");
    on_each(ranks, move |packets| Ok(misses(packets, bytes, readers, multicast)?))
        .with_context(context)
}

fn misses(
    packets: &Packets,
    bytes: u64,
    readers: u16,
    multicast: bool,
) -> weft_region::Result<f64> {
    let regions = Regions::open_with(packets, Settings { multicast, ..Settings::default() });
    let (me, home) = (packets.rank(), Rank(1));
    if me == home {
        regions.create(bytes, Policy::default())?;
    }
    regions.barrier()?;
    let region = regions.map::<u8>(RegionId { home, index: 0 })?;
    let mut took = 0.0;
    for _ in 0..MISSES {
        if me == Rank(0) {
            region.flush()?;
        }
        regions.barrier()?;
        if (2..2 + readers).contains(&me.0) {
            drop(region.read()?);
        }
        regions.barrier()?;
        if me == Rank(0) {
            packets.work(QUIET_OPERATIONS);
        }
        let start = packets.now();
        if me == Rank(0) {
            work_to_miss(packets);
            drop(region.write()?);
            took += (packets.now() - start).as_secs_f64() * 1e6;
        }
        regions.barrier()?;
    }
    drop(region);
    regions.close()?;
    Ok(took / f64::from(MISSES))
}

/// Microseconds of bare packets there and back, of the sizes that a miss on a region of `bytes`
/// has; the answer's bytes are copied.
///
/// # Errors
/// As above.
pub fn round_trip_us(bytes: usize) -> Result<f64> {
    on_each(2, move |packets| {
        let heard = Arc::new(AtomicU32::new(0));
        let counts = Arc::clone(&heard);
        packets.on_packet(move |_| {
            counts.fetch_add(1, Ordering::Relaxed);
        });
        let say = |size| {
            let mut packet = packets.packet()?;
            packet.put(&vec![0; size])?;
            packet.unicast(Rank(1 - packets.rank().0))
        };
        let (first, mut took) = (packets.rank() == Rank(0), 0.0);
        for miss in 1..=MISSES {
            if first {
                packets.work(QUIET_OPERATIONS);
            }
            let start = packets.now();
            if first {
                say(HEADERS[0])?;
            }
            packets.poll_until(|| heard.load(Ordering::Relaxed) == miss)?;
            match first {
                true => packets.copied(bytes),
                false => say(HEADERS[1] + bytes)?,
            }
            took += (packets.now() - start).as_secs_f64() * 1e6;
        }
        packets.flush()?;
        Ok(took / f64::from(MISSES))
    })
    .context("a round trip")
}

/// Result at rank 0 of `ranks`, on the cluster of the thesis's chapters 5 to 7.
fn on_each(ranks: u16, program: impl Fn(&Packets) -> Result<f64> + 'static) -> Result<f64> {
    let simulation = Simulation::new(Options::on(machine("myrinet")?, ranks))?;
    let report = simulation
        .run_packets(move |packets| program(&packets).map_err(|error| format!("{error:#}")));
    let values = report.into_values().map_err(|what| anyhow!(what))?;
    Ok(values[0])
}

#[cfg(test)]
mod tests;
