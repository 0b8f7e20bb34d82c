//! Memory of the program that travels in one piece.

use super::Attachment;
use crate::transport::DatagramTransport;
use weft_datagram::seal::Protection;
use weft_link::Buffer;
use weft_link::memory::{Lending, LentMemory, Posted, PostedHead, Posting, ZeroCopy};
use weft_wire::Rank;

/// Memory leaves from its place in one piece only.
impl<T: DatagramTransport> Lending for Attachment<T> {
    fn lend(&mut self, _: Buffer, _: usize, _: LentMemory) -> bool {
        false
    }

    fn has_lent(&mut self, lent: LentMemory) -> bool {
        self.carrier.pieces.has_lent(lent)
    }

    fn take_back(&mut self, lent: LentMemory) {
        self.carrier.take_back(lent);
    }
}

/// Memory arrives in its place in one piece only.
impl<T: DatagramTransport> Posting for Attachment<T> {
    fn post(&mut self, _: Rank, _: Posted) -> bool {
        false
    }

    fn posted(&mut self, from: Rank, head: &PostedHead) -> usize {
        self.carrier.pieces.posted(from, head)
    }

    fn unpost(&mut self, from: Rank, head: &PostedHead) -> usize {
        self.carrier.unpost_piece(from, head)
    }
}

impl<T: DatagramTransport> ZeroCopy for Attachment<T> {
    /// Only where the bytes of long packets have no tag either.
    fn reaches(&mut self, to: Rank) -> bool {
        let is_plain = self.protection == Protection::Headers;
        is_plain && to != self.own && self.carrier.longest_piece() > 0
    }

    fn post(&mut self, from: Rank, posted: Posted) -> bool {
        self.reaches(from)
            && posted.bytes <= self.carrier.longest_piece()
            && self.carrier.post_piece(from, posted)
    }

    fn send(&mut self, to: Rank, head: &PostedHead, lent: LentMemory) -> bool {
        let sends = self.reaches(to) && lent.bytes <= self.carrier.longest_piece();
        if sends {
            self.hearing.sends(to);
            self.carrier.send_piece(to, head, lent);
        }
        sends
    }

    fn is_under_way(&mut self) -> bool {
        self.carrier.pieces.carries()
    }
}
