//! Congestion window of a flow of numbered packets (RFC 5681, counted in packets).
//!
//! A network drops what it has no room for, and go-back-N then sends a whole window again: who goes
//! on at the same rate fills the queue that overflows with packets that are dropped at their
//! receiver. So fewer packets may be under way after a loss, and more, one at a time, while all
//! arrives.
//!
//! ```text
//!                 a packet is missing                    all of the window is acknowledged
//!   slow start ─────────────────────▶ avoidance: 7/10 ────────────────────────▶ one more
//!   (doubles with each window)           ▲                                           │
//!                                        └──────────── a packet is missing ──────────┘
//! ```
//! What a receiver refuses for want of a buffer is no loss here: it says how much room it has (Pupa
//! 2.2.2). Nor is a time-out, before its probe has shown that something is missing: the receiver
//! may have computed. All losses among the packets that were under way at the first are one event.

/// Settings of congestion windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Congestion {
    /// Packets that may be under way to a peer of whose path nothing is known, 1 or more.
    pub first_packets: u16,
}

impl Default for Congestion {
    /// A number of packets that a switch with a short queue takes at once.
    fn default() -> Self {
        Congestion { first_packets: 32 }
    }
}

/// Least window, in packets.
const LEAST: u16 = 4;

/// Packets that may be under way to one peer, as far as the network is concerned.
#[derive(Debug, Clone, Hash)]
pub(crate) struct CongestionWindow {
    /// `None` as long as nothing was acknowledged or lost.
    packets: Option<u16>,
    /// Window from which on it grows slowly.
    threshold: u16,
    /// Packets acknowledged since it grew last, where it grows slowly.
    acknowledged: u16,
    /// First packet that had not left when the last loss was noticed.
    recovered_at: Option<u32>,
}

impl Default for CongestionWindow {
    fn default() -> Self {
        let threshold = u16::MAX;
        CongestionWindow { packets: None, threshold, acknowledged: 0, recovered_at: None }
    }
}

impl CongestionWindow {
    /// The window, where flows have at most `most` packets under way.
    pub fn packets(&self, settings: Option<Congestion>, most: u16) -> u16 {
        let Some(Congestion { first_packets }) = settings else { return most };
        self.packets.unwrap_or(first_packets).min(most)
    }

    /// Of a window of `window` packets, of which `under_way` were under way, `news` were
    /// acknowledged. It grows if the sender fills it.
    pub fn acknowledged(&mut self, news: u16, under_way: usize, window: u16, most: u16) {
        if 2 * under_way < usize::from(window) || window >= most {
            return;
        }
        let grown = if window < self.threshold {
            window.saturating_add(news).min(self.threshold)
        } else {
            let acknowledged = self.acknowledged.saturating_add(news);
            let grows = acknowledged / window;
            self.acknowledged = acknowledged % window;
            window.saturating_add(grows)
        };
        self.packets = Some(grown.min(most));
    }

    /// Packet `missing` was lost, of a window of `window` packets of which `under_way` were under
    /// way; `next` has not left.
    pub fn lost(&mut self, missing: u32, next: u32, under_way: usize, window: u16) {
        let is_known = |recovered_at: u32| (missing.wrapping_sub(recovered_at) as i32) < 0;
        if self.recovered_at.is_some_and(is_known) {
            return;
        }
        self.recovered_at = Some(next);
        let used = u16::try_from(under_way).unwrap_or(u16::MAX).min(window);
        let reduced = (u32::from(used) * 7 / 10) as u16;
        self.threshold = reduced.max(LEAST);
        self.packets = Some(self.threshold);
        self.acknowledged = 0;
    }
}

#[cfg(test)]
mod tests;
