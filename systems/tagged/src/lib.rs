//! Tagged messages: sends and posted receives that find each other by source and tag, as in MPI
//! (thesis 7.4); and remote accesses: reads, writes and atomic operations on memory that another
//! rank has exposed; and operations of all members of a team.
//!
//! A receiver posts receives, senders send, and messages go to the first posted receive that wants
//! them, in the order in which they were sent (MPI's non-overtaking rule). What nobody has posted a
//! receive for is *unexpected*: its bytes wait in memory of which each sender has a window, and
//! then in the sender's, which asks first.
//!
//! | module | what |
//! |---|---|
//! | [`matching`] | posted receives and unexpected messages of one endpoint |
//! | [`exchange`] | one rank's messages: calls and packets in, packets and events out |
//! | [`peer`] | what one rank may send to another unasked |
//! | [`answers`] | requests to a peer, which are bounded, and the answers owed to it |
//! | [`format`](mod@format) | packets as bytes |
//! | [`network`] | what carries them: the packet layer, or a vector in tests |
//! | [`remote`] | one rank's accesses to memory of others, and theirs to its |
//! | [`collectives`] | operations of all members of a team, by [`weft_collective`] |
//!
//! May use the packet layer. Reads and writes the program's memory through [`SendSource`] and
//! [`Sink`] only, and knows no lock and no thread: whoever owns an [`Exchange`], a
//! [`Remote`](remote::Remote) or [`Collectives`] sees to that. Keeps I9: unexpected bytes,
//! requests, accesses and answers are bounded for each peer, and a peer that exceeds a bound is
//! refused ([`Error::Violation`]).

#![forbid(unsafe_code)]

pub mod answers;
pub mod collectives;
pub mod exchange;
pub mod format;
#[cfg(test)]
mod golden;
pub mod matching;
pub mod network;
pub mod peer;
pub mod remote;

pub use collectives::Collectives;
pub use exchange::{Exchange, ExchangeEvent, SendParameters, Sending};
pub use matching::{MessageEnvelope, ReceivePattern};
pub use network::{Broadcast, Parted, Receiver, SendSource, Sink, TaggedNetwork, TakenPacket};

use weft_endpoint::Rank;

/// One end of messages: a rank has up to 256.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Address {
    /// The rank.
    pub rank: Rank,
    /// The endpoint of that rank.
    pub endpoint: u8,
}

/// Two kinds of messages that never match each other's receives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tagging {
    /// Matched by source and tag.
    Tagged,
    /// Matched by source.
    Untagged,
}

/// An error of this crate.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Below messages.
    #[error(transparent)]
    Packet(#[from] weft_endpoint::Error),
    /// Something panicked that may have changed half of what it was to change.
    #[error("a mistake in Weft made it panic, as was said above; the job cannot go on")]
    Panicked,
    /// A peer sent what no peer sends.
    #[error("rank {from} sent {what}; the job cannot go on")]
    Violation {
        /// The rank that sent it.
        from: Rank,
        /// The violated rule.
        what: &'static str,
    },
}

/// Result of taking a packet: the rule that it violates, if no peer sends that.
pub(crate) type Taken = std::result::Result<(), &'static str>;

/// A result with the [`enum@Error`] of this layer.
pub type Result<T, E = Error> = std::result::Result<T, E>;
