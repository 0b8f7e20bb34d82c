//! Outcome of sorting a packet.

use weft_endpoint::Packets;

/// A handler `H` that is to run, and the message `M` for it.
pub(crate) struct Run<H, M> {
    pub handler: H,
    pub arrived: M,
}

/// Outcome of sorting a packet.
pub(crate) struct Announced<H, M> {
    /// A message begins with it, on which its handler runs now.
    pub run: Option<Run<H, M>>,
    /// Otherwise: the work that it leaves.
    pub work: Work,
}

/// Work that a packet leaves.
#[derive(Clone, Copy, Default)]
pub(crate) enum Work {
    /// Nothing: somebody may ask for what it brought.
    #[default]
    None,
    /// Handlers or tasks can run now.
    Handlers,
    /// Those who ask for messages of the port in this slot are to be woken.
    WakeReceivers(usize),
    /// The [taker](Taker) of the port in this slot is to wake somebody.
    WakeTaker(usize),
}

/// A part of this layer that takes messages of a port as they are sorted, before its handler could.
pub(crate) trait Taker<M>: Send + Sync {
    /// Takes the message, or gives it back. It runs inside the network and the state, so it enters
    /// neither, drops no message, and wakes nobody. A taker whose message a thread waits
    /// for is asked to [wake](Self::wake) that thread.
    fn take(&self, arrived: M, packets: &Packets) -> Result<Found, M>;

    /// Wakes those for whom messages were taken.
    fn wake(&self);
}

/// State of those who wait for a message that was taken.
pub(crate) enum Found {
    /// A thread that polls again without being woken.
    Looking,
    /// Somebody to be woken.
    Asleep,
}

impl<H, M> Default for Announced<H, M> {
    fn default() -> Self {
        Work::None.into()
    }
}

impl<H, M> From<Work> for Announced<H, M> {
    fn from(work: Work) -> Self {
        Announced { run: None, work }
    }
}
