//! Bugs to plant: a test of the tests.
//!
//! Each is a mistake that an implementer could make, of another kind. Only builds with the feature
//! `planted` can make them; without it nothing is asked.

/// A mistake, which is made whenever there is an opportunity.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Planted {
    /// Consumed packets are reported when the whole window is, and one more.
    ReportLate,
    /// A stalled rank does not answer a peer that is stalled.
    IgnoreStalled,
    /// A rank that waits for an answer does not grant what is asked meanwhile.
    IgnoreWaiting,
    /// A request is granted again whenever its reader looks.
    GrantAgain,
    /// A request that its sender gave up is forgotten before it is answered.
    ForgetWithdrawn,
    /// Handlers wait for any rank above a send that is blocked.
    RunAbove,
}
