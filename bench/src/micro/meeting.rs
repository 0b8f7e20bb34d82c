//! Ranks that meet between samples without the packets that are measured: by a counter in the
//! arena, or between two hosts by a connection.

use crate::micro::arena::Arena;
use crate::micro::launch::Spec;
use crate::micro::network;
use crate::micro::pair::bind_to_core;
use crate::micro::pair::hello::beside_packets;
use crate::micro::pair::side::Side;
use anyhow::Result;
use std::sync::atomic::Ordering;
use weft::Packets;

/// Offset at which ranks that share memory count themselves.
const ARRIVED: usize = 0;

/// A rank of a benchmark of packets, which meets the others.
pub struct Meeting<'a> {
    pub spec: &'a Spec,
    pub packets: &'a Packets,
    /// Name of the link between the ranks.
    pub link: &'static str,
    way: Way<'a>,
}

/// Way in which ranks meet.
enum Way<'a> {
    /// In this memory, where they have met so often, all counted.
    Memory { arena: &'a Arena, met: u64 },
    /// Over this connection.
    Wire(&'a mut Side),
}

/// Joins in shared memory, runs `bench`, and leaves.
///
/// # Errors
/// It could not join, another rank was lost, or what `bench` says.
pub fn in_memory(
    spec: &Spec,
    arena: &Arena,
    bench: impl FnOnce(Meeting<'_>) -> Result<()>,
) -> Result<()> {
    let job = weft::join_packets()?;
    let way = Way::Memory { arena, met: 0 };
    bench(Meeting { spec, packets: job.packets(), link: "shm", way })?;
    Ok(job.leave()?)
}

/// Joins one of two hosts, where `interface` is the one to go by, runs `bench`, and leaves.
///
/// # Errors
/// Those of [`in_memory`].
pub fn between_hosts(
    spec: &Spec,
    interface: Option<&str>,
    bench: impl FnOnce(Meeting<'_>) -> Result<()>,
) -> Result<()> {
    let job = weft::join_packets()?;
    bind_to_core(job.packets().rank().0.into())?;
    let mut sockets = beside_packets(job.packets(), interface)?;
    let way = Way::Wire(&mut sockets.side);
    bench(Meeting { spec, packets: job.packets(), link: network::link(spec), way })?;
    Ok(job.leave()?)
}

impl Meeting<'_> {
    /// Returns when all ranks are here, polling meanwhile.
    pub fn meet(&mut self) -> Result<()> {
        let packets = self.packets;
        self.meet_while(|| Ok(packets.poll().map(drop)?))
    }

    /// Returns when all ranks are here; each does `step` again and again meanwhile.
    pub fn meet_while(&mut self, mut step: impl FnMut() -> Result<()>) -> Result<()> {
        let packets = self.packets;
        match &mut self.way {
            Way::Wire(side) => side.meet(step),
            Way::Memory { arena, met } => {
                *met += packets.size() as u64;
                let arrived = arena.word(ARRIVED);
                arrived.fetch_add(1, Ordering::SeqCst);
                while arrived.load(Ordering::SeqCst) < *met {
                    step()?;
                    std::thread::yield_now();
                }
                Ok(())
            }
        }
    }

    /// Returns when nothing of what all ranks have sent is on its way any more, anywhere.
    pub fn settle(&mut self) -> Result<()> {
        while !self.packets.is_flushed() {
            self.packets.poll()?;
        }
        self.meet()?;
        while self.packets.poll()? {}
        Ok(())
    }
}
