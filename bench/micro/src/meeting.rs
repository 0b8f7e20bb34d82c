//! Ranks that meet between samples without the packets that are measured: by a counter in the arena, or between
//! two hosts by a connection.

use crate::arena::Arena;
use crate::pair::side::Side;
use anyhow::Result;
use std::sync::atomic::Ordering;
use weft::Packets;

/// Where ranks that share memory count themselves.
const ARRIVED: usize = 0;

/// How ranks meet.
pub enum Meeting<'a> {
    /// In this memory, where they have met so often, all counted.
    Memory { arena: &'a Arena, met: u64 },
    /// Over this connection.
    Wire(&'a mut Side),
}

impl<'a> Meeting<'a> {
    /// Where ranks share memory.
    pub fn in_memory(arena: &'a Arena) -> Self {
        Meeting::Memory { arena, met: 0 }
    }

    /// Returns when all ranks are here, polling meanwhile.
    pub fn meet(&mut self, packets: &Packets) -> Result<()> {
        match self {
            Meeting::Wire(side) => side.meet(|| Ok(packets.poll().map(drop)?)),
            Meeting::Memory { arena, met } => {
                *met += packets.size() as u64;
                let arrived = arena.word(ARRIVED);
                arrived.fetch_add(1, Ordering::SeqCst);
                while arrived.load(Ordering::SeqCst) < *met {
                    packets.poll()?;
                    std::thread::yield_now();
                }
                Ok(())
            }
        }
    }

    /// Returns when nothing of what all ranks have sent is on its way any more, anywhere.
    pub fn settle(&mut self, packets: &Packets) -> Result<()> {
        while !packets.is_flushed() {
            packets.poll()?;
        }
        self.meet(packets)?;
        while packets.poll()? {}
        Ok(())
    }
}
