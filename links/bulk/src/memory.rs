//! Memory of the frames that packets are sent from.
//!
//! The `unsafe` of this crate. A region is a private anonymous mapping, zeros at first, of which
//! the kernel gives pages as they are touched. It is cut into frames of one size that do not
//! overlap. A frame's user bytes are written through the address that
//! [`weft_link::Link::bytes`] gave to whoever allocated it, until the packet is transmitted; from
//! there on nobody writes them until the frame is freed (I4). References are made only to frames of
//! transmitted packets, so that no reference and no such write overlap.
//!
//! A frame's last user bytes may be in *lent* memory of the program. It is read only while a frame
//! has it, and whoever lends it keeps it readable and unchanged as long ([`LentMemory`]); nothing
//! is ever written there.
#![allow(unsafe_code)]

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};
use std::io;
use std::ptr::NonNull;
use weft_link::memory::LentMemory;

use crate::record::{HEAD_BYTES, RECORD_MAX};

/// Offset of a record in its frame: the user bytes begin at a cache line.
const RECORD_AT: usize = HEAD_BYTES.next_multiple_of(64) - HEAD_BYTES;
const STRIDE: usize = (RECORD_AT + RECORD_MAX).next_multiple_of(4096);

/// Region of frames.
pub(crate) struct Memory {
    start: NonNull<u8>,
    frames: u32,
    /// By frame.
    tails: Vec<Option<Tail>>,
    /// Number of frames with a tail.
    lent: usize,
}

/// User bytes of a frame that are in lent memory.
#[derive(Clone, Copy)]
struct Tail {
    /// Number of user bytes before them, which are in the frame.
    head: usize,
    lent: LentMemory,
}

// SAFETY: a region is an address range that any thread may use, and so is lent memory; the module's
// comment names the one reader or writer of each.
unsafe impl Send for Memory {}

impl Memory {
    /// So many frames.
    pub fn new(frames: u32) -> io::Result<Self> {
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
        let access = ProtFlags::READ | ProtFlags::WRITE;
        let bytes = STRIDE * frames.max(1) as usize;
        // SAFETY: a new mapping at an address of the kernel's choice aliases no Rust object.
        let start = unsafe { mmap_anonymous(std::ptr::null_mut(), bytes, access, flags)? };
        let start = NonNull::new(start.cast())
            .ok_or_else(|| io::Error::other("the kernel mapped address 0"))?;
        Ok(Memory { start, frames, tails: vec![None; frames as usize], lent: 0 })
    }

    /// Address of the user bytes of a frame.
    #[inline]
    pub fn address(&self, frame: u32) -> NonNull<u8> {
        self.at(frame, RECORD_AT + HEAD_BYTES)
    }

    /// The first `size` user bytes of a frame whose packet is being transmitted.
    #[inline]
    pub fn body(&self, frame: u32, size: usize) -> &[u8] {
        &self.record(frame, HEAD_BYTES + size)[HEAD_BYTES..]
    }

    /// Lends a frame its user bytes from `head` on.
    pub fn lend(&mut self, frame: u32, head: usize, lent: LentMemory) {
        let before = self.tails[frame as usize].replace(Tail { head, lent });
        self.lent += usize::from(before.is_none());
    }

    /// True if frames have lent memory.
    pub fn any_lent(&self) -> bool {
        self.lent > 0
    }

    /// True if a frame has some of this memory.
    pub fn has_lent(&self, lent: LentMemory) -> bool {
        self.lent > 0 && self.tails.iter().flatten().any(|tail| tail.lent.overlaps(lent))
    }

    /// Gives frames that have some of this memory a copy of it.
    pub fn take_back(&mut self, lent: LentMemory) {
        for frame in 0..self.frames {
            if self.tails[frame as usize].is_some_and(|tail| tail.lent.overlaps(lent)) {
                self.settle(frame);
            }
        }
    }

