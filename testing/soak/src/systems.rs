//! A program in which all systems of a rank are used at random beside one another, and its judge.
//!
//! All ranks run a [`SystemStorm`], over whatever link, real or simulated: messages, calls, an
//! ordered broadcast, packets, regions, events, and tagged messages with collectives as MPI has
//! them. Each kind of traffic has a sum that all ranks compute together: what is lost, doubled or
//! given to the wrong system changes one. Now and then a rank leaves its tagged messages alone, and
//! everything else has to end meanwhile.
//!
//! | module | what |
//! |---|---|
//! | `storm` | what a rank does, step by step |
//! | `rank` | a rank's systems, and the sums of what they have received |
//! | `tagged` | tagged messages and operations of all ranks, driven as a binding for MPI does it |
//!
//! May use everything that a program may. Keeps no invariant of its own; it is here to find those
//! that are broken.

mod rank;
mod storm;
mod tagged;

pub use storm::SystemStorm;

/// Reason why a storm could not go on.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Of calls or collective operations.
    #[error(transparent)]
    Weft(#[from] weft::Error),
    /// Of messages or orders.
    #[error(transparent)]
    Messages(#[from] weft_messaging::Error),
    /// Of packets.
    #[error(transparent)]
    Packets(#[from] weft_endpoint::Error),
    /// Of regions.
    #[error(transparent)]
    Regions(#[from] weft_region::Error),
    /// Of events.
    #[error(transparent)]
    Events(#[from] weft_events::Error),
    /// Of tagged messages.
    #[error(transparent)]
    Tagged(#[from] weft_tagged::Error),
}

/// A result with the [`enum@Error`] of this crate.
pub type Result<T> = std::result::Result<T, Error>;
