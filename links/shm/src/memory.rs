//! Mapped memory, and typed views of it that keep it mapped.
//!
//! Most of the `unsafe` of this crate, and why it is sound: a [`Mapping`] is a live `mmap` of a
//! memfd that is sealed against shrinking, so no access inside it can fault. Memory that peers may
//! write at any moment is accessed only through atomics ([`View`]). Frames are handed out as raw
//! pointers, whose use is proven where they are used, and so are the user bytes of slots.
#![allow(unsafe_code)]

#[cfg(not(any(miri, tsan)))]
mod file;
#[cfg(any(miri, tsan))]
#[path = "memory/one_process.rs"]
mod file;

pub(crate) use file::create;

use crate::ring::{self, INLINE_WORDS, RingSlot};
use std::marker::PhantomData;
use std::ops::{Deref, Range};
use std::os::fd::OwnedFd;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::{io, slice};
use weft_link::Gather;

/// Shared mapping of a part of a memfd.
pub struct Mapping {
    start: NonNull<u8>,
    length: usize,
}

// SAFETY: a mapping is only an address range; what is in it is reached through atomics or through
// raw pointers that carry their own proofs.
unsafe impl Send for Mapping {}
// SAFETY: as above; `&Mapping` offers no access to the bytes.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps `part` of `file`, with bounds that are multiples of the page size, read-only unless
    /// `writable`.
    ///
    /// # Errors
    /// An error of `mmap`, or `InvalidInput` if the file is shorter than `part` or may still
    /// shrink.
    pub fn new(file: &OwnedFd, part: Range<usize>, writable: bool) -> io::Result<Self> {
        let (start, length) = (file::map(file, part.clone(), writable)?, part.len());
        Ok(Mapping { start, length })
    }

    /// Address of byte `offset`. `length` bytes from there must be inside.
    pub fn at(&self, offset: usize, length: usize) -> NonNull<u8> {
        assert!(offset.checked_add(length).is_some_and(|end| end <= self.length));
        // SAFETY: asserted to be inside the mapping.
        unsafe { self.start.add(offset) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: views hold an `Arc` to this mapping, so none is left; frames given out as raw
        // pointers end with the link, which holds one too.
        unsafe { file::unmap(self.start, self.length) };
    }
}

/// Type that may be seen through a [`View`].
///
/// # Safety
/// Any bytes must be a valid value, and other processes may write it at any time: atomics, and
/// plain structures of atomics.
pub unsafe trait Shareable {}

// SAFETY: an atomic integer, valid for any bytes.
unsafe impl Shareable for AtomicU8 {}
// SAFETY: as above.
unsafe impl Shareable for AtomicU32 {}
// SAFETY: as above.
unsafe impl Shareable for AtomicU64 {}
// SAFETY: atomic words and no padding (asserted beside its definition).
unsafe impl Shareable for RingSlot {}

/// Writes `from` to `to`, which has as many words, before any peer is notified to read them. It
/// writes larger pieces than words, which atomics could not be.
#[inline(always)]
pub(crate) fn store_words(to: &[AtomicU64], from: &[u64]) {
    assert!(to.len() == from.len());
    // SAFETY: the ranges have one length, and do not overlap: `from` is no shared memory. Writing
    // through a shared reference is what atomics are for; correct peers do not read at the same
    // time, and what others read is their own affair.
    unsafe {
        let to = std::ptr::from_ref(to).cast::<u64>().cast_mut();
        to.copy_from_nonoverlapping(from.as_ptr(), from.len());
    }
}

/// Gathers `from` in the first `size` bytes of words, before any peer is notified to read them.
///
/// # Panics
/// If the words have fewer bytes.
#[inline(always)]
pub(crate) fn gather_words(to: &[AtomicU64], size: usize, from: &impl Gather) {
    assert!(size <= size_of_val(to), "{size} bytes are too many for a slot");
    let bytes = std::ptr::from_ref(to).cast::<u8>().cast_mut();
    // SAFETY: as many bytes are there (asserted), which any values are valid for. Only this rank
    // writes them, for which it has its ring borrowed exclusively, and correct peers read them when
    // they are told to, which is later. Values that incorrect peers read are their own affair.
    from.gather(unsafe { slice::from_raw_parts_mut(bytes, size) });
}

/// View of an array of `T` inside a mapping, which it keeps alive.
pub struct View<T> {
    start: NonNull<T>,
    count: usize,
    _mapping: Arc<Mapping>,
    _of: PhantomData<T>,
}

// SAFETY: a view is an `Arc` and an address inside it; `T` is made of atomics, which are `Sync`.
unsafe impl<T: Shareable + Sync> Send for View<T> {}
// SAFETY: as above.
unsafe impl<T: Shareable + Sync> Sync for View<T> {}

impl<T: Shareable> View<T> {
    /// Returns a view of `count` values from byte `offset` of `mapping` on.
    pub fn new(mapping: &Arc<Mapping>, offset: usize, count: usize) -> Self {
        let start = mapping.at(offset, count * size_of::<T>()).cast::<T>();
        assert!(start.is_aligned() && count > 0, "a view must be aligned, and see something");
        View { start, count, _mapping: Arc::clone(mapping), _of: PhantomData }
    }
}

impl<T> Clone for View<T> {
    fn clone(&self) -> Self {
        let View { start, count, ref _mapping, _of } = *self;
        View { start, count, _mapping: Arc::clone(_mapping), _of }
    }
}

