//! Heaps: memory for blocks that ranks of the same host write without packets. One file, and one
//! mapping at each of them, however many blocks there are.

use super::memory::{Block, Memory, ReadBlock, RemoteMemory};
use crate::Rank;
use crate::trace::Trace;
use std::collections::BTreeMap;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use weft_link::memory::{MappedMemory, NAME_BYTES, SharedMemory};

/// Alignment of blocks, in bytes.
pub(crate) const GRAIN: usize = 64;

/// Memory of this rank for [`Block`]s.
pub struct Heap {
    memory: Box<dyn MappedMemory>,
    name: HeapName,
    free: Mutex<Free>,
}

/// Name by which another rank maps a heap.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct HeapName {
    /// Its size in bytes.
    pub bytes: u64,
    /// Its name at the link.
    pub name: [u8; NAME_BYTES],
}

impl Heap {
    /// A heap of `bytes`, in memory that others can map; `None` if there is none.
    pub(super) fn new(shared: &dyn SharedMemory, bytes: usize) -> Option<Arc<Self>> {
        let (memory, name) = shared.create(None, bytes).ok().flatten()?;
        let (name, free) = (HeapName { bytes: bytes as u64, name }, Mutex::new(Free::new(bytes)));
        Some(Arc::new(Heap { memory, name, free }))
    }

    /// Its name for other ranks.
    pub fn name(&self) -> HeapName {
        self.name
    }

    /// A block of `bytes` zeros; `None` if no such piece is left.
    pub fn block(self: &Arc<Self>, bytes: usize) -> Option<Block> {
        let offset = self.free().take(bytes)?;
        Some(Block(Memory::part(self, offset, bytes)))
    }

    pub(crate) fn take_back(&self, offset: usize, bytes: usize) {
        self.free().give(offset, bytes);
    }

    /// Its start, and its size in bytes.
    pub(crate) fn range(&self) -> (NonNull<u8>, usize) {
        (self.memory.start(), self.name.bytes as usize)
    }

    fn free(&self) -> MutexGuard<'_, Free> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Remote heap: the heap of another rank of this host, mapped.
pub struct RemoteHeap {
    trace: Trace,
    rank: Rank,
    memory: RemoteMemory,
}

impl RemoteHeap {
    /// The heap that `rank` has under `name`; `None` if it cannot be mapped.
    pub(super) fn new(
        shared: &dyn SharedMemory,
        rank: Rank,
        name: &HeapName,
        trace: &Trace,
    ) -> Option<Self> {
        let bytes = usize::try_from(name.bytes).ok()?;
        let memory = shared.attach(rank, &name.name, bytes).ok()?;
        Some(RemoteHeap { trace: trace.clone(), rank, memory: RemoteMemory::new(memory, bytes) })
    }

    /// Copies `bytes` to `offset`, which that rank has opened; false, and nothing happens, if it is
    /// not inside.
    pub fn write(&mut self, offset: usize, bytes: &[u8]) -> bool {
        let inside = self.memory.holds(offset, bytes.len());
        if inside {
            self.memory.write(offset, bytes);
            self.trace.record_put(self.rank, bytes.len());
        }
        inside
    }

    /// The block at `offset`, which that rank leaves as it is until it is told that nobody reads it
    /// here any more; `None` if no block of so many bytes can be there.
    pub fn lent(&self, offset: usize, bytes: usize) -> Option<ReadBlock> {
        self.memory.lent(offset, bytes).filter(|_| offset.is_multiple_of(GRAIN))
    }
}

/// Free pieces of a heap: their lengths by their offsets. No two touch.
struct Free(BTreeMap<usize, usize>);

impl Free {
    fn new(bytes: usize) -> Self {
        Free(BTreeMap::from([(0, bytes)]))
    }

    /// Takes the first piece that is large enough.
    fn take(&mut self, bytes: usize) -> Option<usize> {
        let bytes = rounded(bytes)?;
        let (&at, &length) = self.0.iter().find(|&(_, &length)| length >= bytes)?;
        self.0.remove(&at);
        if length > bytes {
            self.0.insert(at + bytes, length - bytes);
        }
        Some(at)
    }

    /// Gives a piece back.
    fn give(&mut self, mut at: usize, bytes: usize) {
        let Some(mut length) = rounded(bytes) else { return };
        if let Some(after) = self.0.remove(&(at + length)) {
            length += after;
        }
        if let Some((&before, &free)) = self.0.range(..at).next_back()
            && before + free == at
        {
            (at, length) = (before, free + length);
        }
        self.0.insert(at, length);
    }
}

/// Size of a piece that holds `bytes`; one for no bytes takes up room too.
fn rounded(bytes: usize) -> Option<usize> {
    bytes.max(1).checked_next_multiple_of(GRAIN)
}

#[cfg(test)]
mod tests;
