//! Counters of the messaging layer.

use std::sync::atomic::{AtomicU64, Ordering, fence};

/// Counters of the messaging layer, with those of the layers below it.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub struct Statistics {
    /// Messages sent; a broadcast is one.
    pub messages_sent: u64,
    /// Messages received.
    pub messages_received: u64,
    /// Packets copied out of link memory because their port was slow.
    pub packets_copied_out: u64,
    /// Packets in link memory that nobody has read, now.
    pub packets_unread: u64,
    /// Bytes of memory that packets take now which were copied out and which nobody has read.
    pub bytes_copied_out: u64,
    /// Sends that waited because their receiver's port was full.
    pub stalls: u64,
    /// Packets that handlers sent to full ports all the same.
    pub overdrafts: u64,
    /// Messages whose receivers were asked first.
    pub requests: u64,
    /// Handlers that waited and became continuations.
    pub continuations: u64,
    /// The layers below.
    pub packets: weft_endpoint::Statistics,
}

/// Counts of messages that have come, and of those that had to wait at their ports. The thread that
/// sorts a packet counts it, and no other sorts meanwhile.
#[derive(Default)]
pub(crate) struct Counts {
    received: AtomicU64,
    queued: AtomicU64,
}

impl Counts {
    /// Counts a message that has come.
    #[inline]
    pub fn count_received(&self) {
        self.received.store(self.received() + 1, Ordering::Relaxed);
    }

    /// Counts a message that waits at its port from here on.
    pub fn count_queued(&self) {
        self.queued.store(self.queued.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }

    /// Messages that have come.
    #[inline]
    pub fn received(&self) -> u64 {
        self.received.load(Ordering::Relaxed)
    }

    /// Messages that ever had to wait at their ports.
    #[inline]
    pub fn queued(&self) -> u64 {
        // The thread that sorted before has released the network since.
        fence(Ordering::Acquire);
        self.queued.load(Ordering::Relaxed)
    }
}
