//! Shared objects.

use super::ranks;
use crate::collect::Counter;
use anyhow::{Result, ensure};
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
    let [packets] = ranks(1)?;
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
    let [own, other] = ranks(2)?.map(Engine::new);
    let [(own_orders, own_objects), (other_orders, other_objects)] =
        [objects(&own)?, objects(&other)?];
    let progress = |engine: &Arc<Engine>| -> Result<()> {
        while engine.progress()? {}
        Ok(())
    };
    let single = own_objects.create("single", &Int(7), Placement::Single(1.into()))?;
    let replicated = own_objects.create("replicated", &Int(7), Placement::Replicated)?;
    progress(&other)?;
    let copy = other_objects.find::<Int>("replicated")?;
    counter.figure("object_call", |_, turn| {
        turn.step(|| {
            let pending = single.begin(INC, &marshal::values(black_box(&()))?[..])?;
            other.progress()?;
            Ok(marshal::take(&pending.wait()?)?)
        })?;
        progress(&other)
    })?;
    let [order, _member] = [read(&own_orders)?, read(&other_orders)?];
    counter.figure("broadcast_out", |_, turn| {
        turn.step(|| order.broadcast(black_box(&[7; 8])).map(drop).map_err(Into::into))?;
        progress(&other)?;
        progress(&own)
    })?;
    counter.figure("broadcast_in", |_, turn| {
        order.broadcast(black_box(&[7; 8]))?;
        turn.step(|| other.progress().map(drop).map_err(Into::into))?;
        progress(&other)?;
        progress(&own)
    })?;
    let mut due = writes(&copy);
    counter.figure("object_write_out", |_, turn| {
        turn.step(|| Ok(replicated.inc()?))?;
        progress(&other)?;
        progress(&own)?;
        due += 1;
        ensure!(writes(&copy) == due, "each copy executes each write");
        Ok(())
    })?;
    let mut due = writes(&copy);
    counter.figure("object_write_in", |_, turn| {
        replicated.inc()?;
        turn.step(|| other.progress().map(drop).map_err(Into::into))?;
        progress(&other)?;
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
