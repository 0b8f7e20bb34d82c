//! Atomics of this crate: the machine's, or loom's when the rings are checked.

#[cfg(loom)]
pub use loom::sync::atomic::{AtomicU64, Ordering};
#[cfg(not(loom))]
pub use std::sync::atomic::{AtomicU64, Ordering};

#[cfg(not(loom))]
pub(crate) use crate::memory::{gather_words, store_words};

/// Writes `from` to `to`, which has as many words, before any peer is notified to read them.
#[cfg(loom)]
pub(crate) fn store_words(to: &[AtomicU64], from: &[u64]) {
    assert!(to.len() == from.len());
    to.iter().zip(from).for_each(|(to, from)| to.store(*from, Ordering::Relaxed));
}

/// Gathers `from` in the first `size` bytes of words, before any peer is notified to read them.
#[cfg(loom)]
pub(crate) fn gather_words(to: &[AtomicU64], size: usize, from: &impl weft_link::Gather) {
    let mut bytes = vec![0; 8 * to.len()];
    from.gather(&mut bytes[..size]);
    let (words, _) = bytes.as_chunks();
    let pairs = to.iter().zip(words);
    pairs.for_each(|(to, from)| to.store(u64::from_ne_bytes(*from), Ordering::Relaxed));
}
