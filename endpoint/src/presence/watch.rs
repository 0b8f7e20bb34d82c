//! The upcall thread: interrupts, for a host that computes and does not poll (thesis 4.4, fig.
//! 4.16).
//!
//! ```text
//!           nothing is there             a ring, for a program that is not eager
//!   Look ─────────────────────▶ Sleep ──────────────────────────────────────────▶ Pause
//!    │ ▲                          └── time ──▶ Look                               ▲ │
//!    │ └──────────────────────────────────────────────────── time, on a network ──│─┤
//!    │ something waits, for the first time, or the host makes progress: longer    │ │ time, in
//!    ├────────────────────────────────────────────────────────────────────────────┘ │ memory:
//!    │ something waits, and the host has made no progress since the last look       │ as Look
//!    └──▶ Interrupt ──▶ Look (on a network), Pause (in memory)                  ◀───┘
//! ```
//! It sleeps until an arrival rings its bell, lets the polling watchdog's delay pass, and compares
//! the host's count of packets processed. If the host has processed none, it polls in the host's
//! place: that is the interrupt. While packets keep coming and the host keeps processing them, it
//! looks ever less often and leaves its bell unarmed, so that senders do not pay for waking it.
//!
//! In memory it reads counters after a pause, and looks, which arms the bell, only once nothing is
//! left. On a network a look serves the protocol, too, and the program's visits put off whatever it
//! sleeps for ([`super::fallback`]).

mod memory;
mod network;

pub use memory::MemoryWatch;
pub use network::NetworkWatch;

use super::constants::{DELAY_ON_SHARED_CORES, LONGEST_DELAY, MOST_DELAYS, SHARE_OF_ACTIVITY};
use super::contention::Core;
use super::fallback::Woken;
use std::time::Duration;
use weft_protocol::watchdog::HostStatus;

/// Next thing that the upcall thread is to do; the first is a look.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Act {
    /// Look at the node, and arm the bell if nothing is there.
    Look,
    /// Sleep until the bell rings, which was armed, or the look that was announced.
    Sleep,
    /// Leave the program this time.
    Pause(Duration),
    /// Poll in the host's place.
    Interrupt,
}

/// Outcome of an act.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum WatchEvent {
    /// It has looked.
    Looked(Found),
    /// A sleep is over.
    Woken(Woken),
    /// A pause is over.
    Paused,
    /// An interrupt is over.
    Interrupted,
}

/// Outcome of a look at the node.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Found {
    /// Something is there for the program, or for upcalls.
    Waits,
    /// Nothing is: the bell is armed, and the next look announced.
    Nothing,
    /// The program is inside; without it the next look is due after this tick.
    Inside(Duration),
}

/// The host, as the upcall thread sees it without entering the node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Host {
    /// State of the host for the watchdog.
    pub status: HostStatus,
    /// A number that grows whenever it takes something from the network.
    pub activity: u64,
    /// True if it waits without polling, and is given no time to poll.
    pub is_eager: bool,
    /// Share of its core.
    pub core: Core,
}

impl Host {
    /// Delay of an interrupt, as it is at first; `delay` is that with a core of its own.
    fn delay(&self, delay: Duration) -> Duration {
        match self.core {
            Core::Own => delay,
            Core::Shared | Core::Busy | Core::Rationed => delay.max(DELAY_ON_SHARED_CORES),
        }
    }
}

/// The pause after `pause`, for a host that has been polling for `active`.
fn longer(pause: Duration, delay: Duration, active: Duration) -> Duration {
    let share = active / SHARE_OF_ACTIVITY;
    (pause * 2).min((delay * MOST_DELAYS).max(share.min(LONGEST_DELAY)))
}

#[cfg(test)]
mod tests;
