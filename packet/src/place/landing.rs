//! Landings: a block of memory that is open to puts until they have come.
//!
//! Where one request has one answer, a connection for each pair of nodes and piece of memory is too much. Who asks
//! opens a landing, and says its number in the request; who answers puts the bytes there, and then says so in an
//! ordinary packet, which comes after them; who asked closes the landing and has the bytes. A number is not used
//! again, so that what comes late changes nothing. The memory is away while it is open, so that nobody sees part of a
//! put, and nothing that is read is ever put into.

use super::memory::Block;
use super::state::Receiving;
use crate::Packets;

/// A block that is open to puts of any rank that knows its number. Dropping it closes it, and frees the block.
pub struct Landing {
    packets: Packets,
    number: u32,
}

impl Packets {
    /// Opens `block` to puts. Gives it back if this rank has 65,536 receive buffers and landings already.
    pub fn land(&self, block: Block) -> Result<Landing, Block> {
        let bytes = block.len();
        let mut state = self.places.state.enter();
        if state.receives.is_full() {
            return Err(block);
        }
        let receiving = Receiving { memory: block.0, told: None, came: 0 };
        let opened = state.receives.open(bytes, receiving);
        let number = opened.unwrap_or_else(|| unreachable!("there is a place, as was just seen"));
        drop(state);
        Ok(Landing { packets: self.clone(), number })
    }
}

impl Landing {
    /// What a sender has to know ([`SendPacket::land`](crate::SendPacket::land)).
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Closes it: nothing is put there from here on. The block, and how many bytes packets have put into it.
    pub fn close(self) -> (Block, u64) {
        let mut state = self.packets.places.state.enter();
        let withdrawn = state.receives.withdraw(self.number);
        drop(state);
        let receiving = withdrawn.map(|admitted| admitted.buffer);
        let receiving = receiving.unwrap_or_else(|| unreachable!("only this takes it out"));
        (Block(receiving.memory), receiving.came)
    }
}

impl Drop for Landing {
    fn drop(&mut self) {
        self.packets.places.state.enter().receives.withdraw(self.number);
    }
}
