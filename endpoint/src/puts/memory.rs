//! The memory of receive buffers: written by peers at any time.
//!
//! This process accesses it inside the lock of the rank's connections only, so that none of these
//! accesses are concurrent. A program that asks for the address promises to do without the lock. A
//! sender on the same host writes large puts itself, at any time: reading bytes that are being put
//! gives some old and some new ones, on every link. As with frames, peers of one job are trusted to
//! notify only of what they have written (`ARCHITECTURE.md`).
#![allow(unsafe_code)]

use super::heap::Heap;
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::sync::Arc;
use weft_link::memory::MappedMemory;

/// Alignment of buffers, in bytes: a cache line.
const ALIGNMENT: usize = 64;

/// A receive buffer's memory, of zeros at first.
pub(crate) struct Memory {
    start: NonNull<u8>,
    bytes: usize,
    backing: Backing,
}

/// Backing of memory: the owner to whom it goes back.
enum Backing {
    /// No memory.
    Nothing,
    /// Memory of the allocator.
    Allocated,
    /// Memory that its sender has mapped too.
    Shared(Box<dyn MappedMemory>),
    /// A part of this heap.
    Heap(Arc<Heap>),
}

// SAFETY: the memory belongs to this value alone, and moves with it.
unsafe impl Send for Memory {}
// SAFETY: a shared `Memory` gives its address and no access; reads and writes take it mutably,
// which is to say inside the lock that it lies in. A shared `Block` gives its bytes to be read, and
// they are not written without the block.
unsafe impl Sync for Memory {}

impl Memory {
    /// Memory of `bytes`; `None` if the system has not that much.
    pub fn new(bytes: usize) -> Option<Self> {
        let layout = Self::layout(bytes)?;
        // SAFETY: the layout has a size of at least one alignment.
        let start = NonNull::new(unsafe { alloc_zeroed(layout) })?;
        Some(Memory { start, bytes, backing: Backing::Allocated })
    }

    /// Memory that its sender writes itself.
    pub fn shared(shared: Box<dyn MappedMemory>, bytes: usize) -> Self {
        Memory { start: shared.start(), bytes, backing: Backing::Shared(shared) }
    }

    /// No memory.
    pub fn empty() -> Self {
        Memory { start: NonNull::<Line>::dangling().cast(), bytes: 0, backing: Backing::Nothing }
    }

    /// A part of a heap that belongs to the caller alone; zeros from here on.
    pub fn part(heap: &Arc<Heap>, offset: usize, bytes: usize) -> Self {
        let (start, size) = heap.range();
        assert!(offset.checked_add(bytes).is_some_and(|end| end <= size), "inside the heap");
        // SAFETY: inside the heap, as just checked, which stays mapped while `heap` lives, and the
        // part belongs to the caller alone.
        let start = unsafe {
            let start = start.add(offset);
            start.write_bytes(0, bytes);
            start
        };
        Memory { start, bytes, backing: Backing::Heap(Arc::clone(heap)) }
    }

    /// Its offset in its heap, in bytes, if it is in one.
    pub fn offset_in_heap(&self) -> Option<usize> {
        match &self.backing {
            Backing::Heap(heap) => Some(self.start.addr().get() - heap.range().0.addr().get()),
            _ => None,
        }
    }

    /// Tells shared memory that its sender has mapped it, or will not.
    pub fn taken(&self) {
        if let Backing::Shared(shared) = &self.backing {
            shared.revoke_name();
        }
    }

    fn layout(bytes: usize) -> Option<Layout> {
        Layout::from_size_align(bytes.max(ALIGNMENT), ALIGNMENT).ok()
    }

    /// Its start.
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
        // SAFETY: the range is inside, as just checked, and `from` is elsewhere: there are no
        // references into this memory.
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
        // SAFETY: inside, initialized when it was made, and borrowed mutably: it is not written
        // meanwhile.
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
        if !matches!(self.backing, Backing::Nothing) {
            self.give_back();
        }
    }
}

impl Memory {
    fn give_back(&mut self) {
        if let Backing::Heap(heap) = &self.backing {
            let offset = self.start.addr().get() - heap.range().0.addr().get();
            return heap.take_back(offset, self.bytes);
        }
        let layout =
            Self::layout(self.bytes).filter(|_| matches!(self.backing, Backing::Allocated));
        let Some(layout) = layout else { return };
        // SAFETY: allocated with this layout, and no longer in use.
        unsafe { dealloc(self.start.as_ptr(), layout) };
    }
}

/// Alignment of an empty block.
#[repr(align(64))]
struct Line;

/// Memory of this rank that can be opened to puts ([`Puts::land`](crate::Puts::land)), and is
/// an ordinary slice while it is not. It begins at a cache line.
///
/// Ranks of this host can write a block that is part of a [`Heap`] at any time. As with frames,
/// they are trusted to write only what they were told is open (`ARCHITECTURE.md`).
pub struct Block(pub(crate) Memory);

impl Block {
    /// So many zeros; `None` if there is no memory for them.
    pub fn zeros(bytes: usize) -> Option<Self> {
        Memory::new(bytes).map(Block)
    }

