//! Wants: templates of ranks that wait for a tuple.

/// Name of a want: the rank that waits, and its number there.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Want {
    pub rank: u16,
    pub number: u64,
}

/// State of a want at the shard of the rank that waits.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) struct Wanted {
    /// Tuples that were put since, at any shard.
    pub hints: u64,
    /// Rank where the last of them was put.
    pub home: u16,
}
