//! Bytes that C reads as numbers where they are.

use std::ffi::c_void;

/// Bytes at an address that is a multiple of 8: where they are, if it is one, or moved.
pub(crate) struct Aligned<B> {
    bytes: B,
    /// A copy, if they are at another address.
    moved: Vec<u64>,
}

/// Address of no bytes.
static NOTHING: u64 = 0;

impl<B: AsRef<[u8]>> Aligned<B> {
    pub fn new(bytes: B) -> Self {
        let there = bytes.as_ref();
        let mut moved = vec![];
        if !there.is_empty() && !there.as_ptr().cast::<u64>().is_aligned() {
            moved.resize(there.len().div_ceil(size_of::<u64>()), 0);
            bytemuck::cast_slice_mut(&mut moved)[..there.len()].copy_from_slice(there);
        }
        Aligned { bytes, moved }
    }

    /// Number of bytes.
    pub fn len(&self) -> usize {
        self.bytes.as_ref().len()
    }

    /// Address of the first of them; never null.
    pub fn start(&self) -> *const c_void {
        match (self.bytes.as_ref(), &self.moved[..]) {
            ([], _) => (&raw const NOTHING).cast(),
            (there, []) => there.as_ptr().cast(),
            (_, moved) => moved.as_ptr().cast(),
        }
    }
}

#[cfg(test)]
mod tests;
