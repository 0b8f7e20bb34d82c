//! What becomes of a packet that was sorted.

use crate::arrived::Arrived;
use crate::handler::Handler;
use weft_packet::Packets;

/// A handler that is to run, and the message for it.
pub(crate) struct Run {
    pub handler: Box<Handler>,
    pub arrived: Box<Arrived>,
}

/// What becomes of a packet.
#[derive(Default)]
pub(crate) struct Announced {
    /// A message begins with it, on which its handler runs now.
    pub run: Option<Run>,
    /// Otherwise: what it leaves to do.
    pub waits: Waits,
}

/// What a packet leaves to do.
#[derive(Clone, Copy, Default)]
pub(crate) enum Waits {
    /// Nothing: somebody may ask for what it brought.
    #[default]
    Quietly,
    /// What can run is to run.
    Busily,
    /// Those who ask for messages of the port in this slot are to be woken.
    ForReceivers(usize),
    /// The [taker](Taker) of the port in this slot is to wake somebody.
    ForTaker(usize),
}

/// A part of this layer that takes messages of a port as they are sorted, before its handler could.
pub(crate) trait Taker: Send + Sync {
    /// Takes the message, or gives it back. It runs inside the network and the state, so it enters neither, drops no
    /// message, and wakes nobody. Who takes one that somebody waits for is asked to [wake](Self::wake) them.
    fn take(&self, arrived: Box<Arrived>, packets: &Packets) -> Result<Found, Box<Arrived>>;
    /// Wakes those for whom messages were taken.
    fn wake(&self);
}

/// Who waits for a message that was taken.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    /// Somebody who looks again without being woken.
    Looking,
    /// Somebody to be woken.
    Asleep,
}

impl From<Waits> for Announced {
    fn from(waits: Waits) -> Self {
        Announced { run: None, waits }
    }
}
