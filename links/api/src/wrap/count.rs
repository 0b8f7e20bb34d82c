//! Wrapper that counts frames.

use super::{delegate, wrapper};
use crate::{Link, LinkViolation, Payload, Received};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use weft_wire::{Header, Rank};

/// Counts of the frames that passed through a link.
#[derive(Debug, Default)]
pub struct FrameCounters {
    /// Number of frames that were transmitted.
    pub transmitted: AtomicU64,
    /// Number of frames that were received.
    pub received: AtomicU64,
    /// Number of user bytes that were transmitted.
    pub bytes_transmitted: AtomicU64,
    /// Number of user bytes that were received.
    pub bytes_received: AtomicU64,
    /// Number of frames that were refused.
    pub refused: AtomicU64,
}

/// Inner link, with every frame counted.
pub struct Count<L> {
    inner: L,
    counters: Arc<FrameCounters>,
}

impl<L: Link> Count<L> {
    /// Counts what passes through `inner`.
    pub fn new(inner: L) -> Self {
        Count { inner, counters: Arc::default() }
    }

    /// Returns the counters, which go on counting after the link has moved elsewhere.
    pub fn counters(&self) -> Arc<FrameCounters> {
        Arc::clone(&self.counters)
    }
}

wrapper!(Count);

impl<L: Link> Link for Count<L> {
    delegate!(no_short, network, host, capabilities, frames, services, no_memory);

    fn transmit(&mut self, to: Rank, header: &Header, payload: Payload) {
        self.counters.transmitted.fetch_add(1, Relaxed);
        self.counters.bytes_transmitted.fetch_add(u64::from(header.size), Relaxed);
        self.inner.transmit(to, header, payload);
    }

    fn receive(&mut self) -> Result<Option<Received>, LinkViolation> {
        let result = self.inner.receive();
        match &result {
            Ok(None) => {}
            Ok(Some(received)) => {
                self.counters.received.fetch_add(1, Relaxed);
                let size = u64::from(received.header.size);
                self.counters.bytes_received.fetch_add(size, Relaxed);
            }
            Err(_) => {
                self.counters.refused.fetch_add(1, Relaxed);
            }
        }
        result
    }
}
