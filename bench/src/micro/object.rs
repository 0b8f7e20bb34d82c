//! Operations on shared objects: on one copy at another rank, on copies everywhere, and on the copy
//! here (thesis 7.1.5, figs. 7.11 to 7.14).
//!
//! The floor of the first is a call with the same bytes there and back, the floor of the second an
//! ordered broadcast that has come back here. In turns; and each begins when all ranks have
//! consumed what the one before it sent, which would be counted as its own otherwise.
//!
//! How fast long messages are copied depends on where they lie: where two ends differ by little
//! modulo the size of a page, by a factor of two. So each sample has its bytes, and what is
//! allocated for them, elsewhere in pages than the one before it.

use crate::micro::meeting::Meeting;
use crate::micro::report::{Limit, Row};
use anyhow::Result;
use serde::{Deserialize, Serialize};
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;
use weft::{Client, Rank, Service};
use weft_messaging::rpc::Rpc;
use weft_messaging::{Engine, Order, Orders};
use weft_object::{Handle, Object, Objects, Placement, Types};

/// Operations in a sample.
const BATCH: u32 = 100;
/// Reads in a sample.
const READS: u32 = 100_000;
/// Bytes of a page, and how much further on in it each sample begins.
const PAGE: usize = 4096;
const STEP: usize = 17 * 16;
/// Name of the service and of the order that are the floors.
const FLOOR: &str = "floor";

/// Bytes, and how often they were written.
#[derive(Serialize, Deserialize, Default)]
struct Bytes {
    last: Vec<u8>,
    writes: u64,
}

#[weft_object::object]
impl Bytes {
    /// Echo of bytes.
    #[write]
    fn echo(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.writes += 1;
        bytes.to_vec()
    }

    #[write]
    fn put(&mut self, bytes: &[u8]) {
        self.writes += 1;
        self.last.clear();
        self.last.extend(bytes);
    }

    #[read]
    fn writes(&self) -> u64 {
        self.writes
    }
}

/// A rank of this benchmark.
struct Bench {
    engine: Arc<Engine>,
    /// A page more than is sent.
    payload: Vec<u8>,
    single: Handle<Bytes>,
    replicated: Handle<Bytes>,
    client: Client,
    order: Order,
}

/// Operation that is measured.
#[derive(Clone, Copy)]
enum Kind {
    Call,
    Remote,
    Broadcast,
    Write,
    Read,
}

impl Kind {
    const ALL: [Kind; 5] = [Kind::Call, Kind::Remote, Kind::Broadcast, Kind::Write, Kind::Read];
}

/// Samples of each kind, in nanoseconds of an operation.
type Samples = [Vec<f64>; Kind::ALL.len()];

pub fn run(meeting: Meeting<'_>) -> Result<()> {
    let mut meeting = meeting;
    let (spec, packets) = (meeting.spec, meeting.packets);
    // An interrupt would take packets that the ranks poll for.
    let _off = packets.interrupts_off();
    let engine = Engine::new(packets.clone());
    let rpc = Rpc::new(&engine)?;
    let orders = Orders::new(&engine);
    let objects = Objects::new(&orders, &rpc, Types::default().with::<Bytes>())?;
    let serves = packets.rank() == 1;
    let _service = serves.then(|| Service::new(&rpc, FLOOR, echo)).transpose()?;
    // Whose numbers are given by the same rank as those of the order of objects.
    let others = (1..packets.size()).map(|number| orders.order(&format!("other {number}"), drop));
    let _others = others.collect::<weft_messaging::Result<Vec<Order>>>()?;
    let bench = Bench {
        payload: vec![7; spec.size() + PAGE],
        single: object(&objects, packets.rank(), "single", Placement::Single(Rank(1)))?,
        replicated: object(&objects, packets.rank(), "replicated", Placement::Replicated)?,
        client: Client::new(&rpc, FLOOR)?,
        order: orders.order(FLOOR, |mut message| {
            black_box(message.read_to_vec().ok());
        })?,
        engine,
    };
    let mut samples = Samples::default();
    bench.meet(&mut meeting)?;
    for round in 0..spec.rounds {
        let start = round * STEP % PAGE;
        // What is allocated while it lives follows it.
        let pad = vec![0_u8; start];
        black_box(&pad);
        let payload = &bench.payload[start..start + spec.size()];
        for (kind, samples) in Kind::ALL.into_iter().zip(&mut samples) {
            if packets.rank() == 0 {
                samples.push(bench.sample(kind, payload)?);
            }
            bench.settle(&mut meeting)?;
        }
    }
    if packets.rank() == 0 {
        bench.print(&meeting, samples);
    }
    bench.meet(&mut meeting)
}