    /// Its offset in its heap, in bytes, if it is in one.
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
        // SAFETY: initialized when it was made, and borrowed: opening it to others takes the block
        // away.
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

/// Bytes that are only read, by as many as like: a block, or a part of the [`Heap`] of another rank
/// of this host, which that rank has promised to leave as it is while anybody reads it here. As
/// with frames, it is trusted to keep that (`ARCHITECTURE.md`).
pub struct ReadBlock {
    start: NonNull<u8>,
    bytes: usize,
    owner: Owner,
}

/// Owner of bytes that are only read.
enum Owner {
    /// This rank.
    Own(Block),
    /// Another one, whose memory stays mapped.
    Other(#[expect(dead_code, reason = "keeps it mapped")] Arc<dyn MappedMemory>),
}

// SAFETY: an address, and what keeps its bytes: a block, or a mapping that any thread may use.
unsafe impl Send for ReadBlock {}
// SAFETY: shared, it gives its bytes to be read, which nobody writes meanwhile: a block of this
// rank's is inside of it, and lent memory is left alone, as its rank has promised.
unsafe impl Sync for ReadBlock {}

impl ReadBlock {
    /// The block, in whose place nothing is left; `None` if it is another rank's.
    pub fn take(&mut self) -> Option<Block> {
        match std::mem::take(self) {
            ReadBlock { owner: Owner::Own(block), .. } => Some(block),
            lent => {
                *self = lent;
                None
            }
        }
    }

    /// The bytes of the block, to be written; `None` if it is another rank's.
    pub fn bytes_mut(&mut self) -> Option<&mut [u8]> {
        match &mut self.owner {
            Owner::Own(block) => Some(block),
            Owner::Other(_) => None,
        }
    }

    /// Its offset in its heap, in bytes, if it is in one of this rank.
    pub fn offset_in_heap(&self) -> Option<usize> {
        match &self.owner {
            Owner::Own(block) => block.offset_in_heap(),
            Owner::Other(_) => None,
        }
    }
}

impl Default for ReadBlock {
    /// No bytes.
    fn default() -> Self {
        Block::default().into()
    }
}

impl From<Block> for ReadBlock {
    fn from(block: Block) -> Self {
        let Memory { start, bytes, .. } = block.0;
        ReadBlock { start, bytes, owner: Owner::Own(block) }
    }
}

impl Deref for ReadBlock {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        // SAFETY: those of a block that is inside of this, where it stays, or of lent memory that
        // is mapped as long as this lives; written by nobody while they are borrowed (see above).
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.bytes) }
    }
}

/// Address of a receive buffer.
#[derive(Clone, Copy)]
pub(crate) struct Address(NonNull<u8>);

// SAFETY: a number; a program that uses it as an address promises to use it well
// (`ReceiveBuffer::start`).
unsafe impl Send for Address {}
// SAFETY: as above.
unsafe impl Sync for Address {}

impl Address {
    pub fn get(self) -> NonNull<u8> {
        self.0
    }
}

/// Memory of another rank, mapped: a receive buffer, or a heap.
pub(crate) struct RemoteMemory {
    shared: Arc<dyn MappedMemory>,
    bytes: usize,
}

impl RemoteMemory {
    /// The memory of `bytes` bytes in `shared`.
    pub fn new(shared: Box<dyn MappedMemory>, bytes: usize) -> Self {
        RemoteMemory { shared: shared.into(), bytes }
    }

    /// The bytes of a range, to be read; `None` if it is not inside.
    pub fn lent(&self, offset: usize, length: usize) -> Option<ReadBlock> {
        let start = self.holds(offset, length).then(|| self.at(offset, length))?;
        Some(ReadBlock { start, bytes: length, owner: Owner::Other(Arc::clone(&self.shared)) })
    }

    /// True if the range is inside.
    pub fn holds(&self, offset: usize, length: usize) -> bool {
        offset.checked_add(length).is_some_and(|end| end <= self.bytes)
    }

    /// Copies `from` to `offset`.
    ///
    /// # Panics
    /// If it does not fit there.
    pub fn write(&mut self, offset: usize, from: &[u8]) {
        let to = self.at(offset, from.len());
        // SAFETY: `at` says that it is inside, and mapped while `self` lives. Nobody reads it here:
        // its rank has opened it, and lends only what is not open. `from` may be what it lends.
        unsafe { to.copy_from(NonNull::from(from).cast(), from.len()) };
    }

    /// Copies the bytes at `offset` into `into`.
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

/// Buffer for the answer to a get: bytes that the asking thread has borrowed for as long as it
/// waits.
pub(crate) struct GetBuffer {
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: the thread that made it waits until it is gone, so its holder has the bytes alone.
unsafe impl Send for GetBuffer {}

impl GetBuffer {
    /// A buffer over `into`.
    ///
    /// # Safety
    /// It must be dropped before `into` is used again.
    pub unsafe fn new(into: &mut [u8]) -> Self {
        GetBuffer { bytes: into.len(), start: NonNull::from(into).cast() }
    }

    /// Copies `bytes` there; false, and nothing happens, if they are more or fewer.
    pub fn fill(&self, bytes: &[u8]) -> bool {
        if bytes.len() != self.bytes {
            return false;
        }
        // SAFETY: by the promise of `new` the bytes are not used elsewhere, and there are as many.
        unsafe {
            self.start.copy_from_nonoverlapping(NonNull::from(bytes).cast(), bytes.len());
        }
        true
    }
}
