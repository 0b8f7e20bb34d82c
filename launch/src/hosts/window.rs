//! Window of an agent: the bytes of output that it sends before the launcher has dealt with any.

use crate::output::{LAST_BYTES_MAX, READ_BYTES};

/// Bytes of output that may be under way to the launcher from all hosts, which share them; and from
/// one at least and at most.
const OUTPUT_BYTES: usize = 4 * 1024 * 1024;
const WINDOW_BYTES_LEAST: usize = 2 * READ_BYTES;
const WINDOW_BYTES_MOST: usize = 256 * 1024;

/// Most bytes of output that the agent of so many ranks sends before the launcher has taken any:
/// its window, and what it reads beyond that of each stream, once, or all when it `finishes`.
pub(super) fn unacknowledged_bytes_max(ranks: u16, finishes: bool) -> usize {
    let beyond = if finishes { LAST_BYTES_MAX } else { READ_BYTES };
    WINDOW_BYTES_MOST + 2 * usize::from(ranks) * beyond
}

/// The window of one agent.
#[derive(Debug)]
pub(super) struct Window {
    bytes: usize,
    under_way_bytes: usize,
}

impl Window {
    /// Window of each of `hosts`.
    pub fn of_each(hosts: u16) -> Self {
        let bytes = OUTPUT_BYTES / usize::from(hosts.max(1));
        let bytes = bytes.clamp(WINDOW_BYTES_LEAST, WINDOW_BYTES_MOST);
        Window { bytes, under_way_bytes: 0 }
    }

    /// True if more may be read.
    pub fn is_open(&self) -> bool {
        self.under_way_bytes < self.bytes
    }

    /// Notes that `bytes` were sent.
    pub fn sent(&mut self, bytes: usize) {
        self.under_way_bytes += bytes;
    }

    /// Notes that the launcher has dealt with `bytes` bytes.
    pub fn acknowledged(&mut self, bytes: usize) {
        self.under_way_bytes = self.under_way_bytes.saturating_sub(bytes);
    }
}
