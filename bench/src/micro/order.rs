//! Totally-ordered broadcasts a second, delivered to the handlers of all ranks, all ranks sending.
//!
//! The floor is the packet layer's broadcast in the same pattern, in no order at all and with
//! nothing that bounds what receivers have not read but credits.

use crate::micro::arena::Arena;
use crate::micro::launch::Spec;
use crate::micro::report::Row;
use anyhow::Result;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;
use weft::{Completion, Packets};
use weft_messaging::order::ORDERS_PER_RANK;
use weft_messaging::{Engine, Orders};

/// Messages of each rank in a sample.
const BATCH: u64 = 10_000;

/// Offset at which ranks count themselves, to begin and end samples together.
const ARRIVED: usize = 0;

pub fn rank(spec: &Spec, arena: &Arena) -> Result<()> {
    let job = weft::join_packets()?;
    // An interrupt would take packets that the ranks poll for.
    let quiet = job.packets().clone();
    let _off = quiet.interrupts_off();
    let payload = vec![7; spec.size()];
    let engine = Engine::new(job.packets().clone());
    let orders_of_job = Orders::new(&engine);
    let mut bench = Bench { packets: job.packets(), arena, payload, met: 0, engine };
    let ranks = bench.packets.size();
    let (mut orders, mut floor) = (Vec::new(), Vec::new());
    // Each sample takes an order of its own, and there are no more.
    for sample in 0..spec.rounds.min(ORDERS_PER_RANK * ranks) {
        floor.push(bench.unordered()?);
        orders.push(bench.ordered(&orders_of_job, sample)?);
    }
    if bench.packets.rank() == 0 {
        let floors = vec![("broadcast of packets, in no order", floor)];
        Row::new("order", (ranks, spec.size()), "per_second", orders, floors).print(spec);
    }
    bench.meet()?;
    Ok(job.leave()?)
}

struct Bench<'a> {
    packets: &'a Packets,
    arena: &'a Arena,
    payload: Vec<u8>,
    /// Number of times that the ranks have met.
    met: u64,
    engine: Arc<Engine>,
}

impl Bench<'_> {
    /// Returns when all ranks are here.
    fn meet(&mut self) -> Result<()> {
        self.met += self.packets.size() as u64;
        let arrived = self.arena.word(ARRIVED);
        arrived.fetch_add(1, Ordering::SeqCst);
        // A thread that sleeps for an arrival is not woken by the arena.
        while arrived.load(Ordering::SeqCst) < self.met {
            self.engine.progress()?;
            self.packets.poll()?;
            std::thread::yield_now();
        }
        Ok(())
    }

    /// Broadcasts a second for `run`, which sends a batch and receives those of all others.
    fn sample(&mut self, run: impl FnOnce(&Self) -> Result<()>) -> Result<f64> {
        self.meet()?;
        let start = Instant::now();
        run(self)?;
        self.meet()?;
        Ok((BATCH * self.packets.size() as u64) as f64 / start.elapsed().as_secs_f64())
    }

    fn unordered(&mut self) -> Result<f64> {
        let received = Arc::new(AtomicU64::new(0));
        let (count, size) = (Arc::clone(&received), self.payload.len());
        self.packets.on_packet(move |packet| {
            assert_eq!(packet.len(), size, "only packets of this benchmark come");
            count.store(count.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        });
        self.sample(|bench| {
            for _ in 0..BATCH {
                let mut packet = bench.packets.packet()?;
                packet.put(&bench.payload)?;
                packet.broadcast()?;
            }
            let due = BATCH * (bench.packets.size() as u64 - 1);
            Ok(bench.packets.poll_until(|| received.load(Ordering::Relaxed) == due)?)
        })
    }

    fn ordered(&mut self, orders: &Orders, number: usize) -> Result<f64> {
        let engine = Arc::clone(&self.engine);
        let (completer, done) = Completion::new(&engine);
        let mut completer = Some(completer);
        let mut left = BATCH * self.packets.size() as u64;
        let order = orders.order(&format!("bench {number}"), move |mut message| {
            std::hint::black_box(message.chunk().map(|bytes| bytes.first().copied())).ok();
            left -= 1;
            if left == 0 {
                completer.take().into_iter().for_each(|completer| completer.complete(Ok(())));
            }
        })?;
        self.sample(|bench| {
            for _ in 0..BATCH {
                order.broadcast(&bench.payload)?;
            }
            Ok(done.wait()?)
        })
    }
}
