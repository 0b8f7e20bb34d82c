//! The LogGP parameters of the link between two ranks, as Iannello and others measure them and the
//! thesis does (5.1.2), and from them a description of this machine for the simulator.
//!
//! - send overhead `o_s`: filling and launching a packet; allocated before, as in 5.1.1;
//! - receive overhead `o_r`: a poll that finds a packet waiting, with its upcall, without its
//!   release. The packet's line moves when the receiver looks, so its way is part of this;
//! - latency `L`: one way without the two. Little is left of it where two caches are the network;
//! - gap `g`: time between the packets of a stream; `G`: bytes a second in packets as large as they
//!   get, which the receiver does not touch.
//!
//! What a burst, a stream or a ping-pong takes is divided by its packets, so that the clock does
//! not matter. The floors are a cache line that goes from core to core, and one copy of as many
//! bytes.

mod machine;

use self::machine::{Costs, describe};
use crate::micro::arena::Arena;
use crate::micro::latency::{floor_ping, floor_pong};
use crate::micro::launch::Spec;
use crate::micro::report::{Row, median};
use anyhow::{Context, Result};
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use weft::{KeptPacket, Packets, Rank};

/// Packets in a burst: well below half a window, so that nothing waits for credits.
const BURST: u64 = 16;
/// Round trips in a sample.
const TRIPS: u64 = 100;
/// Time of round trips before a burst: some wake-ups.
const SETTLED_AFTER: Duration = Duration::from_micros(300);
/// Small packets in a sample's stream.
const SMALL_STREAM: u64 = 4000;
/// Large ones.
const LARGE_STREAM: u64 = 64;
/// Empty polls in a sample.
const POLLS: u64 = 1000;
/// Interrupts in a sample.
const INTERRUPTS: u64 = 4;
/// The polling watchdog's delay, which the launcher sets; what comes on top is the interrupt.
pub const INTERRUPT_DELAY: Duration = Duration::from_micros(70);

/// Words of the arena: 0 and 1 are the floor's.
const MEETINGS: usize = 2;
const TOLD: usize = 4;

pub fn rank(spec: &Spec, arena: &Arena) -> Result<()> {
    let job = weft::join_packets()?;
    let side = Side::new(job.packets(), arena, spec.size());
    let mut samples = Samples::default();
    for round in 0..spec.rounds as u64 {
        samples.take(&side, round)?;
    }
    if side.first() {
        samples.print(spec, side.largest());
        if let Some(path) = &spec.machine {
            let name = path.file_stem().map_or("host".into(), |stem| stem.to_string_lossy());
            let text = describe(&name, &samples.costs(side.largest()), &spec.settings());
            std::fs::write(path, text)
                .with_context(|| format!("cannot write {}", path.display()))?;
        }
    }
    side.meet();
    Ok(job.leave()?)
}

/// Samples of all rounds, in nanoseconds; `bandwidth` and `memcpy` in bytes a second.
#[derive(Default)]
struct Samples {
    line: Vec<f64>,
    memcpy: Vec<f64>,
    allocate: Vec<f64>,
    send: Vec<f64>,
    receive: Vec<f64>,
    release: Vec<f64>,
    latency: Vec<f64>,
    gap: Vec<f64>,
    bandwidth: Vec<f64>,
    large_copy: Vec<f64>,
    poll: Vec<f64>,
    operation: Vec<f64>,
    interrupt: Vec<f64>,
}

impl Samples {
    /// One round. Both ranks go through the same steps; what rank 1 sees it tells rank 0.
    fn take(&mut self, side: &Side<'_>, round: u64) -> Result<()> {
        let quiet = side.packets.interrupts_off();
        self.line.push(side.line(round));
        self.memcpy.push(side.memcpy());
        let small = side.burst(side.size)?;
        self.allocate.push(small.allocate);
        self.send.push(small.send);
        self.receive.push(small.receive);
        self.release.push(small.release);
        let one_way = side.one_way()?;
        self.latency.push(one_way - small.send - small.receive);
        self.gap.push(side.stream(side.size, SMALL_STREAM)?);
        let large = side.stream(side.largest(), LARGE_STREAM)?;
        self.bandwidth.push(side.largest() as f64 / large * 1e9);
        self.large_copy.push(side.burst(side.largest())?.copy);
        self.poll.push(side.empty_poll()?);
        self.operation.push(operation());
        side.meet();
        drop(quiet);
        let interrupted = side.interrupt()?;
        self.interrupt.push(interrupted - INTERRUPT_DELAY.as_nanos() as f64 - one_way);
        Ok(())
    }

