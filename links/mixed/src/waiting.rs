//! Packets for near ranks that wait until a frame is free for them, in the order in which they were
//! transmitted. While any wait, so do all that come after.

use std::collections::VecDeque;
use weft_link::{LinkPart, Payload};
use weft_wire::{Header, Rank};

#[derive(Default)]
pub(crate) struct Waiting(VecDeque<(Rank, Header, Carried)>);

/// Payload of a packet that waits.
enum Carried {
    /// User bytes, in memory of its own.
    Bytes(Box<[u8]>),
    /// Something that needs no frame.
    Other(Payload),
}

impl Waiting {
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn push_bytes(&mut self, to: Rank, header: &Header, bytes: &[u8]) {
        self.0.push_back((to, *header, Carried::Bytes(bytes.into())));
    }

    /// `payload` is in no buffer.
    pub fn push(&mut self, to: Rank, header: &Header, payload: Payload) {
        self.0.push_back((to, *header, Carried::Other(payload)));
    }

    /// Transmits those for which there are frames now.
    #[inline]
    pub fn retry<N: LinkPart>(&mut self, near: &mut N) {
        if !self.0.is_empty() {
            self.transmit(near);
        }
    }

    #[cold]
    fn transmit<N: LinkPart>(&mut self, near: &mut N) {
        while let Some((to, header, carried)) = self.0.front() {
            match carried {
                Carried::Bytes(bytes) if !near.transmit_copy(*to, header, bytes) => return,
                Carried::Bytes(_) => {}
                Carried::Other(payload) => near.transmit(*to, header, *payload),
            }
            self.0.pop_front();
        }
    }
}
