//! What can go wrong below messages.

use weft_link::LinkViolation;
use weft_link::bell::Loss;
use weft_protocol::Violation;
use weft_protocol::tree::GroupError;
use weft_wire::Rank;

/// What can go wrong below messages.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A rank of the job is gone; what was on its way to or from it is lost.
    #[error("rank {} {}", .0.rank, .0.cause)]
    RankLost(Loss),
    /// A peer wrote something that is no frame.
    #[error("{0}; the job cannot go on")]
    BadFrame(#[from] LinkViolation),
    /// A peer broke the protocol.
    #[error("{0}; the job cannot go on")]
    Violation(#[from] Violation),
    /// The program holds all frames of the pool itself, so that none can become free.
    #[error(
        "all {frames} send packets are allocated and none was launched: launch or drop some first"
    )]
    PoolExhausted {
        /// Frames in the pool.
        frames: usize,
    },
    /// More bytes than a packet holds.
    #[error("{size} bytes do not fit into a packet of {max}: use a message")]
    TooLong {
        /// The bytes asked for.
        size: usize,
        /// What fits.
        max: usize,
    },
    /// A rank that the job does not have.
    #[error("there is no rank {rank} in a job of {ranks}")]
    NoSuchRank {
        /// The rank asked for.
        rank: Rank,
        /// How many there are.
        ranks: usize,
    },
    /// A group that cannot be, or that this rank is not in.
    #[error(transparent)]
    Group(#[from] GroupError),
    /// A multicast to a group that this rank is not a member of.
    #[error("this rank is not a member of that group")]
    NotAMember,
    /// Something was not placed in, or not read from, another rank's receive buffer.
    #[error("receive buffer {name:?} of rank {rank}: {why}")]
    Refused {
        /// The buffer's name.
        name: String,
        /// The rank that has it.
        rank: Rank,
        /// Why.
        why: weft_wire::place::Refusal,
    },
    /// A range that is not inside a receive buffer.
    #[error("bytes {offset} to {} are not inside the {bytes} of receive buffer {name:?}", .offset.saturating_add(*.length))]
    Outside {
        /// The buffer's name.
        name: String,
        /// Where the range begins.
        offset: usize,
        /// Its length.
        length: usize,
        /// Bytes of the buffer.
        bytes: usize,
    },
    /// A receive buffer that cannot be.
    #[error("a receive buffer of {bytes} bytes named {name:?}: {what}")]
    Buffer {
        /// Its name.
        name: String,
        /// Bytes asked for.
        bytes: usize,
        /// What is wrong.
        what: &'static str,
    },
    /// A fetch-and-add variable that does not exist.
    #[error("there is no fetch-and-add variable {0}: programs have 0 to {max}", max = crate::USER_VARIABLES - 1)]
    NoSuchVariable(u16),
}

/// A result with the [`enum@Error`] of this layer.
pub type Result<T> = std::result::Result<T, Error>;
