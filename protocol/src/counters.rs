//! Counters of an NI.

/// Counts of what an NI has done since it was made.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub struct Counters {
    /// Data packets transmitted, forwards included.
    pub packets_sent: u64,
    /// Data packets received.
    pub packets_received: u64,
    /// Packets delivered to the host.
    pub packets_delivered: u64,
    /// User bytes in packets transmitted.
    pub bytes_sent: u64,
    /// User bytes in packets received.
    pub bytes_received: u64,
    /// Transmissions that had to wait for a credit.
    pub blocked_sends: u64,
    /// Multicast packets passed on to a child, one for each child.
    pub forwards: u64,
    /// Multicast packets that came before this rank had created their group.
    pub early_packets: u64,
    /// Credit packets sent, because nothing was there to piggyback on.
    pub explicit_credits: u64,
    /// Credits granted out of the pool, where windows follow demand.
    pub credits_granted: u64,
    /// Credits that went back into it.
    pub credits_taken_back: u64,
    /// Requests for credits that a sender may not need.
    pub recalls: u64,
    /// Fetch-and-add requests served for others.
    pub atomics_served: u64,
    /// Recoveries that this NI began (thesis 4.3).
    pub recoveries: u64,
    /// Packets that it sent on recovery channels, its own and those of others.
    pub recovery_packets: u64,
    /// Data packets transmitted again.
    pub retransmissions: u64,
    /// Time-outs in which nothing was sent again, because the link had it under way.
    pub time_outs_on_link: u64,
    /// Packets that were not the next expected, and were dropped.
    pub out_of_sequence: u64,
    /// Packets dropped because no receive buffer was free.
    pub no_buffer: u64,
    /// Acknowledgements sent because there was nothing to piggyback on.
    pub explicit_acknowledgements: u64,
    /// Of these, the ones that the sender had asked for (Pupa 2.2.1).
    pub acknowledgements_asked: u64,
    /// Those sent because the acknowledgement timer ran out.
    pub acknowledgements_late: u64,
    /// Those sent to all senders, to tell again what may have been lost.
    pub acknowledgements_again: u64,
    /// Acknowledgements of something that packets with data took along.
    pub acknowledgements_piggybacked: u64,
    /// Requests for acknowledgements in packets of their own.
    pub requests: u64,
    /// Negative acknowledgements sent.
    pub nacks: u64,
    /// Acknowledgements of something that came, in whatever packet.
    pub acknowledgements_received: u64,
    /// Negative acknowledgements that came.
    pub nacks_received: u64,
    /// Times that a sender was told to stop, because its packet found no buffer.
    pub stops: u64,
    /// Times that a stopped sender was told to send as much as it likes again.
    pub resumes: u64,
    /// Packets sent to tell a stopped sender of room, because none was there to take that along.
    pub room_updates: u64,
    /// Packets sent to idle peers, so that they hear something.
    pub heartbeats: u64,
    /// Peers that were not heard of for too long.
    pub peers_lost: u64,
}
