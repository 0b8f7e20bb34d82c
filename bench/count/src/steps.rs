//! The steps, played by one thread that is both ranks: it waits for nothing, and moves no cache
//! line.

mod memory;
mod messages;
mod network;
mod objects;
mod packets;

use crate::collect::Counter;
use anyhow::{Context, Result};
use std::sync::Arc;
use weft_endpoint::{Node, Packets, Rank, Shape, WaitPolicy};
use weft_link_shm::{Settings, Shm, create_memory};

/// Packets in one direction after which their sender looks for credits: these come in a packet of
/// their own once half a window is owed.
const HALF_WINDOW: u64 = 16;

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

/// The first `N` ranks of a job of `ranks`, joined as processes join that share a host.
fn ranks<const N: usize>(ranks: u16) -> Result<[Packets; N]> {
    let memory = Settings::new(ranks);
    let file = create_memory(&memory).context("shared memory")?;
    let mut all = Vec::new();
    for rank in 0..N {
        let rank = Rank(rank as u16);
        let link = Shm::attach(rank, memory, &file).context("a rank's memory")?;
        let protocol = weft_endpoint::Settings {
            shape: Shape::Flat,
            ..weft_endpoint::Settings::new(ranks, memory.window_packets)
        };
        let node = Node::new(rank, protocol, link, WaitPolicy::for_ranks(2, 2));
        all.push(Packets::new(Arc::new(node)));
    }
    all.try_into().ok().context("as many ranks as were asked for")
}

/// True if the sender looks for credits in this round.
fn credits_are_due(round: u64) -> bool {
    round % HALF_WINDOW == HALF_WINDOW - 1
}
