//! Memory of the program that the fabric reads and writes.
#![allow(unsafe_code)]

use std::ptr::NonNull;
use weft_link::memory::{LentMemory, Posted};

/// Memory of the program that the provider reads or writes itself: its address, and what of it
/// others may do with it, as its owner has promised the link.
#[derive(Clone, Copy, Debug)]
pub struct ProgramMemory(LentMemory);

// SAFETY: only an address, which whoever uses it proves to be good (`endpoint.rs`).
unsafe impl Send for ProgramMemory {}

impl ProgramMemory {
    /// Address of its first byte.
    pub(crate) fn start(&self) -> NonNull<u8> {
        self.0.start
    }

    /// Number of bytes.
    pub fn bytes(&self) -> usize {
        self.0.bytes
    }

    pub(crate) fn overlaps(&self, lent: LentMemory) -> bool {
        self.0.overlaps(lent)
    }
}

impl From<LentMemory> for ProgramMemory {
    fn from(lent: LentMemory) -> Self {
        ProgramMemory(lent)
    }
}

impl From<Posted> for ProgramMemory {
    fn from(Posted { start, bytes, .. }: Posted) -> Self {
        ProgramMemory(LentMemory { start, bytes })
    }
}
