//! Objects that ranks share: a queue that hands out jobs, and a total that all of them read.

use std::collections::VecDeque;
use weft::prelude::*;
use weft_object::{Body, Error, Object, Objects, Operation, Outcome, Placement, Types};

const JOBS: u64 = 100;

/// Jobs that wait.
struct Jobs {
    waiting: VecDeque<u64>,
    is_closed: bool,
}

const PUT: u16 = 0;
const TAKE: u16 = 1;
const CLOSE: u16 = 2;

impl Object for Jobs {
    const NAME: &'static str = "Jobs";
    const OPERATIONS: &'static [Operation<Self>] = &[
        Operation {
            name: "put",
            body: Body::Write(|jobs, arguments, _| {
                jobs.waiting.push_back(number(arguments));
                Outcome::Done
            }),
        },
        Operation {
            name: "take",
            // The guard: whoever takes waits until there is a job, or none will come any more.
            body: Body::Write(|jobs, _, result| match jobs.waiting.pop_front() {
                None if !jobs.is_closed => Outcome::Blocked,
                job => {
                    result.extend(job.into_iter().flat_map(u64::to_le_bytes));
                    Outcome::Done
                }
            }),
        },
        Operation {
            name: "close",
            body: Body::Write(|jobs, _, _| {
                jobs.is_closed = true;
                Outcome::Done
            }),
        },
    ];

    fn capture(&self) -> Vec<u8> {
        self.waiting.iter().flat_map(|job| job.to_le_bytes()).collect()
    }

    fn restore(state: &[u8]) -> Option<Self> {
        let jobs = state.chunks_exact(8);
        let is_whole = jobs.remainder().is_empty();
        let waiting = jobs.map(number).collect();
        is_whole.then_some(Jobs { waiting, is_closed: false })
    }
}

/// A sum, and the number of ranks that have added to it.
struct Total {
    sum: u64,
    ranks: u64,
}

const ADD: u16 = 0;
const AWAIT: u16 = 1;

impl Object for Total {
    const NAME: &'static str = "Total";
    const OPERATIONS: &'static [Operation<Self>] = &[
        Operation {
            name: "add",
            body: Body::Write(|total, arguments, _| {
                total.sum += number(arguments);
                total.ranks += 1;
                Outcome::Done
            }),
        },
        Operation {
            name: "await",
            body: Body::Read(|total, arguments, result| {
                if total.ranks < number(arguments) {
                    return Outcome::Blocked;
                }
                result.extend(total.sum.to_le_bytes());
                Outcome::Done
            }),
        },
    ];

    fn capture(&self) -> Vec<u8> {
        [self.sum, self.ranks].map(u64::to_le_bytes).concat()
    }

    fn restore(state: &[u8]) -> Option<Self> {
        let (sum, ranks) = state.split_at_checked(8)?;
        (ranks.len() == 8).then(|| Total { sum: number(sum), ranks: number(ranks) })
    }
}

/// Rank 0 puts a hundred jobs into a queue, all ranks take them out and add up what they get.
///
/// # Errors
/// A lost rank.
pub fn jobs(weft: Weft) -> weft::Result<()> {
    let types = Types::default().with::<Jobs>().with::<Total>();
    share(&weft, types).map_err(|error| match error {
        Error::Messaging(error) => error.into(),
        other => panic!("{other}"),
    })
}

fn share(weft: &Weft, types: Types) -> weft_object::Result<()> {
    let objects = Objects::new(weft.orders(), weft.rpc(), types)?;
    let (jobs, total) = if weft.rank() == 0 {
        let none = Jobs { waiting: VecDeque::new(), is_closed: false };
        let total = Total { sum: 0, ranks: 0 };
        (
            objects.create("jobs", &none, Placement::Single(Rank(0)))?,
            objects.create("total", &total, Placement::Replicated)?,
        )
    } else {
        (objects.find::<Jobs>("jobs")?, objects.find::<Total>("total")?)
    };
    if weft.rank() == 0 {
        for job in 1..=JOBS {
            jobs.invoke(PUT, &job.to_le_bytes())?;
        }
        jobs.invoke(CLOSE, &[])?;
    }
    let mut sum = 0;
    loop {
        let job = jobs.invoke(TAKE, &[])?;
        if job.is_empty() {
            break;
        }
        sum += number(&job);
    }
    total.invoke(ADD, &sum.to_le_bytes())?;
    let ranks = weft.size() as u64;
    let all = number(&total.invoke(AWAIT, &ranks.to_le_bytes())?);
    assert_eq!(all, JOBS * (JOBS + 1) / 2);
    if weft.rank() == 0 {
        println!("{JOBS} jobs were taken, by {ranks} ranks, and come to {all}");
    }
    Ok(())
}

fn number(bytes: &[u8]) -> u64 {
    let mut number = [0; 8];
    number.copy_from_slice(bytes);
    u64::from_le_bytes(number)
}
