//! Places where the copies of an object can be.

use crate::error::{Error, Result};
use weft_endpoint::Rank;

/// Messages of an operation by call.
pub(crate) const CALL: u64 = 2;

/// A home that says that there are copies everywhere.
const EVERYWHERE: u16 = u16::MAX;

/// Place of the copies of an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Placement {
    /// A copy at every rank.
    Replicated,
    /// One copy, at this rank.
    Single(Rank),
    /// One copy, at the rank that creates it, at first; then it goes where the operations on it
    /// cost least, by statistics (thesis 7.1.2). A new placement has to cost half as much.
    Automatic,
    /// The place that costs least if all ranks do as many reads and writes, in this relation: a
    /// first guess of a compiler or a programmer. Then it is [`Placement::Automatic`].
    Expected {
        /// Reads.
        reads: u64,
        /// Writes.
        writes: u64,
    },
}

/// Place of the copies of an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Site {
    /// A copy at every rank.
    Replicated,
    /// One copy, at this rank.
    Single(Rank),
}

impl From<Site> for Placement {
    fn from(site: Site) -> Self {
        match site {
            Site::Replicated => Placement::Replicated,
            Site::Single(home) => Placement::Single(home),
        }
    }
}

impl Placement {
    /// Checks that objects can be there, in a job of so many ranks.
    pub(crate) fn check(self, ranks: usize) -> Result<()> {
        match self {
            Placement::Single(home) if home.index() >= ranks => Err(Error::NoSuchRank(home, ranks)),
            _ => Ok(()),
        }
    }

    /// Site of an object at first, and true if its statistics may change that. None if it is where
    /// it is, or where it is created.
    pub(crate) fn site(self, ranks: usize) -> (Option<Site>, bool) {
        match self {
            Placement::Replicated => (Some(Site::Replicated), false),
            Placement::Single(home) => (Some(Site::Single(home)), false),
            Placement::Automatic => (None, true),
            Placement::Expected { reads, writes } => {
                let all = u128::from(reads) + u128::from(writes);
                let ranks = ranks as u128;
                // All ranks do the same, and one of them is the home.
                let called = u128::from(CALL) * all * (ranks - 1);
                let broadcast = ranks * ranks * u128::from(writes);
                ((broadcast < called).then_some(Site::Replicated), true)
            }
        }
    }
}

impl Site {
    /// Number that stands for it.
    pub(crate) fn number(self) -> u16 {
        match self {
            Site::Replicated => EVERYWHERE,
            Site::Single(home) => home.0,
        }
    }

    /// The placement that a number stands for.
    pub(crate) fn of_number(number: u16) -> Self {
        match number {
            EVERYWHERE => Site::Replicated,
            home => Site::Single(Rank(home)),
        }
    }
}
