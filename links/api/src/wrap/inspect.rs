//! Wrapper that has a link inspected when it is dropped.

use super::{Wrapper, delegate};
use crate::Link;

/// Inner link, which is handed to a function when it is dropped: for counters that are kept inside.
pub struct InspectOnDrop<L: Link, F: FnMut(&L) + Send + 'static> {
    inner: L,
    to: F,
}

impl<L: Link, F: FnMut(&L) + Send + 'static> InspectOnDrop<L, F> {
    /// Wraps `inner`, which `to` will inspect once.
    pub fn new(inner: L, to: F) -> Self {
        InspectOnDrop { inner, to }
    }
}

impl<L: Link, F: FnMut(&L) + Send + 'static> Drop for InspectOnDrop<L, F> {
    fn drop(&mut self) {
        (self.to)(&self.inner);
    }
}

impl<L: Link, F: FnMut(&L) + Send + 'static> Wrapper for InspectOnDrop<L, F> {
    type Inner = L;

    #[inline(always)]
    fn inner(&self) -> &L {
        &self.inner
    }

    #[inline(always)]
    fn inner_mut(&mut self) -> &mut L {
        &mut self.inner
    }
}

impl<L: Link, F: FnMut(&L) + Send + 'static> Link for InspectOnDrop<L, F> {
    delegate!(short, network, host, capabilities, frames, transmit, receive, services, memory);
}
