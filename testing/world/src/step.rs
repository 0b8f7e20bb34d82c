//! Steps that can be taken next.

use std::fmt;
use weft_wire::{Atomic, GroupId, Rank};

/// One thing that happens, at one rank.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// The host of `from` sends a packet to `to`, which may be itself.
    Unicast {
        /// Sender.
        from: Rank,
        /// To whom.
        to: Rank,
    },
    /// The host of `from` sends a packet to the other members of `group`.
    Multicast {
        /// Sender.
        from: Rank,
        /// To whom.
        group: GroupId,
    },
    /// The host of `from` does `operation` on `variable` of `home`.
    Atomic {
        /// Rank that asks.
        from: Rank,
        /// Home of the variable.
        home: Rank,
        /// Number of the variable.
        variable: u16,
        /// The operation. What is added to a counter is not 0, so that the judge can tell the
        /// additions apart.
        operation: Atomic,
    },
    /// The host of `at` creates the next group, where groups are created late.
    Create {
        /// Rank of the host.
        at: Rank,
    },
    /// The packet at the head of the wire from `from` reaches the NI of `to`.
    Arrive {
        /// Begin of the wire.
        from: Rank,
        /// End of the wire.
        to: Rank,
    },
    /// The host of `at` re-injects the packet delivered first, if it must, and runs its upcall.
    Process {
        /// Rank of the host.
        at: Rank,
    },
    /// The host of `at` releases the `index`-th of the packets that it keeps.
    Release {
        /// Rank of the host.
        at: Rank,
        /// Index of the packet.
        index: usize,
    },
}

impl Step {
    /// True if a program asks for this step; all others happen by themselves.
    pub fn is_a_program_s(&self) -> bool {
        matches!(
            self,
            Step::Unicast { .. }
                | Step::Multicast { .. }
                | Step::Atomic { .. }
                | Step::Create { .. }
        )
    }

    /// The rank whose NI the step concerns.
    pub fn rank(&self) -> Rank {
        match *self {
            Step::Unicast { from, .. }
            | Step::Multicast { from, .. }
            | Step::Atomic { from, .. } => from,
            Step::Arrive { to, .. } => to,
            Step::Create { at } | Step::Process { at } | Step::Release { at, .. } => at,
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::Unicast { from, to } => write!(f, "{from} sends to {to}"),
            Step::Multicast { from, group } => write!(f, "{from} sends to group {}", group.0),
            Step::Atomic { from, home, variable, operation } => {
                write!(f, "{from} asks for {operation:?} on variable {variable} of {home}")
            }
            Step::Create { at } => write!(f, "{at} creates its next group"),
            Step::Arrive { from, to } => write!(f, "a packet of {from} arrives at {to}"),
            Step::Process { at } => write!(f, "the host of {at} processes a packet"),
            Step::Release { at, index } => write!(f, "the host of {at} releases packet {index}"),
        }
    }
}
