//! Errors below the message layer.

use weft_link::LinkViolation;
use weft_link::bell::Loss;
use weft_protocol::tree::GroupError;
use weft_protocol::{Broken, Violation};
use weft_wire::Rank;

/// Error below the message layer.
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
    /// An invariant of the protocol does not hold at this rank. In a box, or all results were
    /// larger.
    #[error(transparent)]
    Invariant(Box<Broken>),
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
        /// Bytes that fit.
        max: usize,
    },
    /// A rank that the job does not have.
    #[error("there is no rank {rank} in a job of {ranks}")]
    NoSuchRank {
        /// The rank asked for.
        rank: Rank,
        /// Ranks in the job.
        ranks: usize,
    },
    /// Something of the ranks that a job began with, asked for by one that came later.
    #[error("rank {rank} came when the job had begun: {what} are for those that it began with")]
    CameLater {
        /// This rank.
        rank: Rank,
        /// The thing asked for.
        what: &'static str,
    },
    /// A group that cannot be, or that this rank is not in.
    #[error(transparent)]
    Group(#[from] GroupError),
    /// A multicast to a group that this rank is not a member of.
    #[error("this rank is not a member of that group")]
    NotAMember,
    /// A put into another rank's receive buffer, or a get from it, that was refused.
    #[error("receive buffer {name:?} of rank {rank}: {why}")]
    Refused {
        /// The buffer's name.
        name: String,
        /// The rank that has it.
        rank: Rank,
        /// Reason of the refusal.
        why: weft_wire::place::Refusal,
    },
    /// A range that is not inside a receive buffer.
    #[error("bytes {offset} to {} are not inside the {bytes} of receive buffer {name:?}", .offset.saturating_add(*.length))]
    Outside {
        /// The buffer's name.
        name: String,
        /// Offset of the range, in bytes.
        offset: usize,
        /// Length of the range, in bytes.
        length: usize,
        /// Size of the buffer, in bytes.
        bytes: usize,
    },
    /// A receive buffer that cannot be.
    #[error("a receive buffer of {bytes} bytes named {name:?}: {what}")]
    Buffer {
        /// Its name.
        name: String,
        /// Bytes asked for.
        bytes: usize,
        /// Reason for which it cannot be.
        what: &'static str,
    },
    /// A variable that programs do not have.
    #[error("there is no variable {0}: programs have 0 to {max}", max = crate::USER_VARIABLES - 1)]
    NoSuchVariable(u32),
}

impl Error {
    /// True if the program holds all packets of its rank: it is told so where it sends or waits,
    /// and what systems have to send waits for some.
    pub fn is_exhausted(&self) -> bool {
        matches!(self, Error::PoolExhausted { .. })
    }
}

impl From<Broken> for Error {
    fn from(broken: Broken) -> Self {
        Error::Invariant(Box::new(broken))
    }
}

/// A result with the [`enum@Error`] of this layer.
pub type Result<T> = std::result::Result<T, Error>;
