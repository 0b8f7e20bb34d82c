//! Bugs to plant: a test of the tests.
//!
//! Each is a mistake that an implementer could make, of another kind. Only builds with the feature
//! `planted` can make them; without it `Ni::plant` does not exist and nothing is asked.

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
    /// A compare-and-swap swaps, whatever it finds.
    SwapUncompared,
    /// A recovery channel is said to be clear while packets are on it.
    ClearEarly,
}
