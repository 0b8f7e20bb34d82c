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
    /// A peer that breaks an order.
    #[error("rank {from} broadcast number {number} of the order '{order}', {what}")]
    Disorder {
        /// The order.
        order: String,
        /// Who sent it.
        from: Rank,
        /// The number.
        number: u64,
        /// What is wrong with it.
        what: crate::Disorder,
    },
    /// More orders than there are variables for them.
    #[error("this job has {limit} orders already: there are {per_rank} for each rank", per_rank = crate::order::ORDERS_PER_RANK)]
    TooManyOrders {
        /// How many there can be.
        limit: usize,
    },
    /// A handler of an order that broadcasts more and more.
    #[error(
        "handlers have {limit} broadcasts under way in the order '{order}' that others have not consumed"
    )]
    Overdrawn {
        /// The order.
        order: String,
        /// How many there may be.
        limit: u64,
    },
    /// A handler that waits for what comes after it.
    #[error(
        "the handler of the order '{0}' waits for a message that can only come after it has returned"
    )]
    WaitsForItself(String),
    /// A handler that panicked, so that what it should have done next was never done.
    #[error("the handler of the order '{0}' panicked")]
    OrderPanicked(String),
}

/// A result with the [`enum@Error`] of this layer.
pub type Result<T> = std::result::Result<T, Error>;
