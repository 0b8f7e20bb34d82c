//! NI half of the protocols where it runs apart from the host (DESIGN 4 "Placement").
//!
//! Some links have a processor of their own. Whoever drives it (the simulator) is notified of the
//! events of the thesis's NI control program (8.1.2) and has them processed one at a time.

/// Event for a separate NI.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NiEvent {
    /// The host has put a request into its queue ([`crate::Link::notify_ni`]).
    Request,
    /// A frame has arrived, which [`crate::Link::receive`] returns.
    Received,
    /// The oldest copy to the host ([`crate::Link::copy_to_host`]) is complete.
    Copied,
    /// The time that [`crate::Link::wake_at`] set has come.
    Timeout,
}

/// Settings of an NI's control program, where it does not take the shortest way.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ControlProgram {
    /// True if a fetch-and-add on a variable of its own goes to the switch and back, as a request
    /// and an answer (thesis 5.2).
    pub loops_back: bool,
}

/// NI half of one rank.
pub trait NiHalf: Send + Sync {
    /// Processes one event. Never waits.
    fn step(&self, event: NiEvent);
}
