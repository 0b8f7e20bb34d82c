//! Memory of the program that the fabric reads and writes.
#![allow(unsafe_code)]

use std::ptr::NonNull;
use weft_link::memory::{Lent, Posted};

/// Memory of the program that the provider reads or writes itself: its address, and what of it
/// others may do with it, as its owner has promised the link.
#[derive(Clone, Copy, Debug)]
pub struct Piece(Lent);

// SAFETY: only an address, which whoever uses it proves to be good (`endpoint.rs`).
unsafe impl Send for Piece {}

impl Piece {
    /// Address of its first byte.
    pub(crate) fn start(&self) -> NonNull<u8> {
        self.0.start
    }

    /// Number of bytes.
    pub fn bytes(&self) -> usize {
        self.0.bytes
    }

    pub(crate) fn overlaps(&self, lent: Lent) -> bool {
        self.0.overlaps(lent)
    }
}

impl From<Lent> for Piece {
    fn from(lent: Lent) -> Self {
        Piece(lent)
    }
}

impl From<Posted> for Piece {
    fn from(Posted { start, bytes, .. }: Posted) -> Self {
        Piece(Lent { start, bytes })
    }
}
