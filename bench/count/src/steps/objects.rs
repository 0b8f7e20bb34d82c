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

/// A read on a replica, and a write on a single copy that is here.
pub fn play(counter: &Counter) -> Result<()> {
    let [packets] = ranks(1)?;
    let engine = Engine::new(packets);
    let types = Types::default().with::<Int>();
    let objects = Objects::new(&Orders::new(&engine), &Rpc::new(&engine)?, types)?;
    let replicated = objects.create("replicated", &Int(7), Placement::Replicated)?;
    let single = objects.create("single", &Int(7), Placement::Single(0.into()))?;
    counter.figure("object_read", |_, turn| {
        turn.step(|| {
            black_box(replicated.value()?);
            Ok(())
        })
    })?;
    counter.figure("object_write_here", |_, turn| turn.step(|| Ok(single.inc()?)))
}
