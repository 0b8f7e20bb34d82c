//! Errors of tuple spaces.

use crate::format::FIELDS_MAX;
use weft_endpoint::Rank;

/// Result of an operation on a tuple space.
pub type Result<T> = std::result::Result<T, Error>;

/// An error of tuple spaces.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The objects below: a lost rank above all, or a name that is taken.
    #[error(transparent)]
    Object(#[from] weft_object::Error),
    /// A rank that the job does not have.
    #[error("rank {0} cannot have a part of a tuple space: the job has {1} ranks")]
    NoSuchRank(Rank, usize),
    /// A tuple or a template with more fields than travel.
    #[error("a tuple or template has {0} fields, {FIELDS_MAX} are the most")]
    ManyFields(usize),
    /// A text or bytes that are longer than what travels.
    #[error("a field has {0} bytes, {max} are the most", max = u32::MAX)]
    LongField(usize),
    /// Bytes from a shard that are no answer to what it was asked.
    #[error("rank {home} answered an operation on the tuple space '{space}' with something else")]
    BadAnswer {
        /// Name of the tuple space.
        space: String,
        /// Rank that has the shard.
        home: Rank,
    },
    /// A panic in the function of an active tuple, which never became one.
    #[error("the function of an active tuple panicked, so that there is no tuple")]
    Panicked,
    /// A thread that the system did not start.
    #[error("there is no thread for an active tuple: {0}")]
    NoThread(String),
}
