//! Remote accesses, as programs ask for them and hear of them.

use crate::Address;
use weft_endpoint::Rank;

/// Accesses of one rank to one other that may be under way.
pub const MOST: u32 = 256;

/// Result of an access.
pub type AccessOutcome = std::result::Result<(), AccessRefused>;

/// Reason why an access was not done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AccessRefused {
    /// Nothing is exposed under that key, or no longer.
    #[error("there is no region with this key")]
    NoRegion,
    /// The region is not exposed for this.
    #[error("the region may not be accessed in this way")]
    NoRight,
    /// The region is shorter.
    #[error("the region ends before the access does")]
    Beyond,
    /// Bytes to write were to be fetched out of this rank's memory, and could not be read there.
    #[error("what was to be written cannot be fetched from where it lies")]
    Unfetchable,
}

/// Accesses to a region that others may do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AccessRights {
    /// Read it.
    pub read: bool,
    /// Write it.
    pub write: bool,
}

/// Target of an access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Access {
    /// Of whom.
    pub to: Address,
    /// From which endpoint of this rank.
    pub from: u8,
    /// Key of the region.
    pub key: u64,
    /// From where.
    pub offset: u64,
}

/// Result of asking for an access.
#[derive(Debug)]
#[must_use = "an access may have to be tried again"]
pub enum Submission<O> {
    /// It goes on, and ends by an [`AccessEvent`].
    Kept,
    /// Nothing happened: there is no room now.
    Again(O),
}

/// Something happened.
#[derive(Debug)]
pub enum AccessEvent<O> {
    /// An access of this rank ended.
    Ended {
        /// The access.
        op: O,
        /// Its result.
        outcome: AccessOutcome,
    },
    /// A region of this rank was accessed.
    Accessed(Accessed),
}

/// An access to a region of this rank.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Accessed {
    /// The endpoint that was named.
    pub to: u8,
    /// Its origin.
    pub from: Address,
    /// Key of the region.
    pub key: u64,
    /// True if it was written.
    pub writes: bool,
    /// Number of bytes.
    pub length: u64,
    /// Data that came with it, beside the bytes. Then its origin is
    /// [answered](super::Remote::answer) when the program can be told.
    pub data: Option<(u64, OwedAnswer)>,
}

/// The answer to a write.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OwedAnswer {
    pub(super) to: Rank,
    pub(super) number: u64,
}
