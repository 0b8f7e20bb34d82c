//! Packets that are longer than the frames that their way takes: cut into pieces, each in a sealed
//! frame of its own, and put together again.
//!
//! Pieces of a packet are taken in order, one packet at a time from each sender: what is missing or
//! overtaken makes the packet a lost one, which its sender sends again. So a sender takes one
//! packet's memory at most (I9), and nothing of a packet is used before all of it is authentic.

use std::ops::Range;
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

/// A packet whose pieces came one behind another in one place, where they are moved together.
#[derive(Debug)]
pub(crate) struct Run {
    source: Rank,
    head: Piece,
    /// Range of what has come in its place, behind the first piece's header.
    bytes: Range<usize>,
}

impl Run {
    /// A run that begins with the piece of `source` in that range of `place`, if that is a packet's
    /// first.
    pub fn begin(source: Rank, place: &[u8], piece: Range<usize>) -> Option<Self> {
        let (head, bytes) = Piece::parse(&place[piece.clone()])?;
        let is_first = head.offset == 0 && !bytes.is_empty() && bytes.len() <= head.total.into();
        is_first.then(|| Run { source, head, bytes: piece.start + path::SIZE..piece.end })
    }

    /// Moves the piece of `source` in that range of `place` to those before it, if it is the next.
    pub fn goes_on(&mut self, source: Rank, place: &mut [u8], piece: Range<usize>) -> bool {
        let Some((head, bytes)) = Piece::parse(&place[piece.clone()]) else { return false };
        let (count, have) = (bytes.len(), self.bytes.len());
        let next = Piece { offset: have as u16, ..self.head };
        let total = usize::from(self.head.total);
        if source != self.source || head != next || count == 0 || have + count > total {
            return false;
        }
        place.copy_within(piece.start + path::SIZE..piece.end, self.bytes.end);
        self.bytes.end += count;
        true
    }

    /// True if all pieces have come.
    pub fn is_whole(&self) -> bool {
        self.bytes.len() == usize::from(self.head.total)
    }

    /// Range of the packet in its place, if it is whole, and one packet that its source says is its
    /// own.
    pub fn packet(&self, place: &[u8]) -> Option<Range<usize>> {
        let (header, _, length) = envelope::first(&place[self.bytes.clone()]).ok()?;
        (header.source == self.source && length == usize::from(self.head.total))
            .then(|| self.bytes.clone())
    }

    /// Contents of one frame with all that has come.
    pub fn contents<'a>(&self, place: &'a [u8]) -> &'a [u8] {
        &place[self.bytes.start - path::SIZE..self.bytes.end]
    }

    /// Rank that sent it.
    pub fn source(&self) -> Rank {
        self.source
    }
}

#[cfg(test)]
mod tests;
