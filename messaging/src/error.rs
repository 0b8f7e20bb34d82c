//! What can go wrong with messages.

use weft_packet::Rank;

/// What can go wrong with messages.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Something below went wrong; a lost rank above all.
    #[error(transparent)]
    Packet(#[from] weft_packet::Error),
    /// Two ports of one name.
    #[error("there is a port '{0}' already")]
    PortTaken(String),
    /// Two names that hash to one number.
    #[error("the port names '{0}' and '{1}' collide; rename one of them")]
    PortCollision(String, String),
    /// A message ended before the bytes that were asked for.
    #[error("the message from rank {from} has {left} bytes left, {wanted} were asked for")]
    Short {
        /// Who sent it.
        from: Rank,
        /// Bytes that are left.
        left: u64,
        /// Bytes asked for.
        wanted: u64,
    },
    /// A message that is not UTF-8.
    #[error("the message from rank {from} is no text: {error}")]
    NotText {
        /// Who sent it.
        from: Rank,
        /// Where it stops being text.
        error: std::str::Utf8Error,
    },
    /// A packet that belongs to no message.
    #[error("rank {from} sent a packet that belongs to no message")]
    Stray {
        /// Who sent it.
        from: Rank,
    },
    /// A peer that begins message after message and ends none.
    #[error("rank {from} has begun {limit} messages and ended none of them")]
    Unfinished {
        /// Who sends them.
        from: Rank,
        /// How many there may be.
        limit: usize,
    },
    /// Whoever was to complete an operation ended without doing so.
    #[error("the operation was abandoned by what should have completed it")]
    Abandoned,
    /// Headers that take more room than a packet has.
    #[error("{size} bytes of headers do not fit into a packet; there is room for {max}")]
    Headers {
        /// The bytes pushed.
        size: usize,
        /// What fits.
        max: usize,
    },
    /// A call took longer than it was allowed to; it was cancelled.
    #[error("rank {rank} has not replied to a call of '{service}' in time")]
    TimedOut {
        /// Who was called.
        rank: Rank,
        /// What was called.
        service: String,
    },
    /// A service dropped a request without answering it.
    #[error("'{service}' of rank {rank} gave no reply")]
    NoReply {
        /// Whose service it is.
        rank: Rank,
        /// Its name.
        service: String,
    },
    /// A service says that it could not do what it was asked.
    #[error("'{service}' of rank {rank} failed: {what}")]
    Remote {
        /// Whose service it is.
        rank: Rank,
        /// Its name.
        service: String,
        /// What it says.
        what: String,
    },
    /// A call to a service that its rank does not have.
    #[error("rank {rank} has no service '{name}'")]
    NoSuchService {
        /// Who was called.
        rank: Rank,
        /// What was called.
        name: String,
    },
}

/// A result with the [`enum@Error`] of this layer.
pub type Result<T> = std::result::Result<T, Error>;
