//! The memory of receive buffers: written from afar, whenever a peer likes.
//!
//! What this process does to it is done inside the lock of the rank's connections, so that none of it is
//! concurrent. Whoever asks for the address promises to do without the lock. A sender on the same host writes large
//! puts itself, at any time: reading bytes that are being put gives some old and some new ones, on every link. As
//! with frames, peers of one job are trusted to notify only of what they have written (`ARCHITECTURE.md`).
#![allow(unsafe_code)]

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr::NonNull;
use weft_node::MappedMemory;

/// Where buffers begin: at a cache line.
const ALIGNMENT: usize = 64;

/// A receive buffer's memory, of zeros at first.
pub(crate) struct Memory {
    start: NonNull<u8>,
    bytes: usize,
    /// What it is in, if its sender can reach it too.
    shared: Option<Box<dyn MappedMemory>>,
}

// SAFETY: the memory belongs to this value alone, and moves with it.
unsafe impl Send for Memory {}
// SAFETY: a shared `Memory` gives its address and no access; what reads and writes takes it mutably, which is
// to say inside the lock that it lies in.
unsafe impl Sync for Memory {}

impl Memory {
    /// Memory of `bytes`; `None` if there is not so much.
    pub fn new(bytes: usize) -> Option<Self> {
        let layout = Self::layout(bytes)?;
        // SAFETY: the layout has a size of at least one alignment.
        let start = NonNull::new(unsafe { alloc_zeroed(layout) })?;
        Some(Memory { start, bytes, shared: None })
    }

    /// Memory that its sender writes itself.
    pub fn shared(shared: Box<dyn MappedMemory>, bytes: usize) -> Self {
        Memory { start: shared.start(), bytes, shared: Some(shared) }
    }

    /// Its sender has found it, or does not look for it.
    pub fn taken(&self) {
        self.shared.iter().for_each(|shared| shared.taken());
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
    fn drop(&mut self) {
        if self.shared.is_some() {
            return;
        }
        let Some(layout) = Self::layout(self.bytes) else { return };
        // SAFETY: allocated with this layout, and nobody uses it any more.
        unsafe { dealloc(self.start.as_ptr(), layout) };
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
        let end = offset.checked_add(length);
        assert!(end.is_some_and(|end| end <= self.bytes), "inside the receive buffer");
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
