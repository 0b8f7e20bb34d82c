//! Landings: a block of memory that is open to puts until they have come.
//!
//! Where one request has one answer, a connection for each pair of nodes and piece of memory is too much. Who asks
//! opens a landing, and says its number in the request; who answers puts the bytes there, and then says so in an
//! ordinary packet, which comes after them; who asked closes the landing and has the bytes. A number is not used
//! again, so that what comes late changes nothing. The memory is away while it is open, so that nobody sees part of a
//! put, and nothing that is read is ever put into.

use super::Refusal;
use super::memory::Block;
use super::state::Receiving;
use crate::{Packets, Rank};

/// A block that is open to puts of any rank that knows its number, until one has put something there: then to those of
/// that one. Dropping it closes it, and frees the block.
pub struct Landing {
    packets: Packets,
    number: u32,
}

/// What a landing was, once it is closed.
pub struct Landed {
    /// The memory.
    pub block: Block,
    /// How many bytes packets have put into it.
    pub came: u64,
    /// The rank whose packets those were; none, if there were none.
    pub from: Option<Rank>,
}

/// A put into a landing that its rank has refused. It changed nothing there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LandingRefused {
    /// That rank.
    pub rank: Rank,
    /// The landing's number, as the put named it.
    pub number: u32,
    /// Why.
    pub why: Refusal,
}

impl Packets {
    /// Opens `block` to puts. Gives it back if this rank has 65,536 receive buffers and landings already.
    pub fn land(&self, block: Block) -> Result<Landing, Block> {
        let bytes = block.len();
        let mut state = self.places.state.enter();
        if state.receives.is_full() {
            return Err(block);
        }
        let receiving = Receiving { memory: block.0, told: None, came: 0, taker: None };
        let opened = state.receives.open(bytes, receiving);
        let number = opened.unwrap_or_else(|| unreachable!("there is a place, as was just seen"));
        drop(state);
        Ok(Landing { packets: self.clone(), number })
    }

    /// What this rank's puts into landings were refused for last, since this was asked before. That need not be
    /// wrong: who closes a landing without waiting for what it has asked for refuses what comes.
    pub fn landing_refused(&self) -> Option<LandingRefused> {
        self.places.state.enter().landing_refused.take()
    }
}

impl Landing {
    /// What a sender has to know ([`SendPacket::land`](crate::SendPacket::land)).
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Closes it: nothing is put there from here on.
    pub fn close(self) -> Landed {
        let mut state = self.packets.places.state.enter();
        let withdrawn = state.receives.withdraw(self.number);
        drop(state);
        let receiving = withdrawn.map(|admitted| admitted.buffer);
        let receiving = receiving.unwrap_or_else(|| unreachable!("only this takes it out"));
        let Receiving { memory, came, taker, .. } = receiving;
        Landed { block: Block(memory), came, from: taker }
    }
}

impl Drop for Landing {
    fn drop(&mut self) {
        self.packets.places.state.enter().receives.withdraw(self.number);
    }
}
