//! Surroundings of an operation: the memory that it reads and fills, and the network.

use crate::schedule::{Area, Extent};
use std::ops::Range;
use weft_endpoint::{Group, Rank};

/// Bytes that a member brings, and room for its result. Both may be the same bytes.
pub trait OperationMemory {
    /// Calls `take` with the pieces of `length` bytes of Mine or Result from `at` on.
    fn read(&self, area: Area, at: usize, length: usize, take: &mut dyn FnMut(&[u8]));

    /// Writes `bytes` to Result from `at` on.
    fn write(&mut self, at: usize, bytes: &[u8]);

    /// Copies `length` bytes of Mine from `from` on to Result from `at` on.
    fn copy(&mut self, from: usize, length: usize, at: usize);

    /// The bytes of Mine that are for a member, where parts have lengths of their own: the same for
    /// each if all get the same.
    fn part(&self, _member: usize) -> Range<usize> {
        0..0
    }

    /// The room in Result for the part of a member, where parts have lengths of their own and this
    /// member knows which: it stands there then, and in no block.
    fn room(&self, _member: usize) -> Option<Range<usize>> {
        None
    }
}

/// A network that carries packets to other members.
pub trait Transport {
    /// Error of the network.
    type Error;

    /// Bytes of a packet to one member at most; at least 64.
    fn payload(&self) -> usize;

    /// Bytes of a packet to all at most.
    fn multicast_payload(&self) -> usize;

    /// Packets that leave before the next look at what has arrived.
    fn packets_at_once(&self) -> usize;

    /// Sends one packet to a rank. False if there is no room for one now.
    ///
    /// # Errors
    /// Those of the network.
    fn send(&mut self, to: Rank, head: &[u8], body: &TransferBody<'_>)
    -> Result<bool, Self::Error>;

    /// Sends one packet to all other ranks of a group, as [`Self::send`] to one.
    ///
    /// # Errors
    /// Those of the network.
    fn multicast(
        &mut self,
        group: Group,
        head: &[u8],
        body: &TransferBody<'_>,
    ) -> Result<bool, Self::Error>;
}

/// The bytes of a packet after its header.
pub struct TransferBody<'a> {
    pub(super) memory: &'a dyn OperationMemory,
    pub(super) blocks: &'a [Vec<u8>],
    pub(super) span: Extent,
}

impl TransferBody<'_> {
    /// Number of bytes.
    #[inline]
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.span.length
    }

    /// Calls `take` with their pieces, from `skip` on.
    #[inline]
    pub fn read(&self, skip: usize, length: usize, take: &mut dyn FnMut(&[u8])) {
        let at = self.span.at + skip;
        match self.span.area {
            _ if length == 0 => {}
            Area::Block(block) => take(&self.blocks[block][at..at + length]),
            area => self.memory.read(area, at, length, take),
        }
    }
}
