//! Inbox: packets that were received and not released, outside link memory. Slots are copied here,
//! so that the ring moves on while a client keeps a packet, and so are frames that their senders
//! need back.

use crate::ring::INLINE_WORDS;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Number of entries of a chunk.
const CHUNK: usize = 64;

/// User bytes of one small packet. They are atomics, because clients read one entry through a
/// pointer while the next is filled: no entry is ever borrowed exclusively.
#[repr(C, align(64))]
#[derive(Default)]
struct Small([AtomicU64; INLINE_WORDS]);

/// Storage of packets. That of small ones grows by chunks that never move, up to all credits of all
/// peers.
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

    /// Keeps `bytes` until [`Self::remove`], and returns the number of their entry.
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

    /// Address of the bytes of entry `index`.
    #[inline]
    pub fn bytes(&self, index: u32) -> NonNull<u8> {
        NonNull::from(&self.small(index).0).cast()
    }

    /// Words of entry `index` that its first `size` bytes are in.
    #[inline]
    pub fn words(&self, index: u32, size: usize) -> &[AtomicU64] {
        &self.small(index).0[..size.div_ceil(8)]
    }

    /// Keeps the bytes of a large packet until [`Self::remove_large`], and returns the number of
    /// their entry.
    pub fn insert_large(&mut self, bytes: Box<[u8]>) -> u32 {
        let index = self.free_large.pop().unwrap_or_else(|| {
            self.large.push(None);
            (self.large.len() - 1) as u32
        });
        self.large[index as usize] = Some(bytes);
        index
    }

    /// Address of the bytes of large entry `index`.
    pub fn large_bytes(&self, index: u32) -> NonNull<u8> {
        NonNull::from(self.large(index)).cast()
    }

    /// Bytes of large entry `index`.
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
