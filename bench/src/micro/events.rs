//! Events under their two protocols: a message around the ring of ranks, and an iteration of
//! Jacobi's method on a grid over them (careful-protocols 6.1, tables 1 and 4).
//!
//! The floors are the same packets without events, on the same packet interface: one that goes
//! around the ring, and a row to either neighbour. Whose turn it is opens its events, and closes
//! them before the next one has its turn, so that nobody hears what is not for him.

use crate::micro::launch::Spec;
use crate::micro::meeting::Meeting;
use crate::micro::report::Row;
use anyhow::{Result, bail};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;
use weft::Rank;
use weft_events::parallel::Nodes;
use weft_events::{Destination, Events, Flags, Protocol, Settings, Source};

/// Times around the ring in a sample.
const AROUND: u32 = 100;
/// Iterations in a sample.
const ITERATIONS: u32 = 50;
/// Bytes before a fragment.
pub const HEADER_BYTES: usize = 16;
/// Bytes of a point of a grid.
const POINT_BYTES: usize = size_of::<f64>();

/// Checks that a job of so many ranks can have this grid.
///
/// # Errors
/// Why not.
pub fn check(spec: &Spec, ranks: u16) -> Result<()> {
    if !(usize::from(ranks)..=1 << 12).contains(&spec.grid) {
        bail!("--grid {} is outside {ranks} to 4096 points: each rank has a row", spec.grid);
    }
    Ok(())
}

/// A rank's part.
///
/// # Errors
/// Another rank was lost.
pub fn run(meeting: Meeting<'_>) -> Result<()> {
    Bench(meeting).run()
}

/// Kinds of turns.
#[derive(Clone, Copy)]
enum Turn {
    RingOfPackets,
    Ring(Protocol),
    RowsOfPackets,
    Grid(Protocol),
}

use Protocol::{Careful, Traditional};

/// All of it; the ring's before the grid's.
const TURNS: [Turn; 6] = [
    Turn::RingOfPackets,
    Turn::Ring(Careful),
    Turn::Ring(Traditional),
    Turn::RowsOfPackets,
    Turn::Grid(Careful),
    Turn::Grid(Traditional),
];

struct Bench<'a>(Meeting<'a>);

