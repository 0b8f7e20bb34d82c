//! The rings between a socket and the kernel.
//!
//! Each is written by one side and read by the other: descriptors first, then the index of the
//! writer with release; the reader's index says what can be written again. What is on our side of a
//! shared ring is guarded by whoever owns it (`rings.rs`).

use rustix::net::xdp::XdpRingOffset;
use std::io;
use std::os::fd::BorrowedFd;
use std::sync::atomic::Ordering;
use weft_datagram::memory::PageMapping;

/// Set in a ring's flags while the kernel wants a system call to go on.
const NEED_WAKEUP: u32 = 1;

/// A place in a ring: where in the memory for frames one begins, and how many bytes it has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Descriptor {
    pub at: u64,
    pub bytes: u32,
}

/// One ring, mapped.
pub(crate) struct Ring {
    memory: PageMapping,
    producer: usize,
    consumer: usize,
    flags: usize,
    descriptors: usize,
    size: u32,
    /// Double words of a descriptor: two, or one that is only a place.
    words: usize,
}

impl Ring {
    /// The ring of `size` descriptors at this offset of the socket.
    pub fn map(
        socket: BorrowedFd<'_>,
        page_offset: u64,
        layout: &XdpRingOffset,
        size: u32,
        words: usize,
    ) -> io::Result<Self> {
        let descriptors = layout.desc as usize;
        let flags = layout.flags.ok_or(io::ErrorKind::Unsupported)? as usize;
        let length = descriptors + size as usize * words * 8;
        Ok(Ring {
            memory: PageMapping::of_ring(socket, page_offset, length)?,
            producer: layout.producer as usize,
            consumer: layout.consumer as usize,
            flags,
            descriptors,
            size,
            words,
        })
    }

    /// Descriptors that were written and not read.
    #[inline]
    pub fn filled(&self) -> u32 {
        let consumed = self.memory.u32_at(self.consumer).load(Ordering::Acquire);
        self.memory.u32_at(self.producer).load(Ordering::Acquire).wrapping_sub(consumed)
    }

    /// Writes one; false if the ring is full. For rings that the kernel reads.
    #[inline]
    pub fn push(&self, descriptor: Descriptor) -> bool {
        if self.filled() >= self.size {
            return false;
        }
        let next = self.memory.u32_at(self.producer).load(Ordering::Relaxed);
        let place = self.place(next);
        self.memory.u64_at(place).store(descriptor.at, Ordering::Relaxed);
        if self.words == 2 {
            // The upper half, options, is for packets in several pieces.
            self.memory.u64_at(place + 8).store(u64::from(descriptor.bytes), Ordering::Relaxed);
        }
        self.memory.u32_at(self.producer).store(next.wrapping_add(1), Ordering::Release);
        true
    }

    /// Reads one. For rings that the kernel writes.
    #[inline]
    pub fn pop(&self) -> Option<Descriptor> {
        let next = self.memory.u32_at(self.consumer).load(Ordering::Relaxed);
        if self.memory.u32_at(self.producer).load(Ordering::Acquire) == next {
            return None;
        }
        let place = self.place(next);
        let at = self.memory.u64_at(place).load(Ordering::Relaxed);
        let bytes = match self.words {
            2 => self.memory.u64_at(place + 8).load(Ordering::Relaxed) as u32,
            _ => 0,
        };
        self.memory.u32_at(self.consumer).store(next.wrapping_add(1), Ordering::Release);
        Some(Descriptor { at, bytes })
    }

    /// True if the kernel waits for a system call.
    #[inline]
    pub fn needs_wakeup(&self) -> bool {
        self.memory.u32_at(self.flags).load(Ordering::Relaxed) & NEED_WAKEUP != 0
    }

    #[inline]
    fn place(&self, index: u32) -> usize {
        self.descriptors + (index & (self.size - 1)) as usize * self.words * 8
    }
}
