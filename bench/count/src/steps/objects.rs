//! Shared objects.

use super::ranks;
use crate::collect::Counter;
use anyhow::Result;
use serde::{Deserialize, Serialize};
use std::hint::black_box;
use weft_messaging::rpc::Rpc;
use weft_messaging::{Engine, Orders};
use weft_object::{Objects, Placement, Types};

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

/// A read on a replica, a write of the replicas, of which this is the only one, beside a broadcast
/// in order, and a write on a single copy that is here.
pub fn play(counter: &Counter) -> Result<()> {
    let [packets] = ranks(1)?;
    let engine = Engine::new(packets);
    let types = Types::default().with::<Int>();
    let orders = Orders::new(&engine);
    let objects = Objects::new(&orders, &Rpc::new(&engine)?, types)?;
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
