//! The NI half of the protocols where it runs apart from the host (DESIGN 4 "Placement").
//!
//! Some links have a processor of their own. Whoever drives it (the simulator) learns of the events
//! of the thesis's NI control program (8.1.2) and has them processed one at a time.

/// Something that an NI has to deal with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NiEvent {
    /// The host has put a request into its queue ([`crate::Link::requested`]).
    Request,
    /// A frame has arrived; [`crate::Link::receive`] gives it.
    Received,
    /// The oldest copy to the host ([`crate::Link::copy_to_host`]) is complete.
    Copied,
    /// The time asked for with [`crate::Link::wake_at`] has come.
    Timeout,
}

/// What an NI's control program does otherwise than in the shortest way.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ControlProgram {
    /// A fetch-and-add on a variable of its own goes to the switch and back, as a request and an answer
    /// (thesis 5.2).
    pub loops_back: bool,
}

/// The NI half of one rank.
pub trait NiHalf: Send + Sync {
    /// Processes one event. Never waits.
    fn step(&self, event: NiEvent);
}
