//! Ranks of a job, one of which another thread plays.

use crate::collect::Other;
use anyhow::{Context, Result};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use weft_endpoint::{Node, Packets, Rank, Shape, WaitPolicy};
use weft_link_shm::{Settings, Shm, create_memory};

/// Packets in one direction after which their sender looks for credits: these come in a packet of
/// their own once half a window is owed.
const HALF_WINDOW: u64 = 16;

/// The first two ranks of a job, joined as processes join that share a host: one here, and one in
/// the other thread.
pub fn pair(other: &Other) -> Result<[Packets; 2]> {
    let memory = Settings::new(2);
    let file = create_memory(&memory).context("shared memory")?;
    let here = joined(Rank(0), memory, &file)?;
    Ok([here, other.run(|| joined(Rank(1), memory, &file))?])
}

/// The first rank of a job of `ranks`.
pub fn alone(ranks: u16) -> Result<Packets> {
    let memory = Settings::new(ranks);
    joined(Rank(0), memory, &create_memory(&memory).context("shared memory")?)
}

fn joined(rank: Rank, memory: Settings, file: &OwnedFd) -> Result<Packets> {
    let link = Shm::attach(rank, memory, file).context("a rank's memory")?;
    let protocol = weft_endpoint::Settings {
        shape: Shape::Flat,
        ..weft_endpoint::Settings::new(memory.ranks, memory.window_packets)
    };
    let node = Node::new(rank, protocol, link, WaitPolicy::for_ranks(2, 2));
    Ok(Packets::new(Arc::new(node)))
}

/// True if the sender looks for credits in this round.
pub fn credits_are_due(round: u64) -> bool {
    round % HALF_WINDOW == HALF_WINDOW - 1
}
