//! Wrapper that hides all that a link can do beyond moving frames.

use super::delegate;
use crate::{Capabilities, Link, SharedWords};
use std::sync::Arc;

/// Inner link without its shared words and its one-write multicast, so that fetch-and-add and
/// multicast run as the packet protocols that they are on a network.
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

impl<L: Link> Link for FramesOnly<L> {
    delegate!(surroundings, lossy, transmit, receive);

    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn words(&self) -> Option<Arc<dyn SharedWords>> {
        None
    }
}
