//! Runs: the pieces of a packet that is longer than a frame, one behind another in one place, for a
//! system that cuts up what it is handed.

use super::{Datagram, SendQueue};
use crate::pieces::piece_bytes;
use crate::seal::{FrameKind, Sealer};
use std::ops::DerefMut;
use weft_wire::path::{self, Piece};
use weft_wire::{Header, Rank, envelope, network};

/// Bytes around a piece, but for its trailer.
const AROUND: usize = envelope::SIZE + path::SIZE;

impl<P: DerefMut<Target = [u8]>> SendQueue<P> {
    /// Packets that are cut into so many frames at most leave as a run; places must have room for
    /// them. None do at first.
    pub fn set_most_in_run(&mut self, frames: usize) {
        self.most_in_run = frames;
    }

    /// User bytes of a packet that leaves as one frame or as a run, at most, on a way that takes
    /// all frames; `one` of them is what a frame has room for.
    pub fn most_payload_in_run(&self, one: usize) -> usize {
        let piece = piece_bytes(usize::MAX, self.room.len() - envelope::SIZE - self.trailer_bytes);
        // The last is shorter than the others.
        let bytes = (self.most_in_run * piece).saturating_sub(envelope::ALIGNMENT + network::SIZE);
        (bytes / envelope::ALIGNMENT * envelope::ALIGNMENT).max(one)
    }

    /// Bytes of the packet in each frame of a run to `to` but the last, if one of so many bytes
    /// leaves as a run.
    pub(super) fn piece_in_run(&self, to: Rank, bytes: usize) -> Option<usize> {
        let room = self.peers[to.index()].way.most() as usize - envelope::SIZE - self.trailer_bytes;
        let piece = piece_bytes(bytes, room);
        let fits = bytes.div_ceil(piece) <= self.most_in_run && piece > network::SIZE;
        fits.then_some(piece)
    }

    /// Adds a packet as a run of pieces of so many bytes.
    pub(super) fn put_run(
        &mut self,
        to: Rank,
        header: &Header,
        body: &[u8],
        piece: usize,
        mut spare: impl FnMut() -> Option<P>,
    ) -> bool {
        let place = if self.is_full() { None } else { spare() };
        let Some(place) = place else { return self.drop_packet() };
        let number = self.peers[to.index()].begins_pieces();
        self.sent.cut += 1;
        let trailer_bytes = self.trailer_bytes;
        let total = envelope::packet_bytes(body.len());
        let datagram = self.begin(to, place, true);
        let start = datagram.end - envelope::SIZE;
        let frame = AROUND + piece + trailer_bytes;
        (datagram.kind, datagram.cut_at) = (FrameKind::PIECE, frame);
        let mut rest = body;
        for (index, offset) in (0..total).step_by(piece).enumerate() {
            let at = start + index * frame + envelope::SIZE;
            let head = Piece { number, offset: offset as u16, total: total as u16 };
            datagram.place[at..at + path::SIZE].copy_from_slice(&head.emit());
            let bytes = &mut datagram.place[at + path::SIZE..][..piece.min(total - offset)];
            datagram.end = at + path::SIZE + bytes.len();
            let bytes = match offset {
                0 => {
                    bytes[..network::SIZE].copy_from_slice(&network::emit(header));
                    &mut bytes[network::SIZE..]
                }
                _ => bytes,
            };
            let (now, later) = rest.split_at(rest.len().min(bytes.len()));
            bytes[..now.len()].copy_from_slice(now);
            bytes[now.len()..].fill(0);
            rest = later;
        }
        true
    }
}

impl<P: DerefMut<Target = [u8]>> Datagram<P> {
    /// Seals the frames of a run, which begins at `start` of its place.
    pub(super) fn seal_run(&mut self, start: usize, sealer: &mut Sealer) {
        for frame in self.place[start..self.end].chunks_mut(self.cut_at) {
            sealer.seal(FrameKind::PIECE, frame);
        }
    }
}

impl<P> Datagram<P> {
    /// Bytes of each frame but the last, if these are a run, which the system is to cut up.
    #[inline]
    pub fn cut_at(&self) -> Option<usize> {
        (self.cut_at > 0).then_some(self.cut_at)
    }
}

#[cfg(test)]
mod tests;