impl Bench<'_> {
    fn run(mut self) -> Result<()> {
        let packets = self.0.packets.clone();
        let _off = packets.interrupts_off();
        let mut samples: [Vec<f64>; TURNS.len()] = Default::default();
        for round in 0..=self.0.spec.rounds {
            for (turn, samples) in TURNS.into_iter().zip(&mut samples) {
                let figure = self.sample(turn)?;
                if round > 0 {
                    samples.push(figure);
                }
            }
        }
        if packets.rank() == 0 {
            self.print(samples);
        }
        self.0.meet()
    }

    fn print(&self, samples: [Vec<f64>; TURNS.len()]) {
        let ranks = self.0.packets.size();
        let [packet, careful, traditional, rows, careful_grid, traditional_grid] = samples;
        let (size, row_bytes) = (self.0.spec.size(), self.0.spec.grid * POINT_BYTES);
        let print = |name, size, samples, what, floor: &Vec<f64>| {
            let floors = if ranks > 1 { vec![(what, floor.clone())] } else { Vec::new() };
            let row = Row::new(name, (ranks, size), "ns", samples, floors);
            Row { link: self.0.link, ..row }.print(self.0.spec);
        };
        if ranks > 1 {
            let ring = [("events-ring-careful", careful), ("events-ring-traditional", traditional)];
            for (name, samples) in ring {
                print(name, size, samples, "a packet around the ring", &packet);
            }
        }
        for (name, samples) in
            [("events-grid-careful", careful_grid), ("events-grid-traditional", traditional_grid)]
        {
            print(name, row_bytes, samples, "a packet to either neighbour", &rows);
        }
    }

    /// Nanoseconds of a hop around the ring, or of an iteration.
    fn sample(&mut self, turn: Turn) -> Result<f64> {
        match turn {
            Turn::Ring(_) | Turn::RingOfPackets if self.0.packets.size() == 1 => Ok(0.0),
            Turn::RowsOfPackets if self.0.packets.size() == 1 => Ok(0.0),
            Turn::RingOfPackets => self.ring_of_packets(),
            Turn::RowsOfPackets => self.rows_of_packets(),
            Turn::Ring(protocol) => {
                let events = self.open(protocol)?;
                let figure = around(&events, &vec![7; self.0.spec.size()])?;
                events.close(AROUND)?;
                self.rest(figure)
            }
            Turn::Grid(protocol) => {
                let nodes = Nodes::new(self.open(protocol)?);
                let figure = jacobi(&nodes, self.0.spec.grid)?;
                nodes.close()?;
                self.rest(figure)
            }
        }
    }

    /// Events that all ranks have opened.
    fn open(&mut self, protocol: Protocol) -> Result<Events> {
        let settings = Settings { protocol, ..Settings::default() };
        let events = Events::open(self.0.packets, settings)?;
        self.0.meet()?;
        Ok(events)
    }

    /// Ends a turn: nothing of it is on its way any more, anywhere.
    fn rest(&mut self, figure: f64) -> Result<f64> {
        self.0.settle()?;
        Ok(figure)
    }

    /// Counts packets from here on, once all do.
    fn count(&mut self) -> Result<Arc<AtomicU64>> {
        let arrived = Arc::new(AtomicU64::new(0));
        let count = Arc::clone(&arrived);
        self.0.packets.on_packet(move |packet| {
            std::hint::black_box(packet.first());
            count.store(count.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        });
        self.0.meet()?;
        Ok(arrived)
    }

    /// The rank `by` places further on the ring.
    fn at(&self, by: u16) -> Rank {
        Rank((self.0.packets.rank().0 + by) % self.0.packets.size() as u16)
    }

    fn ring_of_packets(&mut self) -> Result<f64> {
        let arrived = self.count()?;
        let (payload, next) = (vec![7; self.0.spec.size()], self.at(1));
        let receive =
            |round| self.0.packets.poll_until(|| arrived.load(Ordering::Relaxed) >= round);
        let start = Instant::now();
        for round in 1..=u64::from(AROUND) {
            if self.0.packets.rank() != 0 {
                receive(round)?;
            }
            self.launch(next, &payload)?;
            if self.0.packets.rank() == 0 {
                receive(round)?;
            }
        }
        let figure = each(start, AROUND) / self.0.packets.size() as f64;
        self.rest(figure)
    }

    fn rows_of_packets(&mut self) -> Result<f64> {
        let arrived = self.count()?;
        let row = vec![7; (self.0.spec.grid * POINT_BYTES).min(self.0.packets.max_payload())];
        let neighbours = [self.at(1), self.at(self.0.packets.size() as u16 - 1)];
        let start = Instant::now();
        for iteration in 1..=u64::from(ITERATIONS) {
            neighbours.iter().try_for_each(|&to| self.launch(to, &row))?;
            self.0.packets.poll_until(|| arrived.load(Ordering::Relaxed) >= 2 * iteration)?;
        }
        let figure = each(start, ITERATIONS);
        self.rest(figure)
    }

    fn launch(&self, to: Rank, bytes: &[u8]) -> Result<()> {
        let mut packet = self.0.packets.packet()?;
        packet.put(bytes)?;
        Ok(packet.unicast(to)?)
    }
}

fn each(start: Instant, count: u32) -> f64 {
    start.elapsed().as_nanos() as f64 / f64::from(count)
}

/// A message in each event, to the next rank.
fn around(events: &Events, bytes: &[u8]) -> weft_events::Result<f64> {
    let (me, size) = (events.rank().0, events.size() as u16);
    let next = Destination::One(Rank((me + 1) % size));
    let receive = |event| events.receive(Source::Anyone, event);
    let start = Instant::now();
    for event in 0..AROUND {
        // The received message is given back when it has been passed on (careful-protocols
        // 6.1).
        let held = if me == 0 { None } else { Some(receive(event)?) };
        events.send(next, event, bytes, Flags::ONLY)?;
        drop(held);
        if me == 0 {
            drop(receive(event)?);
        }
    }
    Ok(each(start, AROUND) / f64::from(size))
}

fn jacobi(nodes: &Nodes, size: usize) -> weft_events::Result<f64> {
    let is_edge = |row, column| row == 0 || row == size - 1 || column == 0 || column == size - 1;
    let edge = nodes.mask(size, size, is_edge);
    let mut heat = nodes.grid(size, size, |row, _| if row == 0 { 100.0 } else { 0.0 });
    let start = Instant::now();
    for _ in 0..ITERATIONS {
        let [north, south, west, east] = heat.neighbours()?;
        heat = edge.choose(heat, (north + south + west + east) * 0.25);
    }
    Ok(each(start, ITERATIONS))
}
