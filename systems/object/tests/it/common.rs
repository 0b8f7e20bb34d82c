//! Ranks with objects, and types of objects.

use std::sync::Arc;
use weft_endpoint::Rank;
use weft_messaging::rpc::Rpc;
use weft_messaging::{Barrier, Engine, Orders};
use weft_object::{Body, Handle, Object, Objects, Operation, Outcome, Placement, Types};
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
    Job::new(ranks).packets(|packets| {
        let engine = Engine::new(packets);
        let barrier = Barrier::new(&engine).unwrap();
        let rpc = Rpc::new(&engine).unwrap();
        let types = Types::default().with::<Int>().with::<Log>();
        let objects = Objects::new(&Orders::new(&engine), &rpc, types).unwrap();
        let member = Member { objects, barrier, engine };
        let result = program(&member);
        member.barrier.leave().unwrap();
        result
    })
}

/// Everywhere, at the first rank, and at the last of so many.
pub fn placements(ranks: u16) -> [Placement; 3] {
    [Placement::Replicated, Placement::Single(Rank(0)), Placement::Single(Rank(ranks - 1))]
}

/// The type of fig. 7.1 of the thesis.
pub struct Int(pub u64);

pub const INC: u16 = 0;
pub const AWAIT: u16 = 1;
pub const VALUE: u16 = 2;
pub const PANIC: u16 = 3;

pub fn number(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes.try_into().unwrap())
}

impl Object for Int {
    const NAME: &'static str = "Int";
    const OPERATIONS: &'static [Operation<Self>] = &[
        Operation {
            name: "inc",
            body: Body::Write(|int, _, result| {
                int.0 += 1;
                result.extend(int.0.to_le_bytes());
                Outcome::Done
            }),
        },
        Operation {
            name: "await",
            body: Body::Read(|int, arguments, _| match int.0 >= number(arguments) {
                true => Outcome::Done,
                false => Outcome::Blocked,
            }),
        },
        Operation {
            name: "value",
            body: Body::Read(|int, _, result| {
                result.extend(int.0.to_le_bytes());
                Outcome::Done
            }),
        },
        Operation { name: "panic", body: Body::Write(|_, _, _| panic!("on purpose")) },
    ];

    fn capture(&self) -> Vec<u8> {
        self.0.to_le_bytes().to_vec()
    }

    fn restore(state: &[u8]) -> Option<Self> {
        Some(Int(u64::from_le_bytes(state.try_into().ok()?)))
    }
}

/// Entries in the order in which they were added, and taken out again.
pub struct Log(pub Vec<u8>, pub usize);

pub const ADD: u16 = 0;
pub const ALL: u16 = 1;
pub const TAKE: u16 = 2;

impl Object for Log {
    const NAME: &'static str = "Log";
    const OPERATIONS: &'static [Operation<Self>] = &[
        Operation {
            name: "add",
            body: Body::Write(|log, arguments, _| {
                log.0.extend(arguments);
                Outcome::Done
            }),
        },
        Operation {
            name: "all",
            body: Body::Read(|log, _, result| {
                result.extend(&log.0);
                Outcome::Done
            }),
        },
        Operation {
            name: "take",
            body: Body::Write(|log, _, result| match log.0.get(log.1) {
                Some(entry) => {
                    log.1 += 1;
                    result.push(*entry);
                    Outcome::Done
                }
                None => Outcome::Blocked,
            }),
        },
    ];

    fn capture(&self) -> Vec<u8> {
        self.0.clone()
    }

    fn restore(state: &[u8]) -> Option<Self> {
        Some(Log(state.to_vec(), 0))
    }
}
