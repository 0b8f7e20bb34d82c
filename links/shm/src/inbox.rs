//! Packets that were received and not given back, outside link memory: slots are copied here, so
//! that the ring moves on while a client keeps a packet, and frames that their senders need back.

use crate::ring::INLINE_WORDS;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Entries that are made at once.
const CHUNK: usize = 64;

/// The user bytes of one small packet. Atomics, because clients read one entry through a pointer
/// while the next is filled: no entry is ever borrowed exclusively.
#[repr(C, align(64))]
#[derive(Default)]
struct Small([AtomicU64; INLINE_WORDS]);

/// Storage for small packets. Grows by chunks that never move, up to all credits of all peers.
pub(crate) struct Inbox {
    chunks: Vec<Arc<[Small]>>,
    free: Vec<u32>,
    large: Vec<Option<Box<[u8]>>>,
    free_large: Vec<u32>,
}

impl Inbox {
    pub fn new() -> Self {
        Inbox { chunks: Vec::new(), free: Vec::new(), large: Vec::new(), free_large: Vec::new() }
    }

    /// Keeps `bytes` until [`Self::remove`].
    #[inline]
    pub fn insert(&mut self, bytes: [u64; INLINE_WORDS]) -> u32 {
        let index = match self.free.pop() {
            Some(index) => index,
            None => self.grow(),
        };
        for (word, value) in self.small(index).0.iter().zip(bytes) {
            word.store(value, Relaxed);
        }
        index
    }

    /// Where the bytes of entry `index` are.
    #[inline]
    pub fn bytes(&self, index: u32) -> NonNull<u8> {
        NonNull::from(&self.small(index).0).cast()
    }

    /// The words of entry `index`.
    #[inline]
    pub fn words(&self, index: u32) -> [u64; INLINE_WORDS] {
        std::array::from_fn(|i| self.small(index).0[i].load(Relaxed))
    }

    /// Keeps the bytes of a large packet until [`Self::remove_large`].
    pub fn insert_large(&mut self, bytes: Box<[u8]>) -> u32 {
        let index = self.free_large.pop().unwrap_or_else(|| {
            self.large.push(None);
            (self.large.len() - 1) as u32
        });
        self.large[index as usize] = Some(bytes);
        index
    }

    /// Where the bytes of large entry `index` are.
    pub fn large_bytes(&self, index: u32) -> NonNull<u8> {
        NonNull::from(self.large(index)).cast()
    }

    /// The bytes of large entry `index`.
    pub fn large(&self, index: u32) -> &[u8] {
        let bytes = self.large[index as usize].as_deref();
        bytes.unwrap_or_else(|| unreachable!("freed while in use"))
    }

    pub fn remove_large(&mut self, index: u32) {
        self.large[index as usize] = None;
        self.free_large.push(index);
    }

    #[inline]
    pub fn remove(&mut self, index: u32) {
        self.free.push(index);
    }

    #[inline]
    fn small(&self, index: u32) -> &Small {
        &self.chunks[index as usize / CHUNK][index as usize % CHUNK]
    }

    #[cold]
    fn grow(&mut self) -> u32 {
        let first = (self.chunks.len() * CHUNK) as u32;
        self.chunks.push((0..CHUNK).map(|_| Small::default()).collect());
        self.free.extend((first + 1..first + CHUNK as u32).rev());
        first
    }
}
