//! The ring between one sender and one receiver: 64-byte slots, each with its own sequence flag.
//!
//! The sender writes words 1 to 7 of a slot, then word 0, which holds the flag, with release
//! order. The receiver watches word 0 of the slot that comes next; when its flag is that of the
//! current lap the rest of the slot is there. No index is shared, so a message moves one cache line.
//!
//! Nothing here stops a sender from writing over a slot that was not read: its credits do. A ring
//! has twice as many slots as the pair has credits, so that the control packets, which need none,
//! find room too (invariant I5): a receiver returns at most `W` credits before it gets new packets
//! for them, in packets of at least half a window each, and answers one fetch-and-add at a time.

use crate::atomics::{AtomicU64, Ordering};
use crate::prefetch;
use std::ops::Deref;
use weft_wire::{Header, compact};

/// Words of a slot.
pub const SLOT_WORDS: usize = 8;
/// Bytes of a slot: a cache line.
pub const SLOT_BYTES: usize = SLOT_WORDS * 8;
/// How many slots ahead of itself a sender asks for the line. The receiver has it from the lap
/// before, and a store buffer is full after three slots that all wait for theirs. Further ahead, calls
/// and their replies get in each other's way (`docs/internals/performance.md`).
const AHEAD: u64 = 2;
/// User bytes that fit into a slot.
pub const INLINE_BYTES: usize = SLOT_BYTES - compact::SIZE;
/// Words of user bytes in a slot.
pub const INLINE_WORDS: usize = INLINE_BYTES / 8;

/// A slot: header words, then user bytes.
///
/// All words are atomics, so that a peer that writes when it should not can confuse this rank but
/// cannot make it undefined; on today's machines they cost what plain words cost.
#[repr(C, align(64))]
pub struct Slot {
    words: [AtomicU64; SLOT_WORDS],
}

#[cfg(not(loom))]
const _: () = assert!(size_of::<Slot>() == SLOT_BYTES && align_of::<Slot>() == SLOT_BYTES);

impl Slot {
    /// A slot that was never written.
    pub fn new() -> Self {
        Slot { words: std::array::from_fn(|_| AtomicU64::new(0)) }
    }
}

impl Default for Slot {
    fn default() -> Self {
        Self::new()
    }
}

/// The sender's end.
pub struct Producer<S> {
    slots: S,
    next: u64,
}

impl<S: Deref<Target = [Slot]>> Producer<S> {
    /// The end of a ring that nobody has written to. `slots` has a power of two of them.
    pub fn new(slots: S) -> Self {
        assert!(slots.len().is_power_of_two(), "a ring has a power of two of slots");
        Producer { slots, next: 0 }
    }

    /// Writes the next slot. `place` is the link's own byte; `payload` follows the header. It is
    /// written whole, whatever the header says of its size: the line moves as one anyway.
    #[inline]
    pub fn push(&mut self, header: &Header, place: u8, payload: &[u64; INLINE_WORDS]) {
        let slot = &self.slots[index(self.next, self.slots.len())];
        let [word0, word1] = compact::emit(header, lap(self.next, self.slots.len()), place);
        for (i, &value) in payload.iter().enumerate() {
            slot.words[2 + i].store(value, Ordering::Relaxed);
        }
        slot.words[1].store(word1, Ordering::Relaxed);
        slot.words[0].store(word0, Ordering::Release);
        self.next += 1;
        prefetch::for_writing(&self.slots[index(self.next + AHEAD, self.slots.len())]);
    }
}

/// The receiver's end.
pub struct Consumer<S> {
    slots: S,
    next: u64,
}

impl<S: Deref<Target = [Slot]>> Consumer<S> {
    /// The end of a ring that nobody has read from. `slots` has a power of two of them.
    pub fn new(slots: S) -> Self {
        assert!(slots.len().is_power_of_two(), "a ring has a power of two of slots");
        Consumer { slots, next: 0 }
    }

    /// Whether the next slot has been written.
    #[inline]
    pub fn has_next(&self) -> bool {
        let slot = &self.slots[index(self.next, self.slots.len())];
        let word0 = slot.words[0].load(Ordering::Acquire);
        compact::flag(word0) == lap(self.next, self.slots.len())
    }

    /// Reads the next slot, if it has been written: its header words and its user words.
    #[inline]
    pub fn pop(&mut self) -> Option<([u64; 2], [u64; INLINE_WORDS])> {
        let slot = &self.slots[index(self.next, self.slots.len())];
        let word0 = slot.words[0].load(Ordering::Acquire);
        if compact::flag(word0) != lap(self.next, self.slots.len()) {
            return None;
        }
        let payload = std::array::from_fn(|i| slot.words[2 + i].load(Ordering::Relaxed));
        let head = [word0, slot.words[1].load(Ordering::Relaxed)];
        self.next += 1;
        Some((head, payload))
    }
}

#[inline]
fn index(position: u64, slots: usize) -> usize {
    position as usize & (slots - 1)
}

/// The flag of the lap that `position` is in. Memory starts as zeros, so laps start at 1; the flag
/// may wrap, because it only has to differ from the lap before.
#[inline]
fn lap(position: u64, slots: usize) -> u32 {
    ((position >> slots.trailing_zeros()) as u32).wrapping_add(1)
}

#[cfg(test)]
mod tests;
