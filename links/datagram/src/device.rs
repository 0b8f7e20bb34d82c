//! Interface to what carries datagrams.

use crate::memory::DatagramPlace;
use crate::seal::Seals;
use crate::{ArrivalSource, ReceiveQueue, SendQueue, WayChange};
use weft_link::clock::Nanoseconds;
use weft_link::memory::{Lending, Posting, ZeroCopy};
use weft_wire::Rank;

/// Datagrams of one rank that wait to be sent, or read.
pub struct Queues {
    /// Datagrams on their way out.
    pub outgoing: SendQueue<DatagramPlace>,
    /// Datagrams on their way in.
    pub incoming: ReceiveQueue<DatagramPlace>,
    /// Sealers and openers of both.
    pub seals: Seals,
}

/// Way of one rank's datagrams to the network and back: a socket, rings of an interface, an
/// endpoint. A [`DatagramLink`](crate::DatagramLink) looks at it ([`ArrivalSource`]), and calls
/// these.
pub trait Device: ArrivalSource<DatagramPlace> + Send + Sized + 'static {
    /// True if a packet that fills its datagram leaves from the frame that the program filled. If
    /// not, all are copied, and frames are free for others at once.
    const SENDS_FRAMES: bool;

    /// A place for a datagram; `None` while there is none.
    fn place(&mut self) -> Option<DatagramPlace>;

    /// Seals what waits and hands it to the system, as far as that takes it. True if some is left
    /// until it takes more.
    fn send(&mut self, queues: &mut Queues) -> bool;

    /// A frame's place whose datagram has left.
    #[inline]
    fn returned(&mut self) -> Option<DatagramPlace> {
        None
    }

    /// The place with this index, if its datagram is leaving: the system reads it, as may others.
    fn sending(&self, index: u32) -> Option<&DatagramPlace> {
        let _ = index;
        None
    }

    /// True if [`Self::send`] has something to do though no datagram waits: the system gives places
    /// back, and rings for none.
    #[inline]
    fn has_work(&self) -> bool {
        false
    }

    /// No frame is free: has the system give back those that have left.
    fn starve(&mut self) {}

    /// A packet of this rank was taken.
    #[inline]
    fn received(&mut self, from: Rank) {
        let _ = from;
    }

    /// A packet to this rank was dropped, because there was no place for it.
    #[inline]
    fn dropped(&mut self, to: Rank) {
        let _ = to;
    }

    /// Looks after the ways to others, now and then. Returns what is to be said about them.
    fn tend(&mut self, queues: &mut Queues, now: Nanoseconds) -> Option<WayChange> {
        let Queues { outgoing, incoming, .. } = queues;
        outgoing.tend(&mut incoming.pending_answers, now, || self.place())
    }

    /// True if whoever waits for the descriptor of arrivals misses nothing from here on. Asked when
    /// nothing has arrived.
    fn may_sleep(&mut self) -> bool {
        true
    }

    /// The memory of the program that travels in one piece, if any does.
    fn in_one_piece(&mut self) -> Option<&mut dyn InOnePiece> {
        None
    }

    /// Has the last datagrams leave: the link ends.
    fn leave(&mut self, queues: &mut Queues) {
        let _ = queues;
    }
}

/// Memory of the program that travels in one piece, beside datagrams.
pub trait InOnePiece: Lending + Posting + ZeroCopy {}

impl<T: Lending + Posting + ZeroCopy> InOnePiece for T {}
