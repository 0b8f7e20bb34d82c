//! NI half of the protocols where it runs apart from the host, on a processor of its own.
//!
//! The driver of that processor (the simulator) is notified of the events of the thesis's NI
//! control program (8.1.2) and has them processed one at a time.

use crate::Payload;
use crate::clock::{Nanoseconds, Work};

/// Event for a separate NI.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NiEvent {
    /// The host has put a request into its queue ([`SeparateNi::notify`]).
    Request,
    /// A frame has arrived, which [`crate::Link::receive`] returns.
    Received,
    /// The oldest copy to the host ([`SeparateNi::copy_to_host`]) is complete.
    Copied,
    /// The time that [`SeparateNi::wake_at`] set has come.
    Timeout,
}

/// Settings of an NI's control program, where it does not take the shortest way.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ControlProgram {
    /// True if a fetch-and-add on a variable of its own goes to the switch and back, as a request
    /// and an answer (thesis 5.2).
    pub loops_back: bool,
}

/// NI of a link of type `L` that is apart from its host.
///
/// A value of this type exists only for such a link ([`crate::Link::NI`]).
pub trait SeparateNi<L>: Copy + Send + 'static {
    /// Returns the settings of the NI's control program.
    fn control_program(self, link: &L) -> ControlProgram;

    /// Notifies the NI of a request in its queue. The host has done `work` for it which nobody has
    /// charged.
    fn notify(self, link: &mut L, work: Option<Work>);

    /// Starts to copy `payload`, `size` user bytes, from the NI to the host, and returns its
    /// payload there. `None` while the host has no buffer for it (thesis 3.6). Copies end in the
    /// order in which they started, each with [`NiEvent::Copied`]. The NI still has to free its own
    /// buffer.
    fn copy_to_host(self, link: &mut L, payload: Payload, size: u16) -> Option<Payload>;

    /// Sets the time of the next [`NiEvent::Timeout`], or none. Replaces the time that was set
    /// before.
    fn wake_at(self, link: &mut L, deadline: Option<Nanoseconds>);

    /// Interrupts the host, if it computes.
    fn interrupt(self, link: &mut L);
}

/// Separate NI of a link that has none. There is no value of this.
#[derive(Clone, Copy, Debug)]
pub enum NoSeparateNi {}

impl<L> SeparateNi<L> for NoSeparateNi {
    fn control_program(self, _: &L) -> ControlProgram {
        match self {}
    }

    fn notify(self, _: &mut L, _: Option<Work>) {
        match self {}
    }

    fn copy_to_host(self, _: &mut L, _: Payload, _: u16) -> Option<Payload> {
        match self {}
    }

    fn wake_at(self, _: &mut L, _: Option<Nanoseconds>) {
        match self {}
    }

    fn interrupt(self, _: &mut L) {
        match self {}
    }
}

/// NI half of one rank.
pub trait NiHalf: Send + Sync {
    /// Processes one event. Never waits.
    fn step(&self, event: NiEvent);
}
