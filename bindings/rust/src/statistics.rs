//! Counters of a rank.

pub(crate) mod lines;
pub(crate) mod table;

/// Counters of a rank since it joined.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub struct Statistics {
    /// Messages sent; a broadcast is one.
    pub messages_sent: u64,
    /// Messages received.
    pub messages_received: u64,
    /// Packets sent, one for each destination, forwards included.
    pub packets_sent: u64,
    /// Packets received.
    pub packets_received: u64,
    /// User bytes in the packets sent.
    pub bytes_sent: u64,
    /// User bytes in the packets received.
    pub bytes_received: u64,
    /// Packets that had to wait for a credit.
    pub blocked_sends: u64,
    /// Credit packets sent because there was nothing to piggyback on.
    pub explicit_credits: u64,
    /// Packets copied out of link memory because nobody read them.
    pub packets_copied_out: u64,
    /// Packets in link memory that nobody has read, now.
    pub packets_unread: u64,
    /// Bytes of memory that packets take now which were copied out and which nobody has read.
    pub bytes_copied_out: u64,
    /// Sends that waited because their receiver's port was full.
    pub stalls: u64,
    /// Messages whose receivers were asked first ([`Port::rendezvous_from`]).
    pub requests: u64,
    /// Packets that handlers sent to full ports all the same.
    pub overdrafts: u64,
    /// Handlers that waited and became continuations.
    pub continuations: u64,
    /// Interrupts: the upcall thread polled because the program did not.
    pub interrupts: u64,
    /// Times that a waiting thread slept.
    pub sleeps: u64,
}
