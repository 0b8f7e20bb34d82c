//! Ranks that are threads, with messages and a barrier.

use std::sync::Arc;
use std::time::Duration;
use weft_endpoint::Rank;
use weft_messaging::{Barrier, Engine, Mailbox, Message};
use weft_threads::{Interrupt, Job};

/// A rank with messages and a barrier.
pub struct Member {
    pub barrier: Barrier,
    pub engine: Arc<Engine>,
}

impl Member {
    pub fn rank(&self) -> usize {
        self.engine.packets().rank().index()
    }

    pub fn mailbox(&self, name: &str) -> Arc<Mailbox> {
        Arc::new(Mailbox::new(&self.engine, name).unwrap())
    }

    /// The other one of two ranks.
    pub fn other(&self) -> Rank {
        Rank(1 - self.engine.packets().rank().0)
    }

    /// Polls until `done` says so.
    pub fn until(&self, mut done: impl FnMut() -> bool) {
        while !done() {
            self.engine.progress().unwrap();
            std::thread::yield_now();
        }
    }
}

/// Runs `program` on every rank of `job`; all of them leave together.
pub fn run<T: Send>(job: Job, program: impl Fn(&Member) -> T + Sync) -> Vec<T> {
    run_alone(job, |member| {
        let result = program(member);
        member.barrier.leave().unwrap();
        result
    })
}

/// Does what [`run`] does, without a barrier at the end: ranks end as they like.
pub fn run_alone<T: Send>(job: Job, program: impl Fn(&Member) -> T + Sync) -> Vec<T> {
    job.run(connect, |member| {
        let result = program(&member);
        member.engine.close();
        result
    })
}

/// A job with upcall threads.
pub fn interrupted(ranks: u16) -> Job {
    Job { interrupt_delay: Some(Duration::from_micros(50)), ..Job::new(ranks) }
}

/// A job with few frames, of 256 bytes each.
pub fn small(ranks: u16) -> Job {
    let mut job = Job::new(ranks);
    job.memory.frames = 32;
    job.memory.frame_bytes = 256;
    job
}

/// The number that a message carries.
pub fn number(message: &mut Message) -> u64 {
    let mut bytes = [0; 8];
    message.read_exact(&mut bytes).unwrap();
    u64::from_le_bytes(bytes)
}

/// A rank over these packets, and what an interrupt does to it.
pub fn connect(packets: weft_endpoint::Packets) -> (Member, Interrupt) {
    let engine = Engine::new(packets);
    engine.will_be_closed();
    let barrier = Barrier::new(&engine).unwrap();
    let interrupted = Arc::downgrade(&engine);
    let interrupt = move || {
        if let Some(engine) = interrupted.upgrade() {
            engine.interrupted();
        }
    };
    (Member { barrier, engine }, Box::new(interrupt) as Interrupt)
}
