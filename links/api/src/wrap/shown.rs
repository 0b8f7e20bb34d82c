//! Shows a link to somebody when it ends.

use super::delegate;
use crate::Link;

/// The inner link, which is shown to somebody when it is dropped: for counters that are kept inside.
pub struct Shown<L: Link, F: FnMut(&L) + Send + 'static> {
    inner: L,
    to: F,
}

impl<L: Link, F: FnMut(&L) + Send + 'static> Shown<L, F> {
    /// Shows `inner` to `to`, once.
    pub fn new(inner: L, to: F) -> Self {
        Shown { inner, to }
    }
}

impl<L: Link, F: FnMut(&L) + Send + 'static> Drop for Shown<L, F> {
    fn drop(&mut self) {
        (self.to)(&self.inner);
    }
}

impl<L: Link, F: FnMut(&L) + Send + 'static> Link for Shown<L, F> {
    delegate!(surroundings, lossy, capabilities, transmit, receive, words);
}
