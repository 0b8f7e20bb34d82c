//! Filling and reading frames.
#![allow(unsafe_code)]

use weft_link::{Buffer, Link};
use weft_wire::Rank;

/// Writes `bytes` to the start of an allocated frame.
pub fn fill<L: Link>(link: &L, buffer: Buffer, bytes: &[u8]) {
    assert!(bytes.len() <= link.capabilities().max_payload);
    fill_any(link, buffer, bytes);
}

/// Fills a frame that was allocated for a packet to this rank.
pub fn fill_to<L: Link>(link: &mut L, to: Rank, buffer: Buffer, bytes: &[u8]) {
    assert!(bytes.len() <= payload_to(link, to));
    fill_any(link, buffer, bytes);
}

/// User bytes of a packet to this rank alone, at most.
pub fn payload_to<L: Link>(link: &mut L, to: Rank) -> usize {
    let usual = link.capabilities().max_payload;
    link.paths().and_then(|paths| paths.payload_to(to)).unwrap_or(usual)
}

fn fill_any<L: Link>(link: &L, buffer: Buffer, bytes: &[u8]) {
    let start = link.bytes(buffer);
    // SAFETY: `buffer` was allocated and not transmitted, so it has so many writable bytes, as the
    // callers checked, and nobody else touches them.
    unsafe { start.copy_from_nonoverlapping(std::ptr::NonNull::from(bytes).cast(), bytes.len()) }
}

/// Reads the first `size` bytes of a received frame.
pub fn read<L: Link>(link: &L, buffer: Buffer, size: usize) -> Vec<u8> {
    let start = link.bytes(buffer);
    // SAFETY: `buffer` was received with `size` bytes and not freed, so they are readable and stay.
    unsafe { std::slice::from_raw_parts(start.as_ptr(), size) }.to_vec()
}