    /// The frame has no lent memory any more, nor needs any.
    #[inline]
    pub fn end_loan(&mut self, frame: u32) {
        if self.lent > 0 {
            self.lent -= usize::from(self.tails[frame as usize].take().is_some());
        }
    }

    /// Copies what a frame has in lent memory into the frame.
    pub fn settle(&mut self, frame: u32) {
        let Some(Tail { head, lent }) = self.tails[frame as usize] else { return };
        let end = HEAD_BYTES + head + lent.bytes;
        self.record_mut(frame, end)[HEAD_BYTES + head..].copy_from_slice(bytes_of(&lent));
        self.end_loan(frame);
    }

    /// The record of `bytes` bytes of a frame whose packet is being transmitted: in the frame, and
    /// in lent memory.
    #[inline]
    pub fn parts(&self, frame: u32, bytes: usize) -> [&[u8]; 2] {
        match &self.tails[frame as usize] {
            None => [self.record(frame, bytes), &[]],
            Some(Tail { head, lent }) => [self.record(frame, HEAD_BYTES + head), bytes_of(lent)],
        }
    }

    /// Parts of a record, that in the frame to be written.
    pub fn parts_mut(&mut self, frame: u32, bytes: usize) -> (&mut [u8], &[u8]) {
        match self.tails[frame as usize] {
            None => (self.record_mut(frame, bytes), &[]),
            Some(Tail { head, lent }) => {
                let start = lent.start;
                // SAFETY: lent as `bytes_of` says, for as long as the tail is borrowed with `self`.
                let tail = unsafe { NonNull::slice_from_raw_parts(start, lent.bytes).as_ref() };
                (self.record_mut(frame, HEAD_BYTES + head), tail)
            }
        }
    }

    /// User bytes of a frame, to be written by this link itself.
    #[inline]
    pub fn body_mut(&mut self, frame: u32, size: usize) -> &mut [u8] {
        &mut self.record_mut(frame, HEAD_BYTES + size)[HEAD_BYTES..]
    }

    /// The first `bytes` bytes of the record in a frame whose packet is being transmitted.
    #[inline]
    pub fn record(&self, frame: u32, bytes: usize) -> &[u8] {
        assert!(bytes <= RECORD_MAX, "a frame is as long as a record");
        let start = self.at(frame, RECORD_AT);
        // SAFETY: in the frame, as asserted; mapped as long as `self`, initialised (zeros at
        // first), and written by nobody now (module comment).
        unsafe { NonNull::slice_from_raw_parts(start, bytes).as_ref() }
    }

    /// Record in a frame whose packet is being transmitted, to be written.
    #[inline]
    pub fn record_mut(&mut self, frame: u32, bytes: usize) -> &mut [u8] {
        assert!(bytes <= RECORD_MAX, "a frame is as long as a record");
        let start = self.at(frame, RECORD_AT);
        // SAFETY: as above; and `&mut self` is the only borrow of anything in the region.
        unsafe { NonNull::slice_from_raw_parts(start, bytes).as_mut() }
    }

    #[inline]
    fn at(&self, frame: u32, offset: usize) -> NonNull<u8> {
        assert!(frame < self.frames, "the region has that frame");
        // SAFETY: inside the mapping, of which each frame has a stride.
        unsafe { self.start.add(frame as usize * STRIDE + offset) }
    }
}

/// Bytes of lent memory, while a frame has it.
#[inline]
fn bytes_of(lent: &LentMemory) -> &[u8] {
    // SAFETY: readable and written by nobody as long as a frame has it (module comment), in whose
    // tail the borrowed `LentMemory` is.
    unsafe { NonNull::slice_from_raw_parts(lent.start, lent.bytes).as_ref() }
}

impl Drop for Memory {
    fn drop(&mut self) {
        let bytes = STRIDE * self.frames.max(1) as usize;
        // SAFETY: references into it borrow it, and whoever has an address gave up its frame before
        // the link ends. Unmapping cannot fail for a range that mmap returned.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), bytes) };
    }
}
