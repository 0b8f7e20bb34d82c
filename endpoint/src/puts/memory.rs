//! The memory of receive buffers: written from afar, whenever a peer likes.
//!
//! What this process does to it is done inside the lock of the rank's connections, so that none of it is
//! concurrent. Whoever asks for the address promises to do without the lock. A sender on the same host writes large
//! puts itself, at any time: reading bytes that are being put gives some old and some new ones, on every link. As
//! with frames, peers of one job are trusted to notify only of what they have written (`ARCHITECTURE.md`).
#![allow(unsafe_code)]

use super::heap::Heap;
use crate::MappedMemory;
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::sync::Arc;

/// Where buffers begin: at a cache line.
const ALIGNMENT: usize = 64;

/// A receive buffer's memory, of zeros at first.
pub(crate) struct Memory {
    start: NonNull<u8>,
    bytes: usize,
    keeps: Keeps,
}

/// What memory goes back to.
enum Keeps {
    /// There is none.
    Nothing,
    /// To the allocator.
    Own,
    /// It was made for its sender, who can reach it too.
    Shared(Box<dyn MappedMemory>),
    /// To the heap that it is a part of.
    Part(Arc<Heap>),
}

// SAFETY: the memory belongs to this value alone, and moves with it.
unsafe impl Send for Memory {}
// SAFETY: a shared `Memory` gives its address and no access; what reads and writes takes it mutably, which is
// to say inside the lock that it lies in. A shared `Block` gives its bytes to be read, and nobody writes them
// without the block.
unsafe impl Sync for Memory {}

impl Memory {
    /// Memory of `bytes`; `None` if there is not so much.
    pub fn new(bytes: usize) -> Option<Self> {
        let layout = Self::layout(bytes)?;
        // SAFETY: the layout has a size of at least one alignment.
        let start = NonNull::new(unsafe { alloc_zeroed(layout) })?;
        Some(Memory { start, bytes, keeps: Keeps::Own })
    }

    /// Memory that its sender writes itself.
    pub fn shared(shared: Box<dyn MappedMemory>, bytes: usize) -> Self {
        Memory { start: shared.start(), bytes, keeps: Keeps::Shared(shared) }
    }

    /// No memory.
    pub fn empty() -> Self {
        Memory { start: NonNull::<Line>::dangling().cast(), bytes: 0, keeps: Keeps::Nothing }
    }

    /// A part of a heap that nobody else has; zeros from here on.
    pub fn part(heap: &Arc<Heap>, offset: usize, bytes: usize) -> Self {
        let (start, size) = heap.range();
        assert!(offset.checked_add(bytes).is_some_and(|end| end <= size), "inside the heap");
        // SAFETY: inside the heap, as just checked, which stays mapped while `heap` lives, and nobody else's.
        let start = unsafe {
            let start = start.add(offset);
            start.write_bytes(0, bytes);
            start
        };
        Memory { start, bytes, keeps: Keeps::Part(Arc::clone(heap)) }
    }

    /// Where in its heap it begins, if it is in one.
    pub fn offset_in_heap(&self) -> Option<usize> {
        match &self.keeps {
            Keeps::Part(heap) => Some(self.start.addr().get() - heap.range().0.addr().get()),
            _ => None,
        }
    }

    /// Its sender has found it, or does not look for it.
    pub fn taken(&self) {
        if let Keeps::Shared(shared) = &self.keeps {
            shared.revoke_name();
        }
    }

    fn layout(bytes: usize) -> Option<Layout> {
        Layout::from_size_align(bytes.max(ALIGNMENT), ALIGNMENT).ok()
    }

    /// Where it begins.
    pub fn start(&self) -> Address {
        Address(self.start)
    }

    /// Copies `from` to `offset`.
    ///
    /// # Panics
    /// If it does not fit there.
    #[inline]
    pub fn write(&mut self, offset: usize, from: &[u8]) {
        self.check(offset, from.len());
        // SAFETY: the range is inside, as just checked, and `from` is elsewhere: nobody has a reference into
        // this memory.
        unsafe {
            self.start.add(offset).copy_from_nonoverlapping(NonNull::from(from).cast(), from.len());
        }
    }

    /// The bytes of a range.
    ///
    /// # Panics
    /// If it is not inside.
    pub fn slice(&mut self, offset: usize, length: usize) -> &[u8] {
        self.check(offset, length);
        // SAFETY: inside, initialized when it was made, and borrowed mutably: nobody writes meanwhile.
        unsafe { std::slice::from_raw_parts(self.start.add(offset).as_ptr(), length) }
    }

    #[inline]
    fn check(&self, offset: usize, length: usize) {
        let end = offset.checked_add(length);
        assert!(end.is_some_and(|end| end <= self.bytes), "inside the receive buffer");
    }
}

impl Drop for Memory {
    #[inline]
    fn drop(&mut self) {
        if !matches!(self.keeps, Keeps::Nothing) {
            self.give_back();
        }
    }
}

