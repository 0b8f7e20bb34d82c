//! Memory of the program that records leave from, and are read into.

use super::*;

impl<F: LinkPart> Lending for Bulk<F> {
    fn lend(&mut self, buffer: Buffer, head: usize, lent: LentMemory) -> bool {
        // A record that is encrypted is a copy, and one of another length ends with zeros.
        let fits =
            self.trailer_bytes == 0 && (head + lent.bytes).is_multiple_of(envelope::ALIGNMENT);
        let Side::Own(frame) = Side::of(buffer) else { return false };
        if fits {
            self.frames.memory.lend(frame, head, lent);
        }
        fits
    }

    fn has_lent(&mut self, lent: LentMemory) -> bool {
        self.frames.memory.has_lent(lent)
    }

    fn take_back(&mut self, lent: LentMemory) {
        self.frames.memory.take_back(lent);
    }
}

impl<F: LinkPart> Posting for Bulk<F> {
    fn post(&mut self, from: Rank, posted: Posted) -> bool {
        self.arrivals.post(from, posted)
    }

    fn posted(&mut self, from: Rank, head: &PostedHead) -> usize {
        self.arrivals.posted(from, head)
    }

    fn unpost(&mut self, from: Rank, head: &PostedHead) -> usize {
        self.arrivals.unpost(from, head)
    }
}
