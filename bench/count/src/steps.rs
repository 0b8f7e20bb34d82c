//! The steps, played by a thread for each of two ranks: one goes on when the other is done, so
//! that none waits for anything.

mod memory;
mod messages;
mod network;
mod objects;
mod packets;
mod ranks;

use crate::collect::Counter;
use anyhow::Result;

/// Plays all steps.
///
/// # Errors
/// There can be no shared memory here, or a step did something else than it is for.
pub fn play(counter: &Counter) -> Result<()> {
    counter.figure("empty", |_, turn| turn.step(|| Ok(())))?;
    packets::play(counter)?;
    messages::play(counter)?;
    network::play(counter)?;
    memory::play(counter)?;
    objects::play(counter)
}
