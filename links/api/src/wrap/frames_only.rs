//! Wrapper that hides all that a link can do beyond moving frames.

use super::{delegate, wrapper};
use crate::{Capabilities, Link, Services};

/// Inner link without its shared words, its memory and its one-write multicast, so that
/// fetch-and-add and multicast run as the packet protocols that they are on a network.
pub struct FramesOnly<L> {
    inner: L,
    capabilities: Capabilities,
}

impl<L: Link> FramesOnly<L> {
    /// Hides the extras of `inner`.
    pub fn new(inner: L) -> Self {
        let capabilities = Capabilities { multicast: false, ..*inner.capabilities() };
        FramesOnly { inner, capabilities }
    }
}

wrapper!(FramesOnly);

impl<L: Link> Link for FramesOnly<L> {
    delegate!(no_short, network, host, frames, transmit, receive, no_memory);

    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn services(&self) -> Services {
        Services { words: None, shared_memory: None, cross_memory: None, ..self.inner.services() }
    }
}
