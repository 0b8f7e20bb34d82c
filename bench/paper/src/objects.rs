//! Operations on objects that are elsewhere or everywhere (thesis 7.1.5, table 7.2, figures 7.11 to
//! 7.14): Orca's part of what layers cost.
//!
//! The [experiment](crate::experiments::objects) holds them against the thesis's figures; the page
//! of its own that is made here ([`pages`]) shows more ranks and sizes, beside Weft's own calls and
//! ordered broadcasts.

mod page;
mod shared;

pub use page::{PAGES, pages};

use crate::cluster::{Nanoseconds, Ran, Setup, now, work_to_send, work_to_write};
use crate::experiments::panda::{
    PAUSE_OPERATIONS, ROUNDS, SENDER, in_a_row, slowest_rate, to_last_reader,
};
use anyhow::Result;
use shared::{HOME, Shared};
use weft::Rank;
use weft_object::Placement;

/// Nanoseconds of an operation on an object that is elsewhere, which takes an array of `bytes`
/// bytes and returns it (figure 7.11).
///
/// # Errors
/// Those of [`Setup::run_messages`].
pub fn operation(setup: &Setup, bytes: usize) -> Result<f64> {
    let ran = setup.run_messages(move |weft| {
        let shared = Shared::new(weft, Placement::Single(HOME))?;
        let (array, mut start) = (vec![7; bytes], 0);
        for round in 0..if weft.rank() == Rank(0) { 2 * ROUNDS } else { 0 } {
            if round == ROUNDS {
                start = now(weft.packets());
            }
            shared.echo(&array)?;
        }
        let time = now(weft.packets()) - start;
        if weft.rank() == HOME {
            shared.read.wait(weft, 2 * ROUNDS)?;
        }
        weft.barrier()?;
        Ok(time as f64 / ROUNDS as f64)
    })?;
    Ok(ran.values[0])
}

/// Nanoseconds of a write of `bytes` bytes on an object of which each rank has a copy, from the
/// writer to the last other copy (figure 7.13).
///
/// # Errors
/// Those of [`Setup::run_messages`].
pub fn write_latency(setup: &Setup, bytes: usize) -> Result<f64> {
    to_last_reader(&writes(setup, bytes, 2 * ROUNDS, PAUSE_OPERATIONS)?)
}

/// Bytes a second that the slowest copy stores of writes of `bytes` bytes (figure 7.14).
///
/// # Errors
/// Those of [`Setup::run_messages`].
pub fn write_rate(setup: &Setup, bytes: usize) -> Result<f64> {
    Ok(slowest_rate(&writes(setup, bytes, in_a_row(bytes), 0)?, bytes))
}

/// One rank writes, with pauses or as fast as it goes: when it began each, and when each other copy
/// had it.
fn writes(setup: &Setup, bytes: usize, writes: usize, pause: u64) -> Result<Ran<Vec<Nanoseconds>>> {
    setup.run_messages(move |weft| {
        let shared = Shared::new(weft, Placement::Replicated)?;
        if weft.rank() != SENDER {
            shared.read.wait(weft, writes)?;
            weft.barrier()?;
            return Ok(shared.read.times());
        }
        let array = vec![7; bytes];
        let mut begun = Vec::new();
        for _ in 0..writes {
            weft.work(pause);
            while weft.poll()? {}
            begun.push(now(weft.packets()));
            work_to_send(weft.packets());
            work_to_write(weft.packets());
            shared.store(&array)?;
        }
        weft.barrier()?;
        Ok(begun)
    })
}

#[cfg(test)]
mod tests;
