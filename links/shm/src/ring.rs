//! Ring between one sender and one receiver: slots of two cache lines, each with a sequence flag of
//! its own.
//!
//! The sender writes the other words of a slot, then word 0, which holds the flag, with release
//! order. The receiver polls word 0 of the next slot. When its flag is that of the current lap, the
//! rest of the slot is there. No index is shared. So a packet of up to [`LINE_BYTES`] user bytes
//! moves one cache line, and one of up to [`INLINE_BYTES`] two adjacent ones, which processors tend
//! to fetch together.
//!
//! Nothing here keeps a sender from writing over a slot that was not read: its credits do. A ring
//! has twice as many slots as the pair has credits, so that the control packets, which need none,
//! find room too (invariant I5). A receiver returns at most `W` credits before it gets new packets
//! for them, in packets of at least half a window each, and answers one fetch-and-add at a time.

use crate::memory::{gather_words, store_words};
use crate::prefetch;
use std::ptr::NonNull;
use std::sync::atomic::AtomicU32;
use weft_link::Gather;
use weft_link::sync::{AtomicU64, Ordering};
use weft_wire::{Header, Rank, compact};

/// Number of words of a slot.
pub const SLOT_WORDS: usize = 16;
/// Size of a slot in bytes: two cache lines.
pub const SLOT_BYTES: usize = SLOT_WORDS * 8;
/// Distance in slots at which a sender prefetches the line of a later one. The receiver has that
/// line from the lap before, and a store buffer is full after three slots that all wait for theirs.
/// At a larger distance calls and their replies get in each other's way
/// (`docs/internals/performance.md`).
const AHEAD: usize = 3;
/// Flag of the first lap: memory starts as zeros. Flags may wrap, because each only has to differ
/// from that of the lap before.
const FIRST_FLAG: u32 = 1;
/// Largest number of user bytes in a slot: 112.
pub const INLINE_BYTES: usize = SLOT_BYTES - compact::SIZE;
/// Number of words of user bytes in a slot.
pub const INLINE_WORDS: usize = INLINE_BYTES / 8;
/// Number of words of user bytes in the first line of a slot.
const LINE_WORDS: usize = SLOT_WORDS / 2 - HEAD_WORDS;
/// Largest number of user bytes in the first line of a slot: 48.
pub const LINE_BYTES: usize = LINE_WORDS * 8;
/// Number of words before the user bytes.
const HEAD_WORDS: usize = SLOT_WORDS - INLINE_WORDS;

/// Slot of a ring: header words, then user bytes.
///
/// All words are atomics. So a peer that writes when it should not can confuse this rank but not
/// cause undefined behaviour. On today's machines they cost what plain words cost. User bytes are
/// read where they are, once the header was checked. Ranks trust one another with these, as with
/// the bytes of frames.
#[repr(C, align(128))]
pub struct RingSlot {
    words: [AtomicU64; SLOT_WORDS],
}

#[cfg(not(loom))]
const _: () = assert!(size_of::<RingSlot>() == SLOT_BYTES && align_of::<RingSlot>() == SLOT_BYTES);

impl RingSlot {
    /// Returns a slot that was never written.
    pub fn new() -> Self {
        RingSlot { words: std::array::from_fn(|_| AtomicU64::new(0)) }
    }
}

impl RingSlot {
    /// User words.
    pub fn payload(&self) -> [u64; INLINE_WORDS] {
        std::array::from_fn(|i| self.words[HEAD_WORDS + i].load(Ordering::Relaxed))
    }

    /// User word `index`.
    #[inline]
    pub fn word(&self, index: usize) -> u64 {
        self.words[HEAD_WORDS + index].load(Ordering::Relaxed)
    }

    /// Address of the user bytes.
    #[inline(always)]
    pub fn bytes(&self) -> NonNull<u8> {
        NonNull::from(&self.words[HEAD_WORDS..]).cast()
    }
}

impl Default for RingSlot {
    fn default() -> Self {
        Self::new()
    }
}

/// Cursor in a ring of slots. Any thread may read at it; one at a time moves it.
pub trait Cursor {
    /// Slot at the cursor.
    fn current(&self) -> &RingSlot;

    /// Slot before it.
    fn previous(&self) -> &RingSlot;

    /// Address of the slot so many after it, for prefetches only: the slot need not exist.
    fn ahead(&self, slots: usize) -> *const RingSlot;

    /// Moves to the next slot. True if that is the first one: a lap begins.
    fn advance(&self) -> bool;
}

/// Sender's end of a ring.
pub struct Producer<C> {
    cursor: C,
    /// Flag of the current lap.
    flag: u32,
}

impl<C: Cursor> Producer<C> {
    /// Returns the end of a ring that nobody has written to. `cursor` is at its first slot.
    pub fn new(cursor: C) -> Self {
        Producer { cursor, flag: FIRST_FLAG }
    }

    /// Writes the next slot. `payload_kind` is the link's own byte. The first `N` user words follow
    /// the header, whatever the size in it.
    #[inline(always)]
    pub fn push<const N: usize>(&mut self, header: &Header, payload_kind: u8, words: &[u64; N]) {
        store_words(&self.cursor.current().words[HEAD_WORDS..][..N], words);
        self.publish(header, payload_kind);
    }