/// Answers with the same bytes, a copy of them as the operation makes one.
fn echo(mut request: weft::Request) {
    // A lost rank shows at the next poll.
    if let Ok(bytes) = request.message().read_to_vec() {
        let _ = request.reply(&black_box(&bytes).to_vec());
    }
}

fn object<T: Object + Default>(
    objects: &Objects,
    rank: Rank,
    name: &str,
    placement: Placement,
) -> Result<Handle<T>> {
    Ok(match rank.0 {
        0 => objects.create(name, &T::default(), placement)?,
        _ => objects.find(name)?,
    })
}

impl Bench {
    /// Returns when all ranks are here, serving others meanwhile.
    fn meet(&self, meeting: &mut Meeting<'_>) -> Result<()> {
        meeting.meet_while(|| Ok(self.engine.progress().map(drop)?))
    }

    /// Returns when all ranks have consumed all that was sent.
    fn settle(&self, meeting: &mut Meeting<'_>) -> Result<()> {
        self.meet(meeting)?;
        while self.engine.progress()? {}
        self.meet(meeting)
    }

    /// Nanoseconds of an operation with this payload.
    fn sample(&self, kind: Kind, payload: &[u8]) -> Result<f64> {
        let Bench { single, replicated, client, order, .. } = self;
        match kind {
            Kind::Call => each(BATCH, || {
                black_box(client.call(Rank(1), payload)?.wait()?.read_to_vec()?);
                Ok(())
            }),
            Kind::Remote => each(BATCH, || {
                black_box(single.echo(payload)?);
                Ok(())
            }),
            Kind::Broadcast => each(BATCH, || Ok(order.broadcast_and_wait(payload).map(drop)?)),
            Kind::Write => each(BATCH, || Ok(replicated.put(payload)?)),
            Kind::Read => each(READS, || {
                black_box(replicated.writes()?);
                Ok(())
            }),
        }
    }

    fn print(&self, meeting: &Meeting<'_>, samples: Samples) {
        let spec = meeting.spec;
        let shape = (meeting.packets.size(), spec.size());
        let [calls, remote, broadcasts, writes, reads] = samples;
        let call = vec![("call with the same bytes", calls)];
        // A long operation is held to its throughput beside a call.
        let is_short = spec.size() < 1 << 14;
        let most = if is_short { 1.5 } else { 1.0 / 0.9 };
        let remote = Row::new("object-remote", shape, "ns", remote, call);
        let broadcast = vec![("ordered broadcast, come back", broadcasts)];
        let write = Row::new("object-write", shape, "ns", writes, broadcast);
        let read = Row::new("object-read", (shape.0, 8), "ns", reads, Vec::new());
        let rows = [(remote, Some(most)), (write, is_short.then_some(1.25)), (read, None)];
        for (row, most) in rows {
            let limit = most.map(Limit::AtMost);
            Row { link: meeting.link, limit, ..row }.print(spec);
        }
    }
}

/// Nanoseconds of each of `count` operations.
fn each(count: u32, mut operation: impl FnMut() -> Result<()>) -> Result<f64> {
    let start = Instant::now();
    for _ in 0..count {
        operation()?;
    }
    Ok(start.elapsed().as_nanos() as f64 / f64::from(count))
}
