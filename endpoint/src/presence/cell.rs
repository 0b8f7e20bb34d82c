//! Cells that threads of a rank share without the node's lock. These are the only atomics of the
//! machines; loom explores the agreements of [`Sleepers`] and [`PendingWork`].
//!
//! | type | agreement |
//! |---|---|
//! | [`Relaxed`] | none: any of the last values will do |
//! | [`Sleepers`] | a sender of work sees that a thread sleeps, or that thread sees the work |
//! | [`Interrupts`] | once interrupts are off, none runs and none begins |
//! | [`PendingWork`] | who sets work or an alarm rings, or the thread that goes to sleep sees it |

mod interrupts;
mod relaxed;
mod sleepers;
mod work;

pub use interrupts::Interrupts;
pub use relaxed::{Bits, Relaxed};
pub use sleepers::Sleepers;
pub use work::PendingWork;

#[cfg(all(test, loom))]
mod loom_checks;