    fn print(&self, spec: &Spec, largest: usize) {
        let line = || ("cache-line ping-pong", self.line.clone());
        let memcpy = ("memcpy", self.memcpy.clone());
        let small = (2, spec.size());
        for (name, shape, unit, samples, floor) in [
            ("loggp-send-overhead", small, "ns", &self.send, line()),
            ("loggp-receive-overhead", small, "ns", &self.receive, line()),
            ("loggp-latency", small, "ns", &self.latency, line()),
            ("loggp-gap", small, "ns", &self.gap, line()),
            ("loggp-bandwidth", (2, largest), "bytes_per_second", &self.bandwidth, memcpy),
        ] {
            Row::new(name, shape, unit, samples.clone(), vec![floor]).print(spec);
        }
    }

    /// Costs of a machine like this one.
    fn costs(&self, largest: usize) -> Costs {
        let (launch, poll) = (median(self.send.clone()), median(self.poll.clone()));
        let (gap, rate) = (median(self.gap.clone()), median(self.bandwidth.clone()));
        Costs {
            allocate: median(self.allocate.clone()),
            launch,
            launch_per_byte: 1e9 / rate - gap / largest as f64,
            poll,
            process: median(self.receive.clone()) - poll,
            copy_per_byte: median(self.large_copy.clone()) / largest as f64,
            release: median(self.release.clone()),
            interrupt: median(self.interrupt.clone()),
            operation: median(self.operation.clone()),
            latency: median(self.latency.clone()),
        }
    }
}

/// One rank's side of the measurements. Packets are kept as they arrive.
struct Side<'a> {
    packets: &'a Packets,
    arena: &'a Arena,
    size: usize,
    arrived: Arc<AtomicU64>,
    kept: Arc<Mutex<Vec<KeptPacket>>>,
    met: Cell<u64>,
}

/// Nanoseconds for each packet of a burst.
struct Burst {
    allocate: f64,
    send: f64,
    receive: f64,
    copy: f64,
    release: f64,
}

impl<'a> Side<'a> {
    fn new(packets: &'a Packets, arena: &'a Arena, size: usize) -> Self {
        let arrived = Arc::new(AtomicU64::new(0));
        let kept = Arc::new(Mutex::new(Vec::with_capacity(BURST as usize)));
        let (count, keep) = (Arc::clone(&arrived), Arc::clone(&kept));
        packets.on_packet(move |packet| {
            // Streams are counted; bursts fit where they are kept.
            let mut keep = keep.lock().unwrap_or_else(PoisonError::into_inner);
            if keep.len() < keep.capacity() {
                keep.extend(packet.keep());
            }
            count.store(count.load(Ordering::Relaxed) + 1, Ordering::Release);
        });
        Side { packets, arena, size, arrived, kept, met: Cell::new(0) }
    }

    fn first(&self) -> bool {
        self.packets.rank() == 0
    }

    fn other(&self) -> Rank {
        Rank(1 - self.packets.rank().0)
    }

    fn largest(&self) -> usize {
        self.packets.max_payload()
    }

    /// Both ranks go on from here together. Nobody polls meanwhile.
    fn meet(&self) {
        self.met.set(self.met.get() + 1);
        let mine = MEETINGS + usize::from(self.packets.rank().0);
        let theirs = MEETINGS + usize::from(self.other().0);
        self.arena.word(mine).store(self.met.get(), Ordering::Release);
        while self.arena.word(theirs).load(Ordering::Acquire) < self.met.get() {
            std::hint::spin_loop();
        }
    }

    /// Tells both ranks what rank 1 saw.
    fn told(&self, index: usize, seen: f64) -> f64 {
        let word = self.arena.word(TOLD + index);
        if !self.first() {
            word.store(seen.to_bits(), Ordering::Release);
        }
        self.meet();
        f64::from_bits(word.load(Ordering::Acquire))
    }

    fn line(&self, round: u64) -> f64 {
        if self.first() {
            floor_ping(self.arena, round)
        } else {
            floor_pong(self.arena, round);
            f64::NAN
        }
    }

    /// Bytes a second of one copy, to two places in turn: frames that come back at once are used
    /// again at once.
    fn memcpy(&self) -> f64 {
        let bytes = vec![7; self.largest()];
        let start = Instant::now();
        for piece in 0..LARGE_STREAM as usize {
            self.arena.copy_in(piece % 2 * bytes.len(), &bytes);
        }
        (bytes.len() as u64 * LARGE_STREAM) as f64 / start.elapsed().as_secs_f64()
    }

    fn send(&self, payload: &[u8]) -> Result<()> {
        let mut packet = self.packets.packet()?;
        packet.put(payload)?;
        Ok(packet.unicast(self.other())?)
    }

