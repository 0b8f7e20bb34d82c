//! Memory that all ranks of a benchmark map, for floors and for telling one another where they are
//! without the thing measured.
#![allow(unsafe_code)]

use anyhow::{Context, Result};
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, ftruncate, memfd_create};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use weft_link_shm::memory::{Mapping, View};

/// Words, eight a line, that ranks count and signal with.
const WORDS: usize = 64 * 1024;
/// Bytes to copy through.
pub const BULK_BYTES: usize = 4 << 20;

/// The mapped arena.
pub struct Arena {
    words: View<AtomicU64>,
    bulk: Arc<Mapping>,
}

/// Makes the memory of an arena. The descriptor is inherited by the ranks, who learn its number.
///
/// # Errors
/// What the system says.
pub fn create() -> Result<OwnedFd> {
    let file = memfd_create("weft-bench", MemfdFlags::ALLOW_SEALING)?;
    ftruncate(&file, (WORDS * 8 + BULK_BYTES) as u64)?;
    fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
    Ok(file)
}

impl Arena {
    /// Maps the arena that was inherited as descriptor `number`.
    ///
    /// # Errors
    /// It is no arena.
    pub fn inherited(number: RawFd) -> Result<Self> {
        // SAFETY: the benchmark's launcher opened this descriptor for its ranks and nobody else
        // in this process knows it; a number that is not open makes the mapping fail.
        let file = unsafe { OwnedFd::from_raw_fd(number) };
        let context = || format!("descriptor {} is no arena", file.as_raw_fd());
        let words = Arc::new(Mapping::new(&file, 0..WORDS * 8, true).with_context(context)?);
        let bulk = WORDS * 8..WORDS * 8 + BULK_BYTES;
        let bulk = Arc::new(Mapping::new(&file, bulk, true).with_context(context)?);
        Ok(Arena { words: View::new(&words, 0, WORDS), bulk })
    }

    /// A word that shares neither its line nor the next with another of these.
    pub fn word(&self, index: usize) -> &AtomicU64 {
        &self.words[16 * index]
    }

    /// The `index`-th line from the middle of the words on: a ring for floors.
    pub fn line(&self, index: usize) -> &[AtomicU64] {
        &self.words[WORDS / 2 + 8 * index..][..8]
    }

    /// Copies `bytes` into the bulk memory at `offset`.
    pub fn copy_in(&self, offset: usize, bytes: &[u8]) {
        let to = self.bulk.at(offset, bytes.len());
        // SAFETY: in bounds (`at`); the floor's words tell the readers when to look, and no
        // reference into the bulk is held while it is written.
        unsafe { to.copy_from_nonoverlapping(std::ptr::NonNull::from(bytes).cast(), bytes.len()) }
    }

    /// Reads `length` bytes of the bulk memory where they are.
    pub fn read<T>(&self, offset: usize, length: usize, read: impl FnOnce(&[u8]) -> T) -> T {
        let from = self.bulk.at(offset, length);
        // SAFETY: in bounds (`at`); writers wait for the reader's word before they write again.
        read(unsafe { std::slice::from_raw_parts(from.as_ptr(), length) })
    }
}
