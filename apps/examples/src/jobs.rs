//! Objects that ranks share: a queue that hands out jobs, and a total that all of them read.

use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::error::Error;
use weft::prelude::*;
use weft_object::{Objects, Placement, Types};

const JOBS: u64 = 100;

/// Jobs that wait.
#[derive(Serialize, Deserialize, Default)]
struct Jobs {
    waiting: VecDeque<u64>,
    is_closed: bool,
}

#[weft_object::object]
impl Jobs {
    #[write]
    fn put(&mut self, job: u64) {
        self.waiting.push_back(job);
    }

    /// A job; `None` once none will come any more. Whoever takes waits for one or the other.
    #[read(when = self.is_closed && self.waiting.is_empty())]
    fn take(&self) -> Option<u64> {
        None
    }

    #[write(when = !self.waiting.is_empty(), or = take)]
    fn take_first(&mut self) -> Option<u64> {
        self.waiting.pop_front()
    }

    #[write]
    fn close(&mut self) {
        self.is_closed = true;
    }
}

/// A sum, and the number of ranks that have added to it.
#[derive(Serialize, Deserialize, Default)]
struct Total {
    sum: u64,
    ranks: usize,
}

#[weft_object::object]
impl Total {
    #[write]
    fn add(&mut self, part: u64) {
        self.sum += part;
        self.ranks += 1;
    }

    /// The sum, once so many ranks have added to it.
    #[read(when = self.ranks >= *ranks)]
    fn sum_of(&self, ranks: usize) -> u64 {
        self.sum
    }
}

/// Rank 0 puts a hundred jobs into a queue, all ranks take them out and add up what they get.
///
/// # Errors
/// A lost rank.
pub fn jobs(weft: Weft) -> Result<(), Box<dyn Error>> {
    let types = Types::default().with::<Jobs>().with::<Total>();
    let objects = Objects::new(weft.orders(), weft.rpc(), types)?;
    let (jobs, total) = if weft.rank() == 0 {
        (
            objects.create("jobs", &Jobs::default(), Placement::Single(Rank(0)))?,
            objects.create("total", &Total::default(), Placement::Replicated)?,
        )
    } else {
        (objects.find::<Jobs>("jobs")?, objects.find::<Total>("total")?)
    };
    if weft.rank() == 0 {
        for job in 1..=JOBS {
            jobs.put(job)?;
        }
        jobs.close()?;
    }
    let mut sum = 0;
    while let Some(job) = jobs.take()? {
        sum += job;
    }
    total.add(sum)?;
    let all = total.sum_of(weft.size())?;
    assert_eq!(all, JOBS * (JOBS + 1) / 2);
    if weft.rank() == 0 {
        println!("{JOBS} jobs were taken, by {} ranks, and come to {all}", weft.size());
    }
    Ok(())
}
