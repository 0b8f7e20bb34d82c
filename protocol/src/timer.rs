//! Points in time, and why they matter.

/// A point in time, in nanoseconds since whatever the caller likes; it never goes back.
pub type Nanoseconds = u64;

/// Reason why an NI wants to be told of a point in time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord, Hash)]
pub enum Timer {
    /// A packet has been unacknowledged for too long.
    Retransmit,
    /// A packet was received and nothing has taken an acknowledgement back.
    Acknowledge,
    /// A peer has not been heard of for long, or has not heard.
    Silence,
    /// Packets have waited for credits for so long that it may be a deadlock.
    Suspect,
}
