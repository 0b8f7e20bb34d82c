//! Pauses between two looks, as a time.
//!
//! The time between two looks is a constant, below the fastest line's way, and the number of pauses
//! in it follows from what one takes here ([`machine`]). So a look is never late by more than the
//! message's own way, or one pause.

use crate::machine::{self, pause};
use crate::presence::constants::BETWEEN_LOOKS_NS;

/// Number of pauses between two looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pauses(u32);

impl Pauses {
    /// One pause, whatever it takes.
    pub const ONE: Pauses = Pauses(1);

    /// Those that fit into the time between two looks here, one at least.
    pub fn measured() -> Self {
        Pauses::of(machine::pause_ns())
    }

    fn of(pause_ns: f64) -> Self {
        Pauses((BETWEEN_LOOKS_NS / pause_ns.max(1.0)).max(1.0) as u32)
    }

    /// Lets them pass.
    #[inline]
    pub(crate) fn pass(self) {
        (0..self.0).for_each(|_| pause());
    }
}

#[cfg(test)]
mod tests;
