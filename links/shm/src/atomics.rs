//! The atomics of this crate: the machine's, or loom's when the rings are checked.

#[cfg(loom)]
pub use loom::sync::atomic::{AtomicU64, Ordering};
#[cfg(not(loom))]
pub use std::sync::atomic::{AtomicU64, Ordering};

#[cfg(not(loom))]
pub(crate) use crate::memory::store_words;

/// Writes `from` to as many words that no peer reads before it is told to.
#[cfg(loom)]
pub(crate) fn store_words(to: &[AtomicU64], from: &[u64]) {
    assert!(to.len() == from.len());
    to.iter().zip(from).for_each(|(to, from)| to.store(*from, Ordering::Relaxed));
}
