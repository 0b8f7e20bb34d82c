//! Regions, objects, tuples and events that are waited for.

use crate::outside::hibernate;
use crate::{Animal, Result};
use serde::{Deserialize, Serialize};
use weft::prelude::*;
use weft_events::{Events, Source};
use weft_linda::{Shard, Space, any};
use weft_object::{Objects, Placement, Types};
use weft_region::{RegionId, Regions};

pub(crate) const ALL: &[Animal] = &[
    Animal {
        name: "writer",
        ranks: 2,
        verdict: &[
            "rank 1 sleeps, outside of Weft",
            "rank 0 waits for it: rank 1 to give region 0",
        ],
        run: writer,
    },
    Animal {
        name: "region-barrier",
        ranks: 3,
        verdict: &["rank 1 sleeps, outside of Weft", "ranks 0, 2 wait for it: barrier"],
        run: region_barrier,
    },
    Animal {
        name: "guard",
        ranks: 3,
        verdict: &["deadlock: ", "ranks 0 to 2 wait for 'take' on object 'jobs', of which a guard"],
        run: guard,
    },
    Animal {
        name: "tuple",
        ranks: 2,
        verdict: &["deadlock: ", "'take' on object 'weft.linda.bag."],
        run: tuple,
    },
    Animal {
        name: "event",
        ranks: 2,
        verdict: &[
            "rank 1 sleeps, outside of Weft",
            "rank 0 waits for it: a fragment of event 3 from rank 1",
        ],
        run: event,
    },
];

#[derive(Serialize, Deserialize, Default)]
struct Jobs {
    waiting: Vec<u64>,
}

#[weft_object::object]
impl Jobs {
    #[write(when = !self.waiting.is_empty())]
    fn take(&mut self) -> Option<u64> {
        self.waiting.pop()
    }
}

fn writer(weft: Weft) -> Result {
    let regions = Regions::open(weft.packets());
    if weft.rank() == 0 {
        regions.create(64, Default::default())?;
    }
    regions.barrier()?;
    let mapped = regions.map::<u64>(RegionId { home: Rank(0), index: 0 })?;
    if weft.rank() == 1 {
        let _writes = mapped.write()?;
        regions.barrier()?;
        hibernate();
    }
    regions.barrier()?;
    mapped.write()?[0] = 1;
    Ok(())
}

fn region_barrier(weft: Weft) -> Result {
    let regions = Regions::open(weft.packets());
    if weft.rank() == 1 {
        hibernate();
    }
    Ok(regions.barrier()?)
}

fn guard(weft: Weft) -> Result {
    let objects = Objects::new(weft.orders(), weft.rpc(), Types::default().with::<Jobs>())?;
    if weft.rank() == 0 {
        objects.create("jobs", &Jobs::default(), Placement::Replicated)?;
    }
    let jobs = objects.find::<Jobs>("jobs")?;
    jobs.take()?;
    Ok(())
}

fn tuple(weft: Weft) -> Result {
    let types = Types::default().with::<Shard>();
    let objects = Objects::new(weft.orders(), weft.rpc(), types)?;
    let space = Space::new(&objects, "bag", weft.rank(), weft.size())?;
    space.take(("task", any::<u64>()))?;
    Ok(())
}

fn event(weft: Weft) -> Result {
    let events = Events::open(weft.packets(), Default::default())?;
    if weft.rank() == 1 {
        hibernate();
    }
    events.receive(Source::One(Rank(1)), 3)?;
    Ok(())
}
