//! Shared regions: hits, and the misses of fig. 7.17 and 7.18 (thesis 7.3.3), beside packets of the
//! same sizes there and back, and beside shared pages.
//!
//! Rank 0 misses, rank 1 is the home, the others read, or have written. A sample is the mean of
//! many regions, all of which are missed in a row; what makes them misses again is not measured.

mod plan;

use crate::micro::meeting::Meeting;
use crate::micro::pages::{PAGE_BYTES, Pages, send};
use crate::micro::report::Row;
use anyhow::Result;
use plan::{Access, Line, Miss, Turn};
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use weft::Rank;
use weft_region::{Mapped, RegionId, Regions};

/// Accesses in a sample that find what they need.
const HITS: u32 = 2_000;
/// Misses in a sample, of small regions: so few that what both ranks know of them is in their first
/// caches, as the packets are that they are measured beside.
const MISSES: usize = 16;
/// Bytes that are shared at once, where regions are larger.
const SHARED_BYTES: usize = 512 << 10;

/// A rank's part.
///
/// # Errors
/// Another rank was lost.
pub fn run(meeting: Meeting<'_>) -> Result<()> {
    Bench(meeting).run()
}

struct Bench<'a>(Meeting<'a>);

impl Bench<'_> {
    fn run(mut self) -> Result<()> {
        let plan = plan::lines(self.0.packets.size(), self.0.spec.size(), self.0.link == "shm");
        let mut samples = vec![Vec::new(); plan.len()];
        for round in 0..=self.0.spec.rounds {
            for (line, samples) in plan.iter().zip(&mut samples) {
                let figure = self.sample(line.turn)?;
                self.0.settle()?;
                if round > 0 {
                    samples.push(figure);
                }
            }
        }
        if self.0.packets.rank() == 0 {
            plan.iter().zip(&samples).for_each(|(line, own)| self.print(line, own, &samples));
        }
        self.0.meet()
    }

    fn print(&self, line: &Line, own: &[f64], samples: &[Vec<f64>]) {
        let Some(name) = &line.name else { return };
        let floors = line.beside.iter().map(|&(what, other)| (what, samples[other].clone()));
        let mut floors: Vec<_> = floors.collect();
        if let Some((what, most)) = line.promise {
            floors.insert(0, (what, vec![most]));
        }
        let shape = (self.0.packets.size(), line.bytes);
        let row = Row::new(name.clone(), shape, "ns", own.to_vec(), floors);
        Row { link: self.0.link, limit: line.limit, ..row }.print(self.0.spec);
    }

    /// Nanoseconds of an access, a miss, a round trip or a fault.
    fn sample(&mut self, turn: Turn) -> Result<f64> {
        match turn {
            Turn::Hit(access) => self.hits(access),
            Turn::Miss(miss) => self.misses(&miss),
            Turn::RoundTrip(bytes) => self.round_trips(bytes),
            Turn::Fault => self.faults(),
        }
    }

    fn is_first(&self) -> bool {
        self.0.packets.rank() == 0
    }

    fn hits(&mut self, access: Access) -> Result<f64> {
        if !self.is_first() {
            return Ok(0.0);
        }
        let regions = Regions::open(self.0.packets);
        let region = regions.map::<u64>(regions.create(64, plan::policy(true))?)?;
        self::access(&region, access)?;
        let start = Instant::now();
        for _ in 0..HITS {
            self::access(&region, access)?;
        }
        Ok(each(start.elapsed(), HITS as usize))
    }

    fn misses(&mut self, miss: &Miss) -> Result<f64> {
        let regions = Regions::open_with(self.0.packets, miss.settings);
        self.0.meet()?;
        let (me, count) = (self.0.packets.rank(), count(miss.bytes));
        if me == miss.home {
            for _ in 0..count {
                regions.create(miss.bytes as u64, plan::policy(miss.three_party))?;
            }
        }
        regions.barrier()?;
        let id = |index| RegionId { home: miss.home, index };
        let all = (0..count as u32).map(|index| regions.map(id(index)));
        let all: Vec<Mapped<u64>> = all.collect::<std::result::Result<_, _>>()?;
        let every = |what| all.iter().try_for_each(|region| access(region, what));
        let mut took = Duration::ZERO;
        // The cost of memory that is touched for the first time is not measured.
        for _ in 0..2 {
            match miss.writer {
                Some(writer) if me == writer => every(Access::Write)?,
                None if me == 0 => all.iter().try_for_each(Mapped::flush)?,
                _ => {}
            }
            regions.barrier()?;
            if (2..2 + miss.readers).contains(&me.0) {
                every(Access::Read)?;
            }
            regions.barrier()?;
            let start = Instant::now();
            if me == 0 {
                every(miss.access)?;
            }
            took = start.elapsed();
            regions.barrier()?;
        }
        drop(all);
        regions.close()?;
        Ok(each(took, count))
    }

    /// Packets of a miss, by themselves: a request, and a header with data back, which is copied
    /// out.
    fn round_trips(&mut self, bytes: usize) -> Result<f64> {
        let count = count(bytes);
        let (received, answer) = (Arc::<AtomicU64>::default(), vec![7; 24 + bytes]);
        let into = Arc::new(Mutex::new(vec![0; answer.len()]));
        let (counted, answers) = (Arc::clone(&received), self.0.packets.clone());
        let (whole, sent) = (answer.len() as u64, answer.len());
        self.0.packets.on_packet(move |packet| {
            let mut received = counted.load(Ordering::Relaxed);
            if answers.rank() == 0 {
                let mut into = into.lock().unwrap_or_else(PoisonError::into_inner);
                into[(received % whole) as usize..][..packet.len()].copy_from_slice(&packet);
                received += packet.len() as u64;
            } else {
                // A lost rank shows at the next poll.
                let _ = send(&answers, packet.source(), &answer);
                received += whole;
            }
            counted.store(received, Ordering::Release);
        });
        self.0.meet()?;
        let arrived = |times: usize| {
            let bytes = (times * sent) as u64;
            self.0.packets.poll_until(|| received.load(Ordering::Acquire) >= bytes)
        };
        let start = Instant::now();
        if self.is_first() {
            for trip in 1..=count {
                send(self.0.packets, Rank(1), &[7; 16])?;
                arrived(trip)?;
            }
        } else if self.0.packets.rank() == 1 {
            arrived(count)?;
        }
        Ok(each(start.elapsed(), count))
    }

    fn faults(&mut self) -> Result<f64> {
        let pages = Pages::new(self.0.packets, MISSES)?;
        self.0.meet()?;
        let start = Instant::now();
        if self.is_first() {
            for page in 0..MISSES {
                assert_eq!(pages.read(page), 7, "the page that rank 1 has");
            }
        } else if self.0.packets.rank() == 1 {
            pages.answer(MISSES as u64)?;
        }
        let took = start.elapsed();
        self.0.settle()?;
        Ok(each(took, MISSES))
    }
}

/// Regions of so many bytes that are missed in a row.
fn count(bytes: usize) -> usize {
    (SHARED_BYTES / bytes.max(PAGE_BYTES)).min(MISSES)
}

fn access(region: &Mapped<u64>, access: Access) -> weft_region::Result<()> {
    match access {
        Access::Read => {
            black_box(region.read()?[0]);
        }
        Access::Write => region.write()?[0] += 1,
    }
    Ok(())
}

fn each(took: Duration, count: usize) -> f64 {
    took.as_nanos() as f64 / count as f64
}
