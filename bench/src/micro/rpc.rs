//! Calls of a service that does nothing: one at a time, there and back, or 64 at once.
//!
//! The floor of both is a packet there and another back, in upcalls, on the same packet interface:
//! messages and bare packets take it in turns.

use crate::micro::arena::Arena;
use crate::micro::launch::{Kind, Spec};
use crate::micro::report::Row;
use anyhow::Result;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;
use weft::{Call, Client, Packets, Rank, Service};
use weft_messaging::Engine;
use weft_messaging::rpc::Rpc;

/// Round trips in a sample.
const BATCH: u64 = 200;
/// Calls in a sample of many at once.
const MANY: u64 = 20_000;
const OUTSTANDING: usize = 64;

/// Words of the arena.
const MET: usize = 2;
const DONE: usize = 3;

pub fn rank(spec: &Spec, arena: &Arena) -> Result<()> {
    let job = weft::join_packets()?;
    // An interrupt would poll packets that an engine is to take.
    let quiet = job.packets().clone();
    let _off = quiet.interrupts_off();
    let packets = job.packets();
    let (mut weft, mut floor) = (Vec::new(), Vec::new());
    let taking_part = if packets.rank().0 < 2 { spec.rounds as u64 } else { 0 };
    for round in 0..taking_part {
        let arrived = bounce(packets, spec.size());
        let step = || Ok(packets.poll()?);
        meet(arena, 4 * round, step)?;
        if packets.rank() == 0 {
            floor.push(figure(spec, BATCH, || ping(packets, &arrived, &vec![7; spec.size()]))?);
        }
        meet(arena, 4 * round + 1, step)?;
        let engine = Engine::new(packets.clone());
        engine.will_be_closed();
        let rpc = Rpc::new(&engine)?;
        let _service = serve(&rpc)?;
        // The other begins only when both have changed over.
        meet(arena, 4 * round + 2, || Ok(engine.progress()?))?;
        if packets.rank() == 0 {
            weft.push(calls(spec, &Client::new(&rpc, "null")?)?);
        }
        meet(arena, 4 * round + 3, || Ok(engine.progress()?))?;
        engine.close();
    }
    if packets.rank() == 0 {
        let (name, unit) = match spec.kind {
            Kind::RpcRate => ("rpc-rate", "per_second"),
            _ => ("rpc", "ns"),
        };
        let floors = vec![("packet there and back", floor)];
        Row::new(name, (packets.size(), spec.size()), unit, weft, floors).print(spec);
    }
    arena.word(DONE).fetch_add(1, Ordering::SeqCst);
    packets.poll_until(|| arena.word(DONE).load(Ordering::SeqCst) == packets.size() as u64)?;
    Ok(job.leave()?)
}

/// Returns when both ranks are here, at the place that comes after `before` others.
fn meet(arena: &Arena, before: u64, mut step: impl FnMut() -> Result<bool>) -> Result<()> {
    arena.word(MET).fetch_add(1, Ordering::SeqCst);
    while arena.word(MET).load(Ordering::SeqCst) < 2 * (before + 1) {
        step()?;
    }
    Ok(())
}

/// Nanoseconds of each of `count` operations, or how many are done a second.
fn figure(spec: &Spec, count: u64, mut operation: impl FnMut() -> Result<()>) -> Result<f64> {
    let start = Instant::now();
    for _ in 0..count {
        operation()?;
    }
    let each = start.elapsed().as_nanos() as f64 / count as f64;
    Ok(if spec.kind == Kind::RpcRate { 1e9 / each } else { each })
}

/// Sends packets back at rank 1; counts them at rank 0.
fn bounce(packets: &Packets, size: usize) -> Arc<AtomicU64> {
    let arrived = Arc::new(AtomicU64::new(0));
    let (count, echo, echoes) = (Arc::clone(&arrived), packets.clone(), packets.rank() == 1);
    packets.on_packet(move |packet| {
        // A report of the last round's windows may still be on its way.
        if packet.len() != size {
            return;
        }
        if echoes {
            // A lost rank shows at the next poll.
            let _ = send(&echo, packet.source(), &packet);
        }
        count.store(count.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    });
    arrived
}

fn ping(packets: &Packets, arrived: &AtomicU64, payload: &[u8]) -> Result<()> {
    let before = arrived.load(Ordering::Relaxed);
    send(packets, Rank(1), payload)?;
    Ok(packets.poll_until(|| arrived.load(Ordering::Relaxed) > before)?)
}

fn send(packets: &Packets, to: Rank, bytes: &[u8]) -> Result<()> {
    let mut packet = packets.packet()?;
    packet.put(bytes)?;
    Ok(packet.unicast(to)?)
}

/// The service that rank 1 has.
fn serve(rpc: &Arc<Rpc>) -> Result<Option<Service>> {
    let serves = rpc.engine().packets().rank() == 1;
    let service = serves.then(|| {
        Service::new(rpc, "null", |request| {
            // A lost rank shows at the next poll.
            let _ = request.reply("");
        })
    });
    Ok(service.transpose()?)
}

/// A sample of calls.
fn calls(spec: &Spec, client: &Client) -> Result<f64> {
    let payload = vec![7; spec.size()];
    let call = || client.call(Rank(1), &payload);
    if spec.kind != Kind::RpcRate {
        return figure(spec, BATCH, || {
            call()?.wait()?;
            Ok(())
        });
    }
    let mut outstanding = VecDeque::with_capacity(OUTSTANDING);
    let rate = figure(spec, MANY, || {
        if outstanding.len() == OUTSTANDING
            && let Some(oldest) = outstanding.pop_front()
        {
            Call::wait(oldest)?;
        }
        outstanding.push_back(call()?);
        Ok(())
    })?;
    // Nothing may be on its way when bare packets have their turn.
    for call in outstanding {
        call.wait()?;
    }
    Ok(rate)
}
