//! Bugs to plant: a test of the tests, which alone can make them.

/// A mistake, which is made whenever there is an opportunity.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Planted {
    /// Decisions of ranks that are known to be lost are taken: those of a lower ballot.
    TakeFromLost,
    /// The last decision is not told to the next coordinator.
    KeepDecision,
    /// The last decision is told to the next coordinator as if it was a contribution.
    ContributeDecision,
    /// A contribution is not sent again to the next coordinator.
    ContributeOnce,
    /// The coordinator decides with one contribution missing.
    DecideEarly,
    /// Members that only contributors know to be lost are not in the decision.
    KeepLostApart,
    /// A contribution that comes before the coordinator begins is forgotten.
    ForgetEarly,
    /// A coordinator that has decided does not answer contributions.
    AnswerNobody,
    /// A coordinator that adopts a decision does not tell the others.
    AdoptQuietly,
}
