//! Barrier of ranks without a packet.

use std::sync::atomic::{AtomicU64, Ordering};
use weft_endpoint::Packets;

/// Barrier of the ranks of a test before they leave: a rank that is gone serves nobody any more.
#[derive(Default)]
pub struct Gate(AtomicU64);

impl Gate {
    /// Polls until every rank has got here, as often as this one.
    ///
    /// # Panics
    /// If a rank is lost meanwhile.
    pub fn pass(&self, packets: &Packets) {
        let arrived = self.0.fetch_add(1, Ordering::SeqCst) + 1;
        let all = arrived.next_multiple_of(packets.size() as u64);
        packets
            .poll_until(|| self.0.load(Ordering::SeqCst) >= all)
            .expect("all ranks come to the gate");
    }
}
