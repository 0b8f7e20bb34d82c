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
pub struct Arrival {
    pub(crate) delivery: Delivery<Buffer>,
    /// The place of its bytes in link memory; `None` if they are in `words`.
    pub(crate) place: Option<NonNull<u8>>,
    words: MaybeUninit<ShortWords>,
}

impl Arrival {
    /// A packet whose bytes are in link memory.
    #[inline]
    pub(crate) fn in_link(delivery: Delivery<Buffer>, place: NonNull<u8>) -> Self {
        Arrival { delivery, place: Some(place), words: MaybeUninit::uninit() }
    }

    /// Puts a plain packet into `slot`, before the link is looked at again, with its bytes if they
    /// are in no frame. It is filled where it lies: moving it would cost more than everything else
    /// about it.
    #[inline(always)]
    pub(crate) fn put(plain: &Plain, frame: Option<Buffer>, slot: &mut Option<Self>) {
        let tree = TreeId::unicast(plain.source).of(plain.protocol);
        if let Some(frame) = frame {
            let delivery = Delivery::accepted(frame, plain.size, tree);
            *slot = Some(Arrival::in_link(delivery, plain.bytes));
            return;
        }
        let delivery = Delivery::accepted(NO_BUFFER, plain.size, tree);
        let arrival = slot.insert(Arrival { delivery, place: None, words: MaybeUninit::uninit() });
        let (from, to) = (plain.bytes.as_ptr(), arrival.words.as_mut_ptr().cast::<u8>());
        // SAFETY: `ShortWords` can be read there until the link is looked at again (`Plain`), and
        // are 112 bytes long on both sides; these words are nobody else's. Two pieces of constant
        // length, because a call would cost more.
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

    /// The place of its bytes, and their number; they stay there, unchanged, until
    /// [`AnyNode::release`] and as long as the arrival is not moved.
    #[inline]
    pub fn bytes(&self) -> (NonNull<u8>, usize) {
        // Of `words` as many are there as the packet is long.
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

/// Has `look` look at the bytes of a plain packet, before the link is looked at again.
#[inline(always)]
pub(crate) fn look_at<R>(plain: &Plain, look: impl FnOnce(&[u8]) -> R) -> R {
    // SAFETY: as many bytes are there, and no correct peer writes them before the link is looked at
    // again (`Plain`), which whoever calls this does later; `look` cannot keep them.
    look(unsafe { std::slice::from_raw_parts(plain.bytes.as_ptr(), usize::from(plain.size)) })
}

/// The buffer of a packet that is in none.
pub(crate) const NO_BUFFER: Buffer = Buffer(u64::MAX);
