//! Landings: blocks of memory that are open to puts until they are closed.
//!
//! For requests with one answer each, a connection for each pair of nodes and piece of memory is
//! too much. The rank that asks opens a landing, and puts its number into the request; the rank
//! that answers puts the bytes there, and then says so in an ordinary packet, which comes after
//! them; the rank that asked closes the landing and has the bytes. A number is not used again, so
//! that a late put changes nothing. The memory is away while it is open, so that no part of a put
//! is seen, and nothing that is read is ever put into.

use super::Puts;
use super::memory::Block;
use super::state::{LandingRefused, PutState, Receiving};
use crate::Rank;
use std::sync::Arc;

/// Block that is open to puts of any rank that knows its number, until one has put something there:
/// then to those of that rank only. Dropping it closes it, and frees the block.
pub struct Landing {
    puts: Arc<PutState>,
    number: u32,
}

/// Contents of a landing, once it is closed.
pub struct ClosedLanding {
    /// The memory.
    pub block: Block,
    /// Number of bytes that packets have put into it.
    pub received: u64,
    /// The rank that sent those packets; `None` if there were none.
    pub from: Option<Rank>,
}

impl Puts<'_> {
    /// Opens `block` to puts. Gives it back if this rank has 65,536 receive buffers and landings
    /// already.
    pub fn land(self, block: Block) -> Result<Landing, Block> {
        let bytes = block.len();
        let mut state = self.0.puts.connections.enter();
        if state.receives.is_full() {
            return Err(block);
        }
        let receiving = Receiving { memory: block.0, observer: None, received: 0, sender: None };
        let opened = state.receives.open(bytes, receiving);
        let number = opened.unwrap_or_else(|| unreachable!("there is a slot, as was just seen"));
        drop(state);
        Ok(Landing { puts: Arc::clone(&self.0.puts), number })
    }

    /// Last refusal of a put of this rank into a landing, since the last call. It need not be an
    /// error: a rank that closes a landing without waiting for its answer refuses what arrives
    /// later.
    pub fn landing_refused(self) -> Option<LandingRefused> {
        self.0.puts.connections.enter().landing_refused.take()
    }
}

impl Landing {
    /// Its number, for the sender ([`SendPacket::land`](crate::SendPacket::land)).
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Closes it: later puts there are refused.
    pub fn close(self) -> ClosedLanding {
        let mut state = self.puts.connections.enter();
        let withdrawn = state.receives.withdraw(self.number);
        drop(state);
        let receiving = withdrawn.map(|admitted| admitted.buffer);
        let receiving = receiving.unwrap_or_else(|| unreachable!("only this takes it out"));
        let Receiving { memory, received, sender, .. } = receiving;
        ClosedLanding { block: Block(memory), received, from: sender }
    }
}

impl Drop for Landing {
    fn drop(&mut self) {
        self.puts.connections.enter().receives.withdraw(self.number);
    }
}
