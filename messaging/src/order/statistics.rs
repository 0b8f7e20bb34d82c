//! Counters.

/// Counters of a rank's part in an order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OrderStatistics {
    /// Messages that it broadcast.
    pub sent: u64,
    /// Messages that it has consumed, its own included.
    pub delivered: u64,
    /// Those that came before it was their turn, or while the handler ran.
    pub early: u64,
    /// Broadcasts that had to wait for room in the window.
    pub stalled: u64,
    /// Broadcasts of handlers that did not wait, although there was no room.
    pub overdrawn: u64,
    /// Acknowledgements that took a message of their own.
    pub acknowledgements: u64,
    /// Bytes of its own messages that were copied, for their own turn here.
    pub bytes_copied: u64,
}
