//! Bugs to plant: a test of the tests, which alone can make them.

/// A mistake, which is made whenever there is an opportunity.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Planted {
    /// Members that miss some messages are not sent them.
    FillNobody,
    /// The coordinator begins an epoch with one report missing.
    DecideEarly,
    /// Messages of an epoch that is over are taken.
    TakeOld,
    /// Copies are forgotten once this rank has consumed them.
    ForgetEarly,
    /// Messages are handed over after a report.
    HandOverFrozen,
    /// Messages that nobody has been handed over stay in the sequence.
    KeepUnheard,
    /// Own messages are sent before it is known which of them come back.
    SendBeforeFills,
}