impl Memory {
    fn give_back(&mut self) {
        if let Keeps::Part(heap) = &self.keeps {
            let offset = self.start.addr().get() - heap.range().0.addr().get();
            return heap.take_back(offset, self.bytes);
        }
        let layout = Self::layout(self.bytes).filter(|_| matches!(self.keeps, Keeps::Own));
        let Some(layout) = layout else { return };
        // SAFETY: allocated with this layout, and nobody uses it any more.
        unsafe { dealloc(self.start.as_ptr(), layout) };
    }
}

/// As memory is aligned.
#[repr(align(64))]
struct Line;

/// Memory of this rank, into which others can be let put bytes ([`Packets::land`](crate::Packets::land)), and which
/// is an ordinary slice while they are not. It begins at a cache line.
///
/// Ranks of this host reach one that is part of a [`Heap`] at any time. As with frames, they are trusted to write only
/// what they were told is open (`ARCHITECTURE.md`).
pub struct Block(pub(crate) Memory);

impl Block {
    /// So many zeros; `None` if there is no memory for them.
    pub fn zeros(bytes: usize) -> Option<Self> {
        Memory::new(bytes).map(Block)
    }

    /// Where in its heap it begins, in bytes, if it is in one.
    pub fn offset_in_heap(&self) -> Option<usize> {
        self.0.offset_in_heap()
    }
}

impl Default for Block {
    /// No bytes.
    fn default() -> Self {
        Block(Memory::empty())
    }
}

impl Deref for Block {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        // SAFETY: initialized when it was made, and borrowed: who opens it to others gives the block away.
        unsafe { std::slice::from_raw_parts(self.0.start.as_ptr(), self.0.bytes) }
    }
}

impl DerefMut for Block {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and borrowed exclusively.
        unsafe { std::slice::from_raw_parts_mut(self.0.start.as_ptr(), self.0.bytes) }
    }
}

/// Where a receive buffer begins.
#[derive(Clone, Copy)]
pub(crate) struct Address(NonNull<u8>);

// SAFETY: a number; whoever uses it as an address promises to use it well (`ReceiveBuffer::start`).
unsafe impl Send for Address {}
// SAFETY: as above.
unsafe impl Sync for Address {}

impl Address {
    pub fn get(self) -> NonNull<u8> {
        self.0
    }
}

/// A receive buffer of another rank that this one reaches without a packet.
pub(crate) struct Remote {
    shared: Box<dyn MappedMemory>,
    bytes: usize,
}

impl Remote {
    /// The memory of `bytes` bytes in `shared`.
    pub fn new(shared: Box<dyn MappedMemory>, bytes: usize) -> Self {
        Remote { shared, bytes }
    }

    /// Whether the range is inside.
    pub fn holds(&self, offset: usize, length: usize) -> bool {
        offset.checked_add(length).is_some_and(|end| end <= self.bytes)
    }

    /// Copies `from` to `offset`.
    ///
    /// # Panics
    /// If it does not fit there.
    pub fn write(&mut self, offset: usize, from: &[u8]) {
        let to = self.at(offset, from.len());
        // SAFETY: `at` says that it is inside, and mapped while `self` lives; `from` is elsewhere, because
        // nobody makes references into this memory.
        unsafe { to.copy_from_nonoverlapping(NonNull::from(from).cast(), from.len()) };
    }

    /// Copies what is at `offset` into `into`.
    ///
    /// # Panics
    /// If the range is not inside.
    pub fn read(&mut self, offset: usize, into: &mut [u8]) {
        let from = self.at(offset, into.len());
        // SAFETY: as above, the other way.
        unsafe { from.copy_to_nonoverlapping(NonNull::from(&mut *into).cast(), into.len()) };
    }

    fn at(&self, offset: usize, length: usize) -> NonNull<u8> {
        assert!(self.holds(offset, length), "inside the receive buffer");
        // SAFETY: inside, as just checked.
        unsafe { self.shared.start().add(offset) }
    }
}

/// Where the answer to a question goes: bytes that the asking thread has borrowed, and waits with.
pub(crate) struct Landing {
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: the thread that made it waits until it is gone, so whoever has it has the bytes alone.
unsafe impl Send for Landing {}

impl Landing {
    /// A landing on `into`.
    ///
    /// # Safety
    /// It must be dropped before `into` is used again.
    pub unsafe fn new(into: &mut [u8]) -> Self {
        Landing { bytes: into.len(), start: NonNull::from(into).cast() }
    }

    /// Puts `bytes` there; false, and nothing happens, if they are more or fewer.
    pub fn land(&self, bytes: &[u8]) -> bool {
        if bytes.len() != self.bytes {
            return false;
        }
        // SAFETY: by the promise of `new` nobody else uses the bytes, and there are as many.
        unsafe {
            self.start.copy_from_nonoverlapping(NonNull::from(bytes).cast(), bytes.len());
        }
        true
    }
}
