//! What an NI counts.

/// What an NI has done since it was made.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub struct Counters {
    /// Data packets transmitted, forwards included.
    pub packets_sent: u64,
    /// User bytes in them.
    pub bytes_sent: u64,
    /// Data packets received.
    pub packets_received: u64,
    /// User bytes in them.
    pub bytes_received: u64,
    /// Packets delivered to the host.
    pub packets_delivered: u64,
    /// Transmissions that had to wait for a credit.
    pub blocked_sends: u64,
    /// Multicast packets passed on to a child, one for each child.
    pub forwards: u64,
    /// Credit packets sent, because nothing was there to piggyback on.
    pub explicit_credits: u64,
    /// Fetch-and-add requests served for others.
    pub fetch_adds_served: u64,
    /// Recoveries that this NI began (thesis 4.3).
    pub recoveries: u64,
    /// Packets that it sent on recovery channels, its own and those of others.
    pub recovery_packets: u64,
    /// Data packets transmitted again.
    pub retransmissions: u64,
    /// Packets that were not the next expected, and were dropped.
    pub out_of_sequence: u64,
    /// Packets dropped because no receive buffer was free.
    pub no_buffer: u64,
    /// Acknowledgements sent because there was nothing to piggyback on.
    pub explicit_acknowledgements: u64,
    /// Negative acknowledgements sent.
    pub nacks: u64,
}