    fn drop_kept(&self) {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Rank 0 sends a burst; rank 1 looks when all of it waits. It comes right after round trips,
    /// for long enough that the upcall threads have been woken by the first of them: they take
    /// their ranks' cores for some microseconds then, which is no part of sending.
    fn burst(&self, size: usize) -> Result<Burst> {
        let since = Instant::now();
        loop {
            self.round_trips(TRIPS)?;
            if self.told(0, since.elapsed().as_secs_f64()) >= SETTLED_AFTER.as_secs_f64() {
                break;
            }
        }
        self.drop_kept();
        let from = self.arrived.load(Ordering::Relaxed);
        let (mut allocate, mut send) = (f64::NAN, f64::NAN);
        if self.first() {
            let payload = vec![7; size];
            let start = Instant::now();
            let packets: Result<Vec<_>, _> = (0..BURST).map(|_| self.packets.packet()).collect();
            allocate = each(start, BURST);
            let packets = packets?;
            let start = Instant::now();
            for mut packet in packets {
                packet.put(&payload)?;
                packet.unicast(self.other())?;
            }
            send = each(start, BURST);
        }
        self.meet();
        let (mut receive, mut copy, mut release) = (f64::NAN, f64::NAN, f64::NAN);
        if !self.first() {
            let start = Instant::now();
            while self.arrived.load(Ordering::Relaxed) < from + BURST {
                self.packets.poll()?;
            }
            receive = each(start, BURST);
            let mut copied = vec![0; size];
            let kept =
                std::mem::take(&mut *self.kept.lock().unwrap_or_else(PoisonError::into_inner));
            let start = Instant::now();
            for packet in &kept {
                copied.copy_from_slice(packet);
                std::hint::black_box(&mut copied);
            }
            copy = each(start, BURST);
            let start = Instant::now();
            drop(kept);
            release = each(start, BURST);
            self.kept.lock().unwrap_or_else(PoisonError::into_inner).reserve(BURST as usize);
        }
        let (receive, copy) = (self.told(0, receive), self.told(1, copy));
        Ok(Burst { allocate, send, receive, copy, release: self.told(2, release) })
    }

    /// Half a round trip; packets are allocated and released while others are on their way.
    fn one_way(&self) -> Result<f64> {
        Ok(self.round_trips(TRIPS)? / 2.0)
    }

    /// Nanoseconds for each of `trips` round trips.
    fn round_trips(&self, trips: u64) -> Result<f64> {
        let payload = vec![7; self.size];
        let from = self.arrived.load(Ordering::Relaxed);
        self.meet();
        let start = Instant::now();
        for trip in 1..=trips {
            let mut packet = self.packets.packet()?;
            if !self.first() {
                self.wait(from + trip)?;
            }
            packet.put(&payload)?;
            packet.unicast(self.other())?;
            self.drop_kept();
            if self.first() {
                self.wait(from + trip)?;
            }
        }
        let time = each(start, trips);
        self.drop_kept();
        Ok(time)
    }

    /// Nanoseconds a packet of a stream from rank 0 to rank 1, until all have arrived.
    fn stream(&self, size: usize, packets: u64) -> Result<f64> {
        let payload = vec![7; size];
        let from = self.arrived.load(Ordering::Relaxed);
        self.meet();
        let start = Instant::now();
        if self.first() {
            for _ in 0..packets {
                self.send(&payload)?;
            }
            self.packets.flush()?;
        } else {
            self.packets.poll_until(|| {
                self.drop_kept();
                self.arrived.load(Ordering::Relaxed) >= from + packets
            })?;
        }
        self.meet();
        Ok(each(start, packets))
    }

    fn empty_poll(&self) -> Result<f64> {
        self.meet();
        let start = Instant::now();
        for _ in 0..POLLS {
            self.packets.poll()?;
        }
        Ok(each(start, POLLS))
    }

    /// From rank 0's launch until rank 1, which does not poll, has the packet.
    fn interrupt(&self) -> Result<f64> {
        let mut time = 0.0;
        for _ in 0..INTERRUPTS {
            let from = self.arrived.load(Ordering::Acquire);
            self.meet();
            let start = Instant::now();
            if self.first() {
                self.send(&vec![7; self.size])?;
            } else {
                while self.arrived.load(Ordering::Acquire) <= from {
                    std::hint::spin_loop();
                }
            }
            self.meet();
            time += start.elapsed().as_nanos() as f64;
            self.drop_kept();
        }
        Ok(time / INTERRUPTS as f64)
    }

    fn wait(&self, until: u64) -> Result<()> {
        Ok(self.packets.poll_until(|| self.arrived.load(Ordering::Relaxed) >= until)?)
    }
}

/// Nanoseconds for each of `count` since `start`.
fn each(start: Instant, count: u64) -> f64 {
    start.elapsed().as_nanos() as f64 / count as f64
}

/// One operation of a program that goes over rows: the lesser of a distance and of another by way
/// of a third place, as in all-pairs shortest paths.
fn operation() -> f64 {
    const ROW: usize = 4096;
    let (mut row, other) = (vec![u32::MAX / 2; ROW], vec![7u32; ROW]);
    let start = Instant::now();
    for via in 0..8u32 {
        for (distance, more) in row.iter_mut().zip(std::hint::black_box(&other)) {
            *distance = (*distance).min(more + via);
        }
        std::hint::black_box(&mut row);
    }
    each(start, 8 * ROW as u64)
}