impl<T: Shareable> Deref for View<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        // SAFETY: `new` checked that the range is inside the mapping and aligned; the mapping
        // lives as long as the view; any bytes are a valid `T`, which is made of atomics, so
        // writes by other processes are no data races.
        unsafe { slice::from_raw_parts(self.start.as_ptr(), self.count) }
    }
}

/// Cursor in an array of slots inside a mapping, which it keeps alive.
pub struct Cursor {
    /// Address of the current slot, always inside of `slots`.
    at: AtomicPtr<RingSlot>,
    slots: View<RingSlot>,
    /// Address behind the last slot.
    end: usize,
}

impl Cursor {
    /// Returns a cursor at the first of these slots.
    pub fn new(slots: View<RingSlot>) -> Self {
        let start = slots.start.as_ptr();
        Cursor { at: AtomicPtr::new(start), end: start.wrapping_add(slots.count).addr(), slots }
    }
}

impl ring::Cursor for Cursor {
    #[inline(always)]
    fn current(&self) -> &RingSlot {
        // SAFETY: it is inside of `slots`; the rest as for views.
        unsafe { &*self.at.load(Ordering::Relaxed) }
    }

    fn previous(&self) -> &RingSlot {
        let at = self.at.load(Ordering::Relaxed);
        let start = self.slots.start.as_ptr();
        let next = if at == start { start.wrapping_add(self.slots.count) } else { at };
        // SAFETY: the slot before one of the view, or the last one of it; it sees one at least.
        unsafe { &*next.wrapping_sub(1) }
    }

    #[inline(always)]
    fn ahead(&self, slots: usize) -> *const RingSlot {
        self.at.load(Ordering::Relaxed).wrapping_add(slots)
    }

    #[inline(always)]
    fn advance(&self) -> bool {
        let next = self.at.load(Ordering::Relaxed).wrapping_add(1);
        let is_lap = next.addr() == self.end;
        let next = if is_lap { self.slots.start.as_ptr() } else { next };
        self.at.store(next, Ordering::Relaxed);
        is_lap
    }
}

/// View of one `T` inside a mapping, which it keeps alive.
pub struct MappedWord<T>(View<T>);

impl<T> Clone for MappedWord<T> {
    fn clone(&self) -> Self {
        MappedWord(self.0.clone())
    }
}

impl<T: Shareable> MappedWord<T> {
    /// Returns a view of the value at byte `offset` of `mapping`.
    pub fn new(mapping: &Arc<Mapping>, offset: usize) -> Self {
        MappedWord(View::new(mapping, offset, 1))
    }
}

impl<T: Shareable> Deref for MappedWord<T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: as for views; `new` checked that there is one.
        unsafe { self.0.start.as_ref() }
    }
}

/// Frames of one segment: equal pieces of a mapping, which they keep alive. They are handed out as
/// addresses, because the protocol decides who may access a frame when.
pub struct Frames {
    start: NonNull<u8>,
    bytes: usize,
    count: u32,
    _mapping: Arc<Mapping>,
}

// SAFETY: an `Arc` and an address inside it; frames are only given out as raw pointers.
unsafe impl Send for Frames {}
// SAFETY: as above.
unsafe impl Sync for Frames {}

impl Frames {
    /// Returns `count` frames of `bytes` bytes each, from byte `offset` of `mapping` on.
    pub fn new(mapping: &Arc<Mapping>, offset: usize, bytes: usize, count: u32) -> Self {
        let start = mapping.at(offset, bytes * count as usize);
        assert!(bytes.is_multiple_of(64) && start.addr().get().is_multiple_of(64));
        assert!(bytes >= INLINE_WORDS * 8, "a frame holds what a slot does");
        Frames { start, bytes, count, _mapping: Arc::clone(mapping) }
    }

    /// Address of the first byte of frame `index`.
    #[inline]
    pub fn at(&self, index: u32) -> NonNull<u8> {
        assert!(index < self.count, "there is no frame {index}");
        // SAFETY: `new` checked that all `count` frames are inside the mapping.
        unsafe { self.start.add(index as usize * self.bytes) }
    }

    /// Copies the first bytes of frame `index`, as many as `into` has. The frame must have as many.
    pub fn copy_out(&self, index: u32, into: &mut [u8]) {
        for (word, bytes) in self.words(index, into.len()).iter().zip(into.chunks_mut(8)) {
            bytes.copy_from_slice(&word.load(Ordering::Relaxed).to_ne_bytes()[..bytes.len()]);
        }
    }

    /// Copies `bytes` to the start of frame `index`, which must have as many, and up to 7 zeros
    /// behind them.
    pub fn copy_in(&self, index: u32, bytes: &[u8]) {
        for (word, bytes) in self.words(index, bytes.len()).iter().zip(bytes.chunks(8)) {
            let mut value = [0; 8];
            value[..bytes.len()].copy_from_slice(bytes);
            word.store(u64::from_ne_bytes(value), Ordering::Relaxed);
        }
    }

    /// Words that the first `size` bytes of frame `index` are in.
    #[inline(always)]
    pub(crate) fn words(&self, index: u32, size: usize) -> &[AtomicU64] {
        assert!(size <= self.bytes, "a frame has {} bytes, not {size}", self.bytes);
        let first = self.at(index).cast::<AtomicU64>();
        // SAFETY: inside the frame (asserted; its size is a multiple of 64), aligned to 8, and
        // mapped as long as `self`; nobody holds a plain reference into a frame that is not his to
        // fill, and atomics bear whatever other processes do.
        unsafe { slice::from_raw_parts(first.as_ptr(), size.div_ceil(8)) }
    }
}
