//! Shared objects.

use super::ranks::{alone, pair};
use crate::collect::Counter;
use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use std::hint::black_box;
use std::sync::Arc;
use weft_messaging::rpc::Rpc;
use weft_messaging::{Engine, Order, Orders};
use weft_object::{Handle, Objects, Placement, Types, marshal};

/// The type of fig. 7.1.
#[derive(Serialize, Deserialize, Default)]
struct Int(u64);

#[weft_object::object]
impl Int {
    #[write]
    fn inc(&mut self) {
        self.0 += 1;
    }

    #[read]
    fn value(&self) -> u64 {
        self.0
    }
}

/// Number of `inc`.
const INC: u16 = 0;

pub fn play(counter: &Counter) -> Result<()> {
    here(counter)?;
    elsewhere(counter)
}

/// A read on a replica, a write of the replicas, of which this is the only one, beside a broadcast
/// in order, and a write on a single copy that is here.
fn here(counter: &Counter) -> Result<()> {
    let packets = alone(1)?;
    let (orders, objects) = objects(&Engine::new(packets))?;
    let replicated = objects.create("replicated", &Int(7), Placement::Replicated)?;
    let single = objects.create("single", &Int(7), Placement::Single(0.into()))?;
    counter.figure("object_read", |_, turn| {
        turn.step(|| {
            black_box(replicated.value()?);
            Ok(())
        })
    })?;
    let order = orders.order("bare", |mut message| {
        black_box(message.read_to_vec().ok());
    })?;
    counter.figure("broadcast", |_, turn| {
        turn.step(|| {
            order.broadcast_and_wait(black_box(&[7; 8]))?;
            Ok(())
        })
    })?;
    counter.figure("object_write", |_, turn| turn.step(|| Ok(replicated.inc()?)))?;
    counter.figure("object_write_here", |_, turn| turn.step(|| Ok(single.inc()?)))
}

/// An operation on a copy of another rank, beside which there is a call; and the part of another
/// copy in a write of the replicas, beside that of another member in a broadcast.
fn elsewhere(counter: &Counter) -> Result<()> {
    let there = &counter.other;
    let [own, other] = pair(there)?;
    let [own, other] = [Engine::new(own), there.run(|| Engine::new(other))];
    let (own_orders, own_objects) = objects(&own)?;
    let (other_orders, other_objects) = there.run(|| objects(&other))?;
    let progress = |engine: &Arc<Engine>| -> Result<()> {
        while engine.progress()? {}
        Ok(())
    };
    let part_of_other = || other.progress().map(drop).map_err(Into::into);
    let other_progress = || there.run(|| progress(&other));
    let single = own_objects.create("single", &Int(7), Placement::Single(1.into()))?;
    let replicated = own_objects.create("replicated", &Int(7), Placement::Replicated)?;
    other_progress()?;
    let copy = there.run(|| other_objects.find::<Int>("replicated"))?;
    counter.figure("object_call", |_, turn| {
        let mut pending = None;
        turn.step(|| {
            pending = Some(single.begin(INC, &marshal::values(black_box(&()))?[..])?);
            Ok(())
        })?;
        turn.other(part_of_other)?;
        turn.step(|| {
            let pending = pending.take().context("an operation was begun")?;
            Ok(marshal::take(&pending.wait()?)?)
        })?;
        other_progress()
    })?;
    let [order, _member] = [read(&own_orders)?, there.run(|| read(&other_orders))?];
    counter.figure("broadcast_out", |_, turn| {
        turn.step(|| order.broadcast(black_box(&[7; 8])).map(drop).map_err(Into::into))?;
        other_progress()?;
        progress(&own)
    })?;
    counter.figure("broadcast_in", |_, turn| {
        order.broadcast(black_box(&[7; 8]))?;
        turn.other(part_of_other)?;
        other_progress()?;
        progress(&own)
    })?;
    let mut due = writes(&copy);
    counter.figure("object_write_out", |_, turn| {
        turn.step(|| Ok(replicated.inc()?))?;
        other_progress()?;
        progress(&own)?;
        due += 1;
        ensure!(writes(&copy) == due, "each copy executes each write");
        Ok(())
    })?;
    let mut due = writes(&copy);
    counter.figure("object_write_in", |_, turn| {
        replicated.inc()?;
        turn.other(part_of_other)?;
        other_progress()?;
        progress(&own)?;
        due += 1;
        ensure!(writes(&copy) == due, "each copy executes each write");
        Ok(())
    })
}

/// The objects of a rank, and its orders.
fn objects(engine: &Arc<Engine>) -> Result<(Orders, Objects)> {
    let orders = Orders::new(engine);
    let objects = Objects::new(&orders, &Rpc::new(engine)?, Types::default().with::<Int>())?;
    Ok((orders, objects))
}

/// Writes that the copy here has executed.
fn writes(copy: &Handle<Int>) -> u64 {
    copy.statistics().map_or(0, |statistics| statistics.writes)
}

/// An order whose messages are of 8 bytes, and read as those of ports are.
fn read(orders: &Orders) -> Result<Order> {
    Ok(orders.order("read", |mut message| {
        let mut bytes = [0; 8];
        black_box(message.read_exact(&mut bytes).map(|()| bytes).ok());
    })?)
}
