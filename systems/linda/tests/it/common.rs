//! Ranks with a tuple space.

use std::sync::Arc;
use weft_endpoint::Rank;
use weft_linda::{Shard, Space};
use weft_messaging::rpc::Rpc;
use weft_messaging::{Barrier, Engine, Orders};
use weft_object::{Objects, Types};
use weft_threads::Job;

/// A rank with a tuple space and a barrier.
pub struct Member<'a> {
    pub space: Space,
    pub objects: &'a Objects,
    pub barrier: &'a Barrier,
    pub engine: &'a Arc<Engine>,
}

impl Member<'_> {
    pub fn rank(&self) -> u64 {
        u64::from(self.own().0)
    }

    pub fn own(&self) -> Rank {
        self.engine.packets().rank()
    }

    pub fn ranks(&self) -> usize {
        self.engine.packets().size()
    }

    /// Waits until so many operations were blocked at the part of the space that is here.
    pub fn await_blocked(&self, count: u64) {
        while self.space.statistics().blocked < count {
            self.engine.progress().unwrap();
            std::thread::yield_now();
        }
    }
}

/// Runs `program` on every rank; all of them leave together.
pub fn run<T: Send>(ranks: u16, program: impl Fn(&Member<'_>) -> T + Sync) -> Vec<T> {
    with_objects(
        ranks,
        || Types::default().with::<Shard>(),
        |objects, barrier, engine| {
            let packets = engine.packets();
            let space = Space::new(objects, "space", packets.rank(), packets.size()).unwrap();
            program(&Member { space, objects, barrier, engine })
        },
    )
}

/// Runs `program` on every rank with objects of these types and no space yet.
pub fn with_objects<T: Send>(
    ranks: u16,
    types: impl Fn() -> Types + Sync,
    program: impl Fn(&Objects, &Barrier, &Arc<Engine>) -> T + Sync,
) -> Vec<T> {
    Job::new(ranks).packets(|packets| {
        let engine = Engine::new(packets);
        let barrier = Barrier::new(&engine).unwrap();
        let rpc = Rpc::new(&engine).unwrap();
        // They last until all ranks are done.
        let objects = Objects::new(&Orders::new(&engine), &rpc, types()).unwrap();
        let result = program(&objects, &barrier, &engine);
        barrier.leave().unwrap();
        result
    })
}
