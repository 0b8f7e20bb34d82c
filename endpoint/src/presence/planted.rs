//! Bugs to plant: a test of the explorations.
//!
//! Only builds with the feature `planted` can make them.

/// A mistake.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Bug {
    /// Packets held back are left to a look that was put off before.
    LeaveHeld,
    /// The upcall thread counts on a timer that has rung too early.
    TrustEarlyTimer,
    /// A thread that the bell has woken does not ring for the others.
    LoseRing,
}

/// A mistake that is made whenever it can be, if there is one.
#[derive(Clone, Default, Hash, Debug)]
pub(crate) struct Planted {
    #[cfg(feature = "planted")]
    bug: Option<Bug>,
}

impl Planted {
    #[cfg(feature = "planted")]
    pub fn plant(&mut self, bug: Bug) {
        self.bug = Some(bug);
    }

    /// True if the mistake is to be made.
    #[inline(always)]
    pub fn strikes(&self, bug: Bug) -> bool {
        #[cfg(feature = "planted")]
        return self.bug == Some(bug);
        #[cfg(not(feature = "planted"))]
        {
            let _ = bug;
            false
        }
    }
}
