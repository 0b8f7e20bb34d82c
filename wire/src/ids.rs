//! The numbers that packets carry, each a type of its own.

use std::fmt;

/// A process of the job, numbered `0..P`; fixed at start-up (thesis 3.1.1).
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, serde::Serialize, serde::Deserialize,
)]
pub struct Rank(pub u16);

impl Rank {
    /// This rank as an index into a table of `P` entries.
    #[inline]
    pub fn index(self) -> usize {
        usize::from(self.0)
    }

    /// The hops from this rank to `to` if `ranks` of them formed a one-way ring (Appendix A.1).
    pub fn distance_to(self, to: Rank, ranks: usize) -> usize {
        (to.index() + ranks - self.index()) % ranks
    }
}

impl From<u16> for Rank {
    fn from(number: u16) -> Self {
        Rank(number)
    }
}

impl PartialEq<u16> for Rank {
    fn eq(&self, number: &u16) -> bool {
        self.0 == *number
    }
}

impl fmt::Display for Rank {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for Rank {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rank {}", self.0)
    }
}

/// A multicast group. All ranks create the same groups in the same order, so that its number
/// means the same everywhere; group 0 is the broadcast group.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct GroupId(pub u16);

impl GroupId {
    /// The group of all ranks.
    pub const ALL: GroupId = GroupId(0);
    /// Stands for "no group" in the tree identifiers of unicast packets.
    const NONE: GroupId = GroupId(u16::MAX);
    /// The number of groups that there can be.
    pub const LIMIT: u16 = Self::NONE.0;
}

/// The system that a packet belongs to: 4 bits of its header.
///
/// Flow control, order and recovery are those of the pair of ranks, whatever the protocol; the
/// number says who gets the packet when it has arrived.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Protocol(u8);

impl Protocol {
    /// The number of protocols that there can be.
    pub const LIMIT: usize = 16;
    /// Packets that a program sends and receives itself.
    pub const PACKETS: Protocol = Protocol(0);
    /// The endpoints' own: which protocols a rank cannot take at the moment.
    pub const ENDPOINT: Protocol = Protocol(1);
    /// Puts and gets.
    pub const PUTS: Protocol = Protocol(2);
    /// Stream messages, calls, ordered broadcast.
    pub const MESSAGES: Protocol = Protocol(3);
    /// Shared regions.
    pub const REGIONS: Protocol = Protocol(4);
    /// Events and fragments.
    pub const EVENTS: Protocol = Protocol(5);
    /// Tagged messages, as MPI has them.
    pub const TAGGED: Protocol = Protocol(6);
    /// The first of the numbers that programs may give to protocols of their own.
    pub const FIRST_OF_USERS: Protocol = Protocol(8);

    /// The protocol with this number; `None` unless it is below [`Self::LIMIT`].
    #[inline]
    pub const fn numbered(number: u8) -> Option<Self> {
        if (number as usize) < Self::LIMIT { Some(Protocol(number)) } else { None }
    }

    /// The number, below [`Self::LIMIT`].
    #[inline]
    pub const fn index(self) -> usize {
        // The mask tells the compiler what the constructors keep.
        (self.0 & 15) as usize
    }

    /// The number as the upper half of a byte.
    #[inline]
    pub(crate) const fn to_upper_bits(self) -> u8 {
        self.0 << 4
    }

    /// The protocol in the upper half of `byte`.
    #[inline]
    pub(crate) const fn of_upper_bits(byte: u8) -> Self {
        Protocol(byte >> 4)
    }
}

/// A spanning tree: the group that it spans and the member at its root.
///
/// Unicast packets travel in trees too, of two nodes each (thesis 4.2.5), so that releasing a
/// packet finds the receiver of its credit in one way only: the parent in the packet's tree.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TreeId {
    /// The group, or none for a unicast tree.
    group: GroupId,
    /// The member that sends on this tree.
    pub root: Rank,
    /// The system whose packets travel on it. Each has trees of its own, of the same shapes.
    pub protocol: Protocol,
}

impl TreeId {
    /// The two-node trees that `sender` is the root of.
    #[inline]
    pub fn unicast(sender: Rank) -> Self {
        TreeId { group: GroupId::NONE, root: sender, protocol: Protocol::PACKETS }
    }

    /// This tree, for packets of `protocol`.
    #[inline]
    pub fn of(self, protocol: Protocol) -> Self {
        TreeId { protocol, ..self }
    }

    /// True if this is one of the two-node trees that `sender` is the root of.
    #[inline]
    pub fn is_unicast_of(self, sender: Rank) -> bool {
        self.root == sender && self.group == GroupId::NONE
    }

    /// The tree on which `root` multicasts to `group`.
    #[inline]
    pub fn multicast(group: GroupId, root: Rank) -> Self {
        TreeId { group, root, protocol: Protocol::PACKETS }
    }

    /// The group that this tree spans; `None` for a unicast tree.
    #[inline]
    pub fn group(self) -> Option<GroupId> {
        (self.group != GroupId::NONE).then_some(self.group)
    }

    /// The group and the root as one number; the protocol is elsewhere in headers.
    #[inline]
    pub fn to_bits(self) -> u32 {
        u32::from(self.group.0) << 16 | u32::from(self.root.0)
    }

    /// The identifier that [`Self::to_bits`] made.
    #[inline]
    pub fn from_bits(bits: u32) -> Self {
        TreeId {
            group: GroupId((bits >> 16) as u16),
            root: Rank(bits as u16),
            protocol: Protocol::PACKETS,
        }
    }
}

impl fmt::Debug for TreeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.group() {
            Some(group) => write!(f, "tree of group {} from {:?}", group.0, self.root)?,
            None => write!(f, "unicast from {:?}", self.root)?,
        }
        match self.protocol {
            Protocol::PACKETS => Ok(()),
            Protocol(number) => write!(f, " for protocol {number}"),
        }
    }
}

/// The deadlock-recovery channel that a packet travels on: that of one rank, or none (thesis 4.3).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Channel(pub Option<Rank>);

impl Channel {
    /// The ordinary channel.
    pub const NONE: Channel = Channel(None);

    #[inline]
    pub(crate) fn to_bits(self) -> u16 {
        self.0.map_or(u16::MAX, |owner| owner.0)
    }

    #[inline]
    pub(crate) fn from_bits(bits: u16) -> Self {
        Channel((bits != u16::MAX).then_some(Rank(bits)))
    }
}
