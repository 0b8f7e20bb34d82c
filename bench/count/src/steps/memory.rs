//! Puts, and shared regions.

use super::ranks::{alone, credits_are_due, pair};
use crate::collect::Counter;
use anyhow::{Context, Result, ensure};
use std::hint::black_box;
use weft_endpoint::{NotificationKind, Rank, Rights};
use weft_region::coherence::Policy;
use weft_region::{Mapped, RegionId, Regions};

/// Bytes of a region.
const REGION_BYTES: u64 = 64;

pub fn play(counter: &Counter) -> Result<()> {
    put(counter)?;
    hit(counter)?;
    miss(counter)
}

fn put(counter: &Counter) -> Result<()> {
    let other = &counter.other;
    let [sender, receiver] = pair(other)?;
    let mut notifications = receiver.puts().notifications();
    let _buffer = receiver.puts().offer("buffer", Rank(0), 4096, Rights::PUT, &notifications)?;
    while sender.poll()? {}
    let connection = sender.puts().try_connect("buffer", Rank(1))?;
    let mut connection = connection.context("the receiver has offered a buffer")?;
    other.run(|| while_any(|| receiver.poll()))?;
    counter.figure("put", |round, turn| {
        turn.step(|| Ok(connection.put_notify(0, black_box(&[7; 8]), round as u32)?))?;
        turn.other(|| {
            let NotificationKind::Put { word, .. } = notifications.wait()?.kind else {
                return Ok(());
            };
            ensure!(word == round as u32, "puts come in order");
            Ok(())
        })?;
        turn.step(|| {
            if credits_are_due(round) {
                sender.poll()?;
            }
            Ok(())
        })
    })
}

fn hit(counter: &Counter) -> Result<()> {
    let packets = alone(2)?;
    let regions = Regions::open(&packets);
    let region: Mapped<u64> = regions.map(regions.create(REGION_BYTES, Policy::default())?)?;
    counter.figure("region_hit_read", |_, turn| {
        turn.step(|| {
            black_box(region.read()?[0]);
            Ok(())
        })
    })?;
    counter.figure("region_hit_write", |round, turn| {
        turn.step(|| {
            region.write()?[0] = black_box(round);
            Ok(())
        })
    })
}

/// A clean read miss. A read would wait for its home, which has its turn afterwards; a prefetch
/// does not, and the read comes when the copy is there.
fn miss(counter: &Counter) -> Result<()> {
    let other = &counter.other;
    let [reader, home] = pair(other)?;
    let [reader, home] = [Regions::open(&reader), other.run(|| Regions::open(&home))];
    let id = home.create(REGION_BYTES, Policy::default())?;
    let region = mapped(&reader, &home, id)?;
    counter.figure("region_miss_read", |_, turn| {
        turn.step(|| Ok(region.prefetch()?))?;
        turn.other(|| {
            ensure!(home.poll()?, "the home is asked");
            Ok(())
        })?;
        turn.step(|| {
            ensure!(reader.poll()?, "the home has answered");
            black_box(region.read()?[0]);
            Ok(())
        })?;
        region.flush()?;
        while other.run(|| home.poll())? || reader.poll()? {}
        Ok(())
    })
}

/// Maps a region of another rank, which waits; so another thread polls there meanwhile.
fn mapped(reader: &Regions, home: &Regions, id: RegionId) -> Result<Mapped<u64>> {
    use std::sync::atomic::{AtomicBool, Ordering};
    let is_mapped = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let serve = || -> Result<()> {
            while !is_mapped.load(Ordering::Relaxed) {
                home.poll()?;
                std::thread::yield_now();
            }
            Ok(())
        };
        let serving = scope.spawn(serve);
        let region = reader.map(id);
        is_mapped.store(true, Ordering::Relaxed);
        let served = serving.join();
        served.map_err(|_| anyhow::anyhow!("the home's thread panicked"))??;
        Ok(region?)
    })
}

/// Calls `look` as long as it finds anything.
fn while_any<E>(mut look: impl FnMut() -> Result<bool, E>) -> Result<(), E> {
    while look()? {}
    Ok(())
}
