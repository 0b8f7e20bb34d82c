//! Mapped regions, and accesses that end when they go out of scope: an access without its brackets
//! does not compile.

use super::outbox::Memory;
use super::slot::Slot;
use super::{Error, Regions, Result};
use crate::RegionId;
use crate::coherence::Call;
use bytemuck::Pod;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use weft_endpoint::Block;
use weft_endpoint::biased::Biased;

/// A region that this node may access, as a slice of `T`. Dropping it unmaps the region.
pub struct Mapped<T> {
    regions: Regions,
    id: RegionId,
    slot: Arc<Biased<Slot>>,
    bytes: usize,
    element: PhantomData<fn() -> T>,
}

impl<T: Pod> Mapped<T> {
    pub(super) fn new(regions: Regions, id: RegionId, slot: Arc<Biased<Slot>>) -> Result<Self> {
        let mut here = slot.enter();
        let (bytes, element) = (here.bytes(), size_of::<T>());
        if element == 0 || align_of::<T>() > align_of::<u64>() || bytes % element as u64 != 0 {
            return Err(Error::Shape { region: id, bytes, element });
        }
        here.mapped += 1;
        drop(here);
        Ok(Mapped { regions, id, slot, bytes: bytes as usize, element: PhantomData })
    }

    /// Its name.
    pub fn id(&self) -> RegionId {
        self.id
    }

    /// Elements.
    pub fn len(&self) -> usize {
        self.bytes / size_of::<T>()
    }

    /// True if there is none.
    pub fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// `rgn_start_read`: waits until nobody writes and what is here is valid. Dropping the result
    /// is `rgn_end_read`.
    ///
    /// # Errors
    /// [`Error::Misuse`] inside a write of this node, [`Error::Deleted`], [`Error::Lost`], a peer's
    /// breach, a lost rank.
    #[inline]
    pub fn read(&self) -> Result<Read<'_, T>> {
        let memory = self.call_for(Call::StartRead, Slot::lend)?;
        Ok(Read { region: self, memory: Some(memory) })
    }

    /// `rgn_start_write`: waits until nobody else reads or writes. Dropping the result is
    /// `rgn_end_write`.
    ///
    /// # Errors
    /// [`Error::Misuse`] inside a read or write of this node, [`Error::Deleted`], [`Error::Lost`],
    /// a peer's breach, a lost rank.
    #[inline]
    pub fn write(&self) -> Result<Write<'_, T>> {
        let memory = self.call_for(Call::StartWrite, |slot| self.regions.writable(slot))??;
        Ok(Write { region: self, memory })
    }

    /// Asks for a copy to read before it is needed. Never waits.
    ///
    /// # Errors
    /// A lost rank.
    pub fn prefetch(&self) -> Result<()> {
        self.call(Call::Prefetch)
    }

    /// Asks for the only copy before it is needed to write. Never waits.
    ///
    /// # Errors
    /// A lost rank.
    pub fn prefetch_to_write(&self) -> Result<()> {
        self.call(Call::PrefetchWrite)
    }

    /// `rgn_flush`: gives up what is here. Never waits.
    ///
    /// # Errors
    /// [`Error::Misuse`] inside an access, a lost rank.
    pub fn flush(&self) -> Result<()> {
        self.call(Call::Flush)
    }

    /// `rgn_delete`: ends the region everywhere, once nobody is in it.
    ///
    /// # Errors
    /// [`Error::Misuse`] inside an access, [`Error::Deleted`], [`Error::Lost`], a peer's breach, a
    /// lost rank.
    pub fn delete(self) -> Result<()> {
        self.call(Call::Delete)
    }
}

impl<T> Mapped<T> {
    fn call(&self, call: Call) -> Result<()> {
        self.call_for(call, |_| ())
    }

    #[inline]
    fn call_for<R>(&self, call: Call, take: impl FnMut(&mut Slot) -> R) -> Result<R> {
        self.regions.call(self.id, &self.slot, call, take)
    }

    #[inline]
    fn end(&self, call: Call, give_back: impl FnOnce(&mut Slot)) {
        // A destructor cannot return an error; the next waiting call returns it.
        let _ = self.regions.end(self.id, &self.slot, call, give_back);
    }
}

impl<T> Drop for Mapped<T> {
    fn drop(&mut self) {
        let mut here = self.slot.enter();
        here.mapped -= 1;
        let last = here.mapped == 0;
        drop(here);
        if last {
            self.regions.unmapped(self.id);
        }
    }
}

/// A read of a region; others may read it too.
#[must_use = "an access ends when it is dropped"]
pub struct Read<'a, T> {
    region: &'a Mapped<T>,
    memory: Option<Memory>,
}

impl<T: Pod> Deref for Read<'_, T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        let bytes: &[u8] = self.memory.as_ref().map_or(&[], |memory| memory);
        bytemuck::cast_slice(bytes)
    }
}

impl<T> Drop for Read<'_, T> {
    #[inline]
    fn drop(&mut self) {
        let memory = self.memory.take();
        self.region
            .end(Call::EndRead, |slot| memory.into_iter().for_each(|lent| slot.take_back(lent)));
    }
}

/// A write of a region; no other access is open.
#[must_use = "an access ends when it is dropped"]
pub struct Write<'a, T> {
    region: &'a Mapped<T>,
    memory: Block,
}

impl<T: Pod> Deref for Write<'_, T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        bytemuck::cast_slice(&self.memory)
    }
}

impl<T: Pod> DerefMut for Write<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        bytemuck::cast_slice_mut(&mut self.memory)
    }
}

impl<T> Drop for Write<'_, T> {
    #[inline]
    fn drop(&mut self) {
        let block = std::mem::take(&mut self.memory);
        self.region.end(Call::EndWrite, |slot| slot.put_back(block));
    }
}
