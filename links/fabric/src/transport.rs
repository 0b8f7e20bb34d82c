//! Interface between the link and what carries its datagrams: an endpoint, or faults around one.

use crate::error::{FabricError, LibfabricError};
use crate::memory::ProgramMemory;
use std::collections::VecDeque;
use std::ops::Range;
use weft_datagram::memory::DatagramPlace;
use weft_wire::Rank;

/// Carrier of datagrams between the ranks of a job.
///
/// A place that it takes is its own until an [`TransportEvent`] gives that back; then nobody writes
/// to it any more.
pub trait DatagramTransport: Send + 'static {
    /// More places, if the bound on them allows it.
    ///
    /// # Errors
    /// What the system or the provider says about the memory.
    fn grow(&mut self) -> Result<Vec<DatagramPlace>, FabricError>;

    /// Sends this part of a place. Datagrams to one rank leave in the order of these calls. Returns
    /// the place if it is not needed any more.
    ///
    /// # Errors
    /// The place, and why it was not sent.
    fn send(
        &mut self,
        place: DatagramPlace,
        part: Range<usize>,
        to: Rank,
    ) -> Result<Option<DatagramPlace>, (DatagramPlace, Unsent)>;

    /// Lends a place to a datagram that arrives.
    ///
    /// # Errors
    /// The place, if the provider takes no more of them now.
    fn post(&mut self, place: DatagramPlace) -> Result<(), DatagramPlace>;

    /// The place with this number, if it is being sent: whoever sends reads it, as may others.
    fn sending(&self, index: u32) -> Option<&DatagramPlace>;

    /// Has the provider work, and adds what has happened since the last time.
    fn poll(&mut self, events: &mut VecDeque<TransportEvent>);

    /// True if a wait for the descriptor from here on misses nothing.
    fn may_sleep(&mut self) -> bool;

    /// Bytes of the longest piece of memory that travels under a tag; 0 if none does.
    fn longest_piece(&self) -> usize {
        0
    }

    /// Sends a piece to who has [posted](Self::post_piece) as long a one under this tag. It ends
    /// by an [`TransportEvent::Ended`] with this number, which is none of another piece under way
    /// and less than [`PIECES`]. Its bytes are read until then.
    ///
    /// # Errors
    /// It was not sent.
    fn send_piece(
        &mut self,
        number: usize,
        to: Rank,
        tag: u64,
        piece: &ProgramMemory,
    ) -> Result<(), Unsent> {
        let _ = (number, to, tag, piece);
        unreachable!("no piece is that long")
    }

    /// Lends a piece to what is sent to this rank under this tag; it ends as one that is sent. Its
    /// bytes are written until then. False if the provider takes no more of them now.
    fn post_piece(&mut self, number: usize, tag: u64, piece: &ProgramMemory) -> bool {
        let _ = (number, tag, piece);
        unreachable!("no piece is that long")
    }

    /// Ends a piece that was posted, unless something is on its way into it.
    fn cancel_piece(&mut self, number: usize) {
        let _ = number;
    }

    /// Ends all at once: the provider uses nothing that it was given from here on, and sends and
    /// brings nothing more.
    fn shut_down(&mut self) {}
}

/// Pieces that are under way at a time, at most.
pub const PIECES: usize = 256;

/// Reason why a datagram was not sent.
#[derive(Debug)]
pub enum Unsent {
    /// The provider takes no more at this time.
    Full,
    /// The provider has failed.
    Failed(LibfabricError),
}

/// Completion of an operation.
pub enum TransportEvent {
    /// A datagram of so many bytes has arrived.
    Received(DatagramPlace, usize),
    /// A datagram has left, or more: it is not needed any more.
    Sent(DatagramPlace),
    /// A datagram to this rank may be lost.
    SendFailed(DatagramPlace, Rank, LibfabricError),
    /// A datagram that was too long, or none, came to this place.
    ReceiveFailed(DatagramPlace),
    /// The piece with this number has left, or so many bytes of it have come; or that has failed.
    Ended(usize, Result<usize, LibfabricError>),
}
