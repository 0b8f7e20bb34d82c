//! Memory of models: what loom watches is on the heap, and is copied word by word.

use crate::ring::{self, RingSlot};
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use weft_link::Gather;
use weft_link::sync::{AtomicU64, Ordering::Relaxed};

/// View of an array that several threads share.
pub struct View<T>(Arc<[T]>);

impl<T> Clone for View<T> {
    fn clone(&self) -> Self {
        View(Arc::clone(&self.0))
    }
}

impl<T> FromIterator<T> for View<T> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        View(values.into_iter().collect())
    }
}

impl<T> Deref for View<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

/// View of one value that several threads share.
pub struct MappedWord<T>(Arc<T>);

impl<T> Clone for MappedWord<T> {
    fn clone(&self) -> Self {
        MappedWord(Arc::clone(&self.0))
    }
}

impl<T> MappedWord<T> {
    /// Returns a view of `value`.
    pub fn new(value: T) -> Self {
        MappedWord(Arc::new(value))
    }
}

impl<T> Deref for MappedWord<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

/// Cursor in an array of slots.
pub struct Cursor {
    slots: View<RingSlot>,
    /// Index of the current one. No model looks at a cursor that another thread moves.
    at: AtomicUsize,
}

impl Cursor {
    /// Returns a cursor at the first of these slots.
    pub fn new(slots: View<RingSlot>) -> Self {
        Cursor { slots, at: AtomicUsize::new(0) }
    }
}

impl ring::Cursor for Cursor {
    fn current(&self) -> &RingSlot {
        &self.slots[self.at.load(Relaxed)]
    }

    fn previous(&self) -> &RingSlot {
        &self.slots[(self.at.load(Relaxed) + self.slots.len() - 1) % self.slots.len()]
    }

    fn ahead(&self, slots: usize) -> *const RingSlot {
        self.slots.as_ptr().wrapping_add(self.at.load(Relaxed) + slots)
    }

    fn advance(&self) -> bool {
        let next = (self.at.load(Relaxed) + 1) % self.slots.len();
        self.at.store(next, Relaxed);
        next == 0
    }
}

/// Writes `from` to `to`, which has as many words, before any peer is notified to read them.
pub(crate) fn store_words(to: &[AtomicU64], from: &[u64]) {
    assert!(to.len() == from.len());
    to.iter().zip(from).for_each(|(to, from)| to.store(*from, Relaxed));
}

/// Gathers `from` in the first `size` bytes of words, before any peer is notified to read them.
pub(crate) fn gather_words(to: &[AtomicU64], size: usize, from: &impl Gather) {
    let mut bytes = vec![0; 8 * to.len()];
    from.gather(&mut bytes[..size]);
    let (words, _) = bytes.as_chunks();
    let pairs = to.iter().zip(words);
    pairs.for_each(|(to, from)| to.store(u64::from_ne_bytes(*from), Relaxed));
}
