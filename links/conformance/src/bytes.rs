//! Filling and reading frames.
#![allow(unsafe_code)]

use weft_link::{Buffer, Link};

/// Writes `bytes` to the start of an allocated frame.
pub fn fill<L: Link>(link: &L, buffer: Buffer, bytes: &[u8]) {
    assert!(bytes.len() <= link.capabilities().max_payload);
    let start = link.bytes(buffer);
    // SAFETY: `buffer` was allocated and not transmitted, so its `max_payload` bytes are writable
    // and nobody else touches them.
    unsafe { start.copy_from_nonoverlapping(std::ptr::NonNull::from(bytes).cast(), bytes.len()) }
}

/// Reads the first `size` bytes of a received frame.
pub fn read<L: Link>(link: &L, buffer: Buffer, size: usize) -> Vec<u8> {
    let start = link.bytes(buffer);
    // SAFETY: `buffer` was received with `size` bytes and not freed, so they are readable and stay.
    unsafe { std::slice::from_raw_parts(start.as_ptr(), size) }.to_vec()
}
