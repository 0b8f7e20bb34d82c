//! Ranks with objects, and types of objects.

pub use crate::types::*;
use std::sync::Arc;
use weft_endpoint::Rank;
use weft_messaging::rpc::Rpc;
use weft_messaging::{Barrier, Engine, Orders};
use weft_object::{Handle, Object, Objects, Placement, Types};
use weft_threads::Job;

/// A rank with objects and a barrier.
pub struct Member {
    pub objects: Objects,
    pub barrier: Barrier,
    pub engine: Arc<Engine>,
}

impl Member {
    pub fn rank(&self) -> usize {
        self.engine.packets().rank().index()
    }

    /// The object of this name, which the first rank creates.
    pub fn object<T: Object>(&self, name: &str, first: &T, placement: Placement) -> Handle<T> {
        match self.rank() {
            0 => self.objects.create(name, first, placement).unwrap(),
            _ => self.objects.find(name).unwrap(),
        }
    }
}

/// Runs `program` on every rank; all of them leave together.
pub fn run<T: Send>(ranks: u16, program: impl Fn(&Member) -> T + Sync) -> Vec<T> {
    run_with(ranks, || Types::default().with::<Int>().with::<Log>().with::<Jobs>(), program)
}

/// Results of `program` on every rank, where there are these types.
pub fn run_with<T: Send>(
    ranks: u16,
    types: impl Fn() -> Types + Sync,
    program: impl Fn(&Member) -> T + Sync,
) -> Vec<T> {
    run_job(Job::new(ranks), types, program)
}

/// Does what [`run_with`] does, in this job.
pub fn run_job<T: Send>(
    job: Job,
    types: impl Fn() -> Types + Sync,
    program: impl Fn(&Member) -> T + Sync,
) -> Vec<T> {
    job.packets(|packets| {
        let engine = Engine::new(packets);
        let barrier = Barrier::new(&engine).unwrap();
        let rpc = Rpc::new(&engine).unwrap();
        let objects = Objects::new(&Orders::new(&engine), &rpc, types()).unwrap();
        let member = Member { objects, barrier, engine };
        let result = program(&member);
        member.barrier.leave().unwrap();
        result
    })
}

/// Everywhere, at the first rank, and at the last of `ranks`.
pub fn placements(ranks: u16) -> [Placement; 3] {
    [Placement::Replicated, Placement::Single(Rank(0)), Placement::Single(Rank(ranks - 1))]
}