    /// Does what [`Self::push`] does, with the words that the packet's bytes are in. They are
    /// copied one by one: memory that was just filled is read in no larger pieces than it was
    /// written in, and no line of it is read that was not filled, or each packet would wait for its
    /// lines to come from whoever read that memory last.
    ///
    /// # Panics
    /// If a slot has fewer words.
    #[inline(always)]
    pub fn push_words(&mut self, header: &Header, payload_kind: u8, words: &[AtomicU64]) {
        self.ask_for_second_line(header);
        let slot = self.cursor.current();
        for (to, from) in slot.words[HEAD_WORDS..][..words.len()].iter().zip(words) {
            to.store(from.load(Ordering::Relaxed), Ordering::Relaxed);
        }
        self.publish(header, payload_kind);
    }

    /// Does what [`Self::push`] does, with `header.size` bytes that are gathered in the slot.
    ///
    /// # Panics
    /// If a slot has fewer bytes.
    #[inline(always)]
    pub fn push_gathered(&mut self, header: &Header, payload_kind: u8, bytes: &impl Gather) {
        self.ask_for_second_line(header);
        let size = usize::from(header.size);
        gather_words(&self.cursor.current().words[HEAD_WORDS..], size, bytes);
        self.publish(header, payload_kind);
    }

    /// Prefetches the second line of a later slot, if this packet has one, too.
    #[inline(always)]
    fn ask_for_second_line(&self, header: &Header) {
        if usize::from(header.size) > LINE_BYTES {
            prefetch::for_writing(self.cursor.ahead(AHEAD).wrapping_byte_add(SLOT_BYTES / 2));
        }
    }

    /// Writes the header of the next slot, which the receiver may read from then on.
    #[inline(always)]
    fn publish(&mut self, header: &Header, payload_kind: u8) {
        let [word0, word1] = compact::emit(header, self.flag, payload_kind);
        let (slot, ahead) = (self.cursor.current(), self.cursor.ahead(AHEAD));
        slot.words[1].store(word1, Ordering::Relaxed);
        slot.words[0].store(word0, Ordering::Release);
        prefetch::for_writing(ahead);
        if self.cursor.advance() {
            self.flag = self.flag.wrapping_add(1);
        }
    }
}

/// Receiver's end of a ring. One thread at a time takes slots, and any may check for one. For that
/// the flag is an atomic, which costs what a plain word costs.
pub struct Consumer<C> {
    cursor: C,
    /// Flag of the next slot once it is written.
    flag: AtomicU32,
}

impl<C: Cursor> Consumer<C> {
    /// Returns the end of a ring that nobody has read from. `cursor` is at its first slot.
    pub fn new(cursor: C) -> Self {
        Consumer { cursor, flag: AtomicU32::new(FIRST_FLAG) }
    }

    /// True if the next slot has been written.
    #[inline(always)]
    pub fn has_next(&self) -> bool {
        self.head().is_some()
    }

    /// Next slot and its word 0, if it has been written.
    #[inline(always)]
    fn head(&self) -> Option<(&RingSlot, u64)> {
        let slot = self.cursor.current();
        let word0 = slot.words[0].load(Ordering::Acquire);
        (compact::flag(word0) == self.flag.load(Ordering::Relaxed)).then_some((slot, word0))
    }

    /// Takes the next slot, if it has been written, and returns its header words and the slot.
    /// Credits keep the sender from writing there again before the receiver has taken more, or has
    /// returned the credit of the packet.
    #[inline]
    pub fn pop(&self) -> Option<([u64; HEAD_WORDS], &RingSlot)> {
        let taken = self.peek()?;
        self.advance();
        Some(taken)
    }

    /// Next slot with its header words, if it has been written.
    #[inline(always)]
    pub fn peek(&self) -> Option<([u64; HEAD_WORDS], &RingSlot)> {
        let (slot, word0) = self.head()?;
        Some(([word0, slot.words[1].load(Ordering::Relaxed)], slot))
    }

    /// Header and slot of the next packet, if it is from `source`, [plain](compact::plain), and of
    /// this payload kind.
    #[inline(always)]
    pub fn peek_plain(
        &self,
        payload_kind: u8,
        source: Rank,
    ) -> Option<(compact::PlainHeader, &RingSlot)> {
        let slot = self.cursor.current();
        let word0 = slot.words[0].load(Ordering::Acquire);
        let words = [word0, slot.words[1].load(Ordering::Relaxed)];
        let plain = compact::plain(words, self.flag.load(Ordering::Relaxed), payload_kind, source)?;
        Some((plain, slot))
    }

    /// Slot that was taken last.
    pub fn latest(&self) -> &RingSlot {
        self.cursor.previous()
    }

    /// Takes the slot that [`Self::peek`] returned.
    #[inline(always)]
    pub fn advance(&self) {
        if self.cursor.advance() {
            let flag = self.flag.load(Ordering::Relaxed).wrapping_add(1);
            self.flag.store(flag, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests;
