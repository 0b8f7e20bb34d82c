//! A bag of tasks: a master puts them into a space of tuples, workers take them and put results.

use weft::prelude::*;
use weft_linda::{Error, Result, Shard, Space, any};
use weft_object::{Objects, Types};

/// Numbers of which the one with the longest chain is looked for.
const NUMBERS: u64 = 100_000;
/// Numbers of a task.
const TASK: usize = 1000;

/// Rank 0 puts a hundred tasks, all ranks take them, and rank 0 takes the results.
///
/// # Errors
/// A lost rank.
pub fn linda(weft: Weft) -> weft::Result<()> {
    let space = join(&weft).map_err(lost)?;
    let done = match weft.rank() {
        Rank(0) => be_master(&space, weft.size()),
        _ => work(&space),
    };
    done.map_err(lost)?;
    weft.barrier() // Each rank's part of the space stays until all are done.
}

fn join(weft: &Weft) -> Result<Space> {
    let objects = Objects::new(weft.orders(), weft.rpc(), Types::default().with::<Shard>())?;
    Space::new(&objects, "bag", weft.rank(), weft.size())
}

fn be_master(space: &Space, ranks: usize) -> Result<()> {
    for first in (1..NUMBERS).step_by(TASK) {
        space.out(("task", first))?;
    }
    // It works, too, as long as there is something to do.
    while let Some((_, first)) = space.inp(("task", any::<u64>()))? {
        space.out(longest_chain(first))?;
    }
    let mut longest = (0, 0);
    for _ in (1..NUMBERS).step_by(TASK) {
        let (_, steps, number) = space.take(("chain", any::<u64>(), any::<u64>()))?;
        longest = longest.max((steps, number));
    }
    for _ in 1..ranks {
        space.out(("task", 0_u64))?;
    }
    let (steps, number) = longest;
    assert_eq!(longest, (350, 77_031));
    println!("below {NUMBERS} the longest chain begins with {number} and has {steps} steps");
    Ok(())
}

fn work(space: &Space) -> Result<()> {
    loop {
        match space.take(("task", any::<u64>()))? {
            (_, 0) => return Ok(()),
            (_, first) => space.out(longest_chain(first))?,
        }
    }
}

/// The longest chain of a task: a number that is even is halved, one that is odd is tripled and
/// has one added, until it is 1.
fn longest_chain(first: u64) -> (&'static str, u64, u64) {
    let steps = |number| {
        let next = |n: &u64| Some(if n.is_multiple_of(2) { n / 2 } else { 3 * n + 1 });
        std::iter::successors(Some(number), next).take_while(|n| *n != 1).count() as u64
    };
    let chains = (first..).take(TASK).map(|number| (steps(number), number));
    let (steps, number) = chains.max().unwrap_or_default();
    ("chain", steps, number)
}

fn lost(error: Error) -> weft::Error {
    match error {
        Error::Object(weft_object::Error::Messaging(error)) => error.into(),
        other => panic!("{other}"),
    }
}
