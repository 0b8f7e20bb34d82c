//! Interface between the link and what carries its datagrams: an endpoint, or faults around one.

use crate::error::{FabricError, Refusal};
use crate::memory::Place;
use std::collections::VecDeque;
use std::ops::Range;
use weft_wire::Rank;

/// Carrier of datagrams between the ranks of a job.
///
/// A place that it takes is its own until an [`Event`] gives that back; then nobody writes to it
/// any more.
pub trait Transport: Send + 'static {
    /// More places, if the bound on them allows it.
    ///
    /// # Errors
    /// What the system or the provider says about the memory.
    fn grow(&mut self) -> Result<Vec<Place>, FabricError>;

    /// Sends this part of a place. Datagrams to one rank leave in the order of these calls. Returns
    /// the place if it is not needed any more.
    ///
    /// # Errors
    /// The place, and why it was not sent.
    fn send(
        &mut self,
        place: Place,
        part: Range<usize>,
        to: Rank,
    ) -> Result<Option<Place>, (Place, Unsent)>;

    /// Lends a place to a datagram that arrives.
    ///
    /// # Errors
    /// The place, if the provider takes no more of them now.
    fn post(&mut self, place: Place) -> Result<(), Place>;

    /// The place with this number, if it is being sent: whoever sends reads it, as may others.
    fn sending(&self, index: u32) -> Option<&Place>;

    /// Has the provider work, and adds what has happened since the last time.
    fn poll(&mut self, events: &mut VecDeque<Event>);

    /// True if whoever waits for the descriptor from here on misses nothing.
    fn may_sleep(&mut self) -> bool;
}

/// Reason why a datagram was not sent.
#[derive(Debug)]
pub enum Unsent {
    /// The provider takes no more at this time.
    Full,
    /// The provider has failed.
    Failed(Refusal),
}

/// Completion of an operation.
pub enum Event {
    /// A datagram of so many bytes has arrived.
    Received(Place, usize),
    /// A datagram has left, or more: it is not needed any more.
    Sent(Place),
    /// A datagram to this rank may be lost.
    SendFailed(Place, Rank, Refusal),
    /// A datagram that was too long, or none, came to this place.
    ReceiveFailed(Place),
}
