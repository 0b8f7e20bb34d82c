//! Received packets in the hands of systems.
#![allow(unsafe_code)]

use std::mem::MaybeUninit;
use std::ptr::NonNull;
use weft_link::{Buffer, Plain, ShortWords};
use weft_protocol::Delivery;
use weft_wire::{GroupId, Rank, TreeId};

/// User bytes of most short packets; these are copied at once.
const FEW_BYTES: usize = 48;

/// A received packet in the hands of the client.
#[derive(Debug)]
#[must_use = "a packet that is not released costs its sender a credit for ever"]
pub(crate) struct Arrival {
    pub delivery: Delivery<Buffer>,
    /// The address of its bytes in link memory; `None` if they are in `words`.
    pub start: Option<NonNull<u8>>,
    words: MaybeUninit<ShortWords>,
}

impl Arrival {
    /// A packet whose bytes are in link memory.
    #[inline]
    pub fn in_link(delivery: Delivery<Buffer>, start: NonNull<u8>) -> Self {
        Arrival { delivery, start: Some(start), words: MaybeUninit::uninit() }
    }

    /// Fills `slot` with a plain packet, before the link is looked at again, with its bytes if they
    /// are in no frame. It is filled where it lies: moving it would cost more than everything else
    /// about it.
    #[inline(always)]
    pub fn fill(plain: &Plain, frame: Option<Buffer>, slot: &mut Option<Self>) {
        let tree = TreeId::unicast(plain.source).of(plain.protocol);
        if let Some(frame) = frame {
            let delivery = Delivery::accepted(frame, plain.size, tree);
            *slot = Some(Arrival::in_link(delivery, plain.bytes));
            return;
        }
        let delivery = Delivery::accepted(Buffer::NONE, plain.size, tree);
        let arrival = slot.insert(Arrival { delivery, start: None, words: MaybeUninit::uninit() });
        let (from, to) = (plain.bytes.as_ptr(), arrival.words.as_mut_ptr().cast::<u8>());
        // SAFETY: `ShortWords` can be read there until the link is looked at again (`Plain`), and
        // are 112 bytes long on both sides; these words belong to this arrival alone. Two pieces of
        // constant length, because a call would cost more.
        unsafe {
            to.copy_from_nonoverlapping(from, FEW_BYTES);
            if usize::from(plain.size) > FEW_BYTES {
                const MORE: usize = size_of::<ShortWords>() - FEW_BYTES;
                to.add(FEW_BYTES).copy_from_nonoverlapping(from.add(FEW_BYTES), MORE);
            }
        }
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

    /// The address of its bytes, and their number; they stay there, unchanged, until
    /// [`AnyNode::release`] and as long as the arrival is not moved.
    #[inline]
    pub fn bytes(&self) -> (NonNull<u8>, usize) {
        // Of `words` as many are there as the packet is long.
        let start = self.start.unwrap_or(NonNull::from(&self.words).cast());
        (start, usize::from(self.delivery.size))
    }
}

impl Arrival {
    /// Calls `look` with its bytes.
    #[inline]
    pub fn look<R>(&self, look: impl FnOnce(&[u8]) -> R) -> R {
        let (start, size) = self.bytes();
        // SAFETY: the address is in this arrival, which is borrowed until `look` has returned, or
        // in link memory: there `size` bytes stay, unchanged by correct peers, until the arrival is
        // released, which takes it. All callers run on behalf of the node, which keeps link memory
        // mapped.
        look(unsafe { std::slice::from_raw_parts(start.as_ptr(), size) })
    }
}

/// Calls `look` with the bytes of a plain packet, before the link is looked at again.
#[inline(always)]
pub(crate) fn look_at<R>(plain: &Plain, look: impl FnOnce(&[u8]) -> R) -> R {
    // SAFETY: as many bytes are there, and no correct peer writes them before the link is looked at
    // again (`Plain`), which the caller does later; `look` cannot keep them.
    look(unsafe { std::slice::from_raw_parts(plain.bytes.as_ptr(), usize::from(plain.size)) })
}
