//! Short packets: those that are in no frame.

use crate::{Buffer, Gather, Plain, ReceivedPlain};
use std::sync::Arc;
use weft_wire::{Header, Rank};

/// Short packets of a link of type `L`, where so few bytes travel with the header that to fill a
/// frame first costs more than to send them. They are sent and received in their places among all
/// others.
///
/// A value of this type exists only for a link that has them ([`crate::Link::SHORT`]).
pub trait ShortPackets<L>: Copy + Send + 'static {
    /// Glance at this link's network.
    type Glance: Glance;

    /// Returns the glance, which needs no lock around the link. Links without short packets have
    /// one that knows nothing.
    fn glance(link: &L) -> Arc<Self::Glance>;

    /// True if packets to `to` may be short.
    fn are_taken_by(self, link: &L, to: Rank) -> bool;

    /// Transmits `header.size` bytes that are in no frame, at most as many as
    /// [`crate::ShortWords`] hold, to a rank that [takes them](Self::are_taken_by). They are
    /// gathered where the packet leaves from.
    fn transmit(self, link: &mut L, to: Rank, header: &Header, bytes: &impl Gather);

    /// Returns the next packet if it is plain, in no frame, and from the sender of the last one.
    /// This is the cheapest poll. [`Self::take`] takes the packet.
    fn peek(self, link: &L) -> Option<Plain>;

    /// Takes the packet that [`Self::peek`] has just returned.
    fn take(self, link: &mut L, short: &Plain);

    /// Receives the next packet, if it is plain.
    fn receive(self, link: &mut L) -> ReceivedPlain;

    /// Copies the bytes of the short packet that was taken last, and has to wait, into a buffer.
    fn store(self, link: &mut L, short: &Plain) -> Buffer;
}

/// Glance at the network: a check that any thread may make at any time, without a lock.
pub trait Glance: Send + Sync + 'static {
    /// True if [`crate::Link::receive`] would have found nothing a moment ago, and the job has lost
    /// no rank. False where that is not known.
    fn is_idle(&self) -> bool;
}

/// Glance that knows nothing, for links where a check takes a poll.
#[derive(Debug, Default)]
pub struct NoGlance;

impl Glance for NoGlance {
    #[inline(always)]
    fn is_idle(&self) -> bool {
        false
    }
}

/// Short packets of a link that has none. There is no value of this.
#[derive(Clone, Copy, Debug)]
pub enum NoShort {}

impl<L> ShortPackets<L> for NoShort {
    type Glance = NoGlance;

    fn glance(_: &L) -> Arc<NoGlance> {
        Arc::default()
    }

    fn are_taken_by(self, _: &L, _: Rank) -> bool {
        match self {}
    }

    fn transmit(self, _: &mut L, _: Rank, _: &Header, _: &impl Gather) {
        match self {}
    }

    fn peek(self, _: &L) -> Option<Plain> {
        match self {}
    }

    fn take(self, _: &mut L, _: &Plain) {
        match self {}
    }

    fn receive(self, _: &mut L) -> ReceivedPlain {
        match self {}
    }

    fn store(self, _: &mut L, _: &Plain) -> Buffer {
        match self {}
    }
}
