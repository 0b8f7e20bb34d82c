//! Packets that are longer than the frames that their way takes: cut into pieces, each in a sealed
//! frame of its own, and put together again.
//!
//! Pieces of a packet are taken in order, one packet at a time from each sender: what is missing or
//! overtaken makes the packet a lost one, which its sender sends again. So a sender takes one
//! packet's memory at most (I9), and nothing of a packet is used before all of it is authentic.

use weft_wire::path::{self, Piece};
use weft_wire::{Rank, envelope};

/// Bytes of a packet in each of its pieces but the last, for frames with room for so many bytes of
/// contents. The last is shorter: a kernel that joins datagrams of one length ends with it.
pub(crate) fn piece_bytes(total: usize, room: usize) -> usize {
    let most = (room - path::SIZE) / envelope::ALIGNMENT * envelope::ALIGNMENT;
    if total.is_multiple_of(most) { most - envelope::ALIGNMENT } else { most }
}

/// A packet of which some pieces have come from one sender.
#[derive(Debug, Default)]
pub(crate) struct Assembly {
    number: u32,
    total: usize,
    bytes: Vec<u8>,
}

impl Assembly {
    /// Takes a piece of `source`, and returns the packet if that was its last: one packet that
    /// `source` says is its own.
    pub fn add(&mut self, source: Rank, contents: &[u8]) -> Option<Box<[u8]>> {
        let (Piece { number, offset, total }, bytes) = Piece::parse(contents)?;
        if offset == 0 {
            (self.number, self.total) = (number, total.into());
            self.bytes.clear();
            self.bytes.reserve_exact(self.total);
        }
        let end = self.bytes.len() + bytes.len();
        let fits =
            (self.number, self.total, self.bytes.len()) == (number, total.into(), offset.into());
        if !fits || bytes.is_empty() || end > self.total {
            *self = Assembly::default();
            return None;
        }
        self.bytes.extend_from_slice(bytes);
        if end < self.total {
            return None;
        }
        let packet = std::mem::take(self).bytes;
        let (header, _, length) = envelope::first(&packet).ok()?;
        (header.source == source && length == packet.len()).then(|| packet.into_boxed_slice())
    }
}

#[cfg(test)]
mod tests;
