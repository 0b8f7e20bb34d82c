//! Bugs to plant: a test of the tests.
//!
//! Each is a mistake that an implementer could make, of another kind. Only builds with the feature
//! `planted` can make them; without it [`crate::Ni::plant`] does not exist and nothing is asked.

/// A mistake.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bug {
    /// A credit that is due is forgotten.
    LoseCredit,
    /// A packet is acknowledged although it has not arrived.
    AcknowledgeEarly,
    /// A multicast packet is acknowledged before it is forwarded (ACK-forward).
    AcknowledgeUnforwarded,
    /// A packet is sent with the number after its own.
    NumberOffByOne,
    /// A buffer is given up twice.
    ReleaseTwice,
    /// A sender goes on although its receiver has no buffers.
    IgnoreStop,
    /// Credits that a smaller window makes due stay where they are.
    KeepDueCredits,
    /// Credits are taken out of a window twice: as they come back by themselves, and by asking.
    TakeTwice,
    /// A recovery channel is said to be clear while packets are on it.
    ClearEarly,
}

#[cfg(feature = "planted")]
impl<B> crate::Ni<B> {
    /// Makes the mistake at its `opportunity`-th opportunity, the first being 0, and once.
    pub fn plant(&mut self, bug: Bug, opportunity: u32) {
        self.planted = Some((bug, opportunity));
    }

    /// True if a planted mistake has been made.
    pub fn has_struck(&self) -> bool {
        self.planted.is_none()
    }

    pub(crate) fn strikes(&mut self, bug: Bug) -> bool {
        match &mut self.planted {
            Some((planted, 0)) if *planted == bug => {
                self.planted = None;
                true
            }
            Some((planted, left)) if *planted == bug => {
                *left -= 1;
                false
            }
            _ => false,
        }
    }
}

#[cfg(not(feature = "planted"))]
impl<B> crate::Ni<B> {
    #[inline(always)]
    pub(crate) fn strikes(&mut self, _: Bug) -> bool {
        false
    }
}
