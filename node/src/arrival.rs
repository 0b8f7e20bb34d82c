//! Received packets in the hands of systems.
#![allow(unsafe_code)]

use std::ptr::NonNull;
use weft_link::{Buffer, Short, ShortWords};
use weft_protocol::Delivery;
use weft_wire::{GroupId, Rank, TreeId};

/// A received packet in the hands of the client.
#[derive(Debug)]
#[must_use = "a packet that is not released costs its sender a credit for ever"]
pub struct Arrival {
    pub(crate) delivery: Delivery<Buffer>,
    /// The place of its bytes in link memory; `None` if they are in `words`.
    pub(crate) place: Option<NonNull<u8>>,
    pub(crate) words: ShortWords,
}

impl Arrival {
    /// A packet whose bytes are in link memory.
    #[inline]
    pub(crate) fn in_link(delivery: Delivery<Buffer>, place: NonNull<u8>) -> Self {
        Arrival { delivery, place: Some(place), words: ShortWords::default() }
    }

    /// A short packet, with its bytes.
    #[inline(always)]
    pub(crate) fn short(short: &Short) -> Self {
        let tree = TreeId::unicast(short.source).of(short.protocol);
        let delivery = Delivery::accepted(NO_BUFFER, short.size, tree);
        Arrival { delivery, place: None, words: short.words }
    }

    /// The rank that sent the packet.
    #[inline]
    pub fn origin(&self) -> Rank {
        self.delivery.origin()
    }

    /// The group that it was multicast to, if it was.
    #[inline]
    pub fn group(&self) -> Option<GroupId> {
        self.delivery.tree.group()
    }

    /// The place of its bytes, and their number; they stay there, unchanged, until
    /// [`AnyNode::release`] and as long as the arrival is not moved.
    #[inline]
    pub fn bytes(&self) -> (NonNull<u8>, usize) {
        let place = self.place.unwrap_or(NonNull::from(&self.words).cast());
        (place, usize::from(self.delivery.size))
    }
}

impl Arrival {
    /// Has `look` look at its bytes.
    #[inline]
    pub(crate) fn look<R>(&self, look: impl FnOnce(&[u8]) -> R) -> R {
        let (place, size) = self.bytes();
        // SAFETY: the place is in this arrival, which is borrowed until `look` has returned, or in
        // link memory: there `size` bytes stay, unchanged by correct peers, until the arrival is
        // released, which takes it. Whoever calls this in here has the node, and so the memory.
        look(unsafe { std::slice::from_raw_parts(place.as_ptr(), size) })
    }
}

/// The buffer of a packet that is in none.
pub(crate) const NO_BUFFER: Buffer = Buffer(u64::MAX);
