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
    /// A handler panicked. Its port takes no more messages; everything else goes on.
    #[error("the handler of port '{port}' panicked on a message from rank {from}: {what}")]
    Panicked {
        /// The port.
        port: String,
        /// Who had sent the message.
        from: Rank,
        /// What the panic said.
        what: String,
    },
    /// A task panicked.
    #[error("a task panicked: {0}")]
    TaskPanicked(String),
    /// A message cannot be read into memory at once.
    #[error(
        "there is no memory for {bytes} bytes of the message from rank {from}: read it in pieces"
    )]
    NoMemory {
        /// Who sent it.
        from: Rank,
        /// Bytes asked for.
        bytes: u64,
    },
    /// The receiver has no such port, and what was sent to it fills its window.
    #[error("rank {rank} has no port '{port}': every rank that receives on a port creates it")]
    NoPort {
        /// The receiver.
        rank: Rank,
        /// The port.
        port: String,
    },
    /// Messages for a port that this rank never created, when it leaves.
    #[error("rank {from} sent {messages} messages to a port that this rank never created")]
    Unclaimed {
        /// The first sender.
        from: Rank,
        /// Messages that wait.
        messages: usize,
    },
    /// What was waited for did not come in time.
    #[error("nothing came within {0:?}")]
    TimedOut(std::time::Duration),
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
}

/// A result with the [`enum@Error`] of this layer.
pub type Result<T> = std::result::Result<T, Error>;
