//! Actions of an NI: the orders to its surroundings.

use crate::slab::Key;
use weft_wire::{Atomic, Header, Rank, TreeId};

/// Outputs of the protocol, carried out by the owner of the link and the host.
///
/// Calls come in the order in which the actions must take effect. None may call back into the
/// [`crate::Ni`]; an implementation that wants to react does so after the event returned.
pub trait Actions<B> {
    /// Puts a packet on the wire. `body` stays owned by the NI until [`Self::free`]. Where packets
    /// are numbered `header.follows` says which others it must come after: a link that has several
    /// ways to a rank knows it from there alone.
    fn transmit(&mut self, to: Rank, header: &Header, body: &PacketBody<B>);
    /// True if something that was transmitted to `to` is on its way by a way that loses nothing
    /// without telling this rank: to send it again would be of no use.
    fn is_under_way(&mut self, to: Rank) -> bool {
        let _ = to;
        false
    }
    /// Hands a received packet to the host, which gives it back with [`crate::Ni::released`].
    fn deliver(&mut self, delivery: Delivery<B>);
    /// Leaves a received packet to the host, in the order of arrival: the protocol beyond this
    /// point is the host's (`hrx`). It is given back with [`crate::Ni::host_received`].
    fn defer(&mut self, deferred: Deferred<B>);
    /// Gives up a buffer: sent to all its destinations, or received, released and forwarded.
    fn free(&mut self, buffer: B);
    /// The atomic operation that this rank asked for found `value`.
    fn fetched(&mut self, value: u64);
    /// `peer` was not heard of for too long ([`crate::Silence`]). Said once of each.
    fn unreachable(&mut self, peer: Rank) {
        let _ = peer;
    }
    /// A peer says that `rank` has ended, for the cause with this number. Said once.
    fn lost(&mut self, rank: Rank, cause: u32) {
        let _ = (rank, cause);
    }
    /// A packet with `size` user bytes does not get to `peer`, however often it is sent, though
    /// short ones do. Said once of each peer.
    fn mtu_exceeded(&mut self, peer: Rank, size: u16) {
        let _ = (peer, size);
    }
}

/// The part of a packet that follows its header.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum PacketBody<B> {
    /// Nothing: the header says it all.
    Empty,
    /// The user bytes in a buffer.
    Buffer(B),
    /// A request for an atomic operation.
    Atomic {
        /// Number of the variable at the packet's destination.
        variable: u16,
        /// Operation on it.
        operation: Atomic,
    },
    /// The first word of a request for an operation that does not exist.
    Unknown(u64),
    /// The answer to a request: the value before the operation.
    Fetched(u64),
}

/// A received packet that the host has to look at before it is accepted, or even ordered.
#[must_use = "a deferred packet that does not come back is lost"]
#[derive(Debug, PartialEq, Eq)]
pub struct Deferred<B> {
    /// Its header.
    pub header: Header,
    /// The body that follows it. A buffer is the NI's still.
    pub body: PacketBody<B>,
    /// The NI has checked its number, and forwards it if it is to be forwarded.
    pub(crate) numbered: bool,
    /// Key of the others that need the buffer: the packets that forward it.
    pub(crate) holders: Option<Key>,
    /// The body is in a buffer of the host's own.
    pub(crate) copied: bool,
}

impl<B> Deferred<B> {
    /// A packet that nobody has looked at.
    pub(crate) fn raw(header: Header, body: PacketBody<B>) -> Self {
        Deferred { header, body, numbered: false, holders: None, copied: false }
    }

    /// A data packet that the NI has checked, and forwards if it is to be forwarded.
    pub(crate) fn numbered(header: Header, buffer: B, holders: Option<Key>) -> Self {
        let body = PacketBody::Buffer(buffer);
        Deferred { header, body, numbered: true, holders, copied: false }
    }
}

/// A received packet in the hands of the host (invariant I4: one owner).
///
/// Move-only: its holder owes the NI one [`crate::Ni::released`].
#[must_use = "a delivery that is not released costs its sender a credit for ever"]
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Delivery<B> {
    /// Buffer with the user bytes.
    pub buffer: B,
    /// Valid user bytes.
    pub size: u16,
    /// The tree that it came on; its root is the rank that sent the packet.
    pub tree: TreeId,
    /// The rank that gets the credit back.
    pub(crate) parent: Rank,
    /// Others that need the buffer.
    pub(crate) sharing: Sharing,
}

/// The needs of a delivered packet's buffer, besides the host's.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub(crate) enum Sharing {
    /// Nobody.
    Alone,
    /// The packets that forward it, some of which may wait for credits.
    Forwarded(Key),
    /// The children that it must be forwarded to once the host re-injects it; this is its number
    /// from the parent, where packets have numbers.
    Unforwarded(u32),
}

impl<B> Delivery<B> {
    /// A packet with this header, which others may be forwarding.
    pub(crate) fn received(buffer: B, header: &Header, parent: Rank, holders: Option<Key>) -> Self {
        let sharing = holders.map_or(Sharing::Alone, Sharing::Forwarded);
        Delivery { buffer, size: header.size, tree: header.tree, parent, sharing }
    }

    /// A packet to this rank alone that [`crate::Ni::received_plain`] has accepted.
    #[inline(always)]
    pub fn accepted(buffer: B, size: u16, tree: TreeId) -> Self {
        Delivery { buffer, size, tree, parent: tree.root, sharing: Sharing::Alone }
    }

    /// A copy of `original` in memory of the host's own, which takes the place of it.
    pub fn copied(buffer: B, original: &Self, local: Rank) -> Self {
        let Delivery { size, tree, .. } = *original;
        Delivery { buffer, size, tree, parent: local, sharing: Sharing::Alone }
    }

    /// The rank that sent the packet, over however many hops.
    #[inline]
    pub fn origin(&self) -> Rank {
        self.tree.root
    }

    /// True if nobody else uses the buffer: it is not being forwarded, nor to be.
    #[inline]
    pub fn is_alone(&self) -> bool {
        self.sharing == Sharing::Alone
    }

    /// True if the host must call [`crate::Ni::reinject`] before it looks at the packet.
    #[inline]
    pub fn wants_reinjection(&self) -> bool {
        matches!(self.sharing, Sharing::Unforwarded(_))
    }
}
