//! Tuples a second through a bag of tasks: a master puts tuples and takes those that the workers,
//! all other ranks, put for each that they take.
//!
//! The floor is what the workers get done in calls with the same bytes, one after the other, of a
//! service of the master's that answers nothing. A tuple is put by one call and taken by another,
//! unless its home is the rank that puts or takes it. In turns.

use crate::micro::meeting::Meeting;
use crate::micro::report::Row;
use anyhow::Result;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;
use weft::{Client, Rank, Service};
use weft_linda::{Shard, Space, any};
use weft_messaging::rpc::Rpc;
use weft_messaging::{Engine, Orders};
use weft_object::{Objects, Types};

/// Tasks in a sample: as many tuples there, and as many back.
const TASKS: u64 = 200;
/// Task that says that there are no more.
const LAST: u64 = 0;
/// Calls of each worker in a sample.
const CALLS: u64 = 130;
/// Name of the service that is the floor.
const FLOOR: &str = "floor";

/// A rank of this benchmark.
struct Bench {
    engine: Arc<Engine>,
    space: Space,
    client: Client,
    payload: Vec<u8>,
    workers: u64,
    is_master: bool,
}

pub fn run(meeting: Meeting<'_>) -> Result<()> {
    let mut meeting = meeting;
    let (spec, packets) = (meeting.spec, meeting.packets);
    // An interrupt would take packets that the ranks poll for.
    let _off = packets.interrupts_off();
    let engine = Engine::new(packets.clone());
    let rpc = Rpc::new(&engine)?;
    let types = Types::default().with::<Shard>();
    let objects = Objects::new(&Orders::new(&engine), &rpc, types)?;
    let is_master = packets.rank() == 0;
    let _service = is_master.then(|| Service::new(&rpc, FLOOR, answer)).transpose()?;
    let bench = Bench {
        space: Space::new(&objects, "bag", packets.rank(), packets.size())?,
        client: Client::new(&rpc, FLOOR)?,
        payload: vec![7; spec.size()],
        workers: packets.size() as u64 - 1,
        is_master,
        engine,
    };
    let (mut tuples, mut calls) = (Vec::new(), Vec::new());
    bench.meet(&mut meeting)?;
    for _ in 0..spec.rounds {
        tuples.push(bench.sample(&mut meeting, 2 * TASKS, Bench::exchange)?);
        calls.push(bench.sample(&mut meeting, CALLS * bench.workers, Bench::call)?);
    }
    if is_master {
        let shape = (packets.size(), spec.size());
        let floor = vec![("calls of the workers with the same bytes", calls)];
        let row = Row::new("linda", shape, "per_second", tuples, floor);
        Row { link: meeting.link, ..row }.print(spec);
    }
    Ok(())
}

/// Reads the bytes, and answers with none.
fn answer(mut request: weft::Request) {
    // A lost rank shows at the next poll.
    black_box(request.message().read_to_vec().ok());
    let _ = request.reply("");
}

impl Bench {
    /// Returns when all ranks are here, serving others meanwhile.
    fn meet(&self, meeting: &mut Meeting<'_>) -> Result<()> {
        meeting.meet_while(|| Ok(self.engine.progress().map(drop)?))
    }

    /// Number of things a second, of `count` that all ranks do together.
    fn sample(
        &self,
        meeting: &mut Meeting<'_>,
        count: u64,
        work: fn(&Self) -> Result<()>,
    ) -> Result<f64> {
        let start = Instant::now();
        work(self)?;
        self.meet(meeting)?;
        Ok(count as f64 / start.elapsed().as_secs_f64())
    }

    fn exchange(&self) -> Result<()> {
        if self.is_master { self.be_master() } else { self.be_worker() }
    }

    fn be_master(&self) -> Result<()> {
        for task in 1..=TASKS {
            self.space.out(("task", task, &self.payload[..]))?;
        }
        for _ in 0..TASKS {
            black_box(self.space.take(("done", any::<u64>(), any::<Vec<u8>>()))?);
        }
        for _ in 0..self.workers {
            self.space.out(("task", LAST, &self.payload[..]))?;
        }
        Ok(())
    }

    fn be_worker(&self) -> Result<()> {
        loop {
            match self.space.take(("task", any::<u64>(), any::<Vec<u8>>()))? {
                (_, LAST, _) => return Ok(()),
                (_, task, bytes) => self.space.out(("done", task, bytes))?,
            }
        }
    }

    fn call(&self) -> Result<()> {
        let count = if self.is_master { 0 } else { CALLS };
        for _ in 0..count {
            black_box(self.client.call(Rank(0), &self.payload)?.wait()?);
        }
        Ok(())
    }
}
