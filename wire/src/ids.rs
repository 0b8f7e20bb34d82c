//! The numbers that packets carry, each a type of its own.

use std::fmt;

/// A process of the job, numbered `0..P`; fixed at start-up (thesis 3.1.1).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
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
    /// Stands for "no group" in those of placed packets.
    const PLACED: GroupId = GroupId(u16::MAX - 1);
    /// Most groups: the numbers from here on stand for none.
    pub const LIMIT: u16 = Self::PLACED.0;
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
}

impl TreeId {
    /// The two-node trees that `sender` is the root of.
    #[inline]
    pub fn unicast(sender: Rank) -> Self {
        TreeId { group: GroupId::NONE, root: sender }
    }

    /// Tree of placed packets of a sender: its packets are placed where their sender says instead
    /// of handed to the receiver's program.
    #[inline]
    pub fn placed(sender: Rank) -> Self {
        TreeId { group: GroupId::PLACED, root: sender }
    }

    /// True if packets of this tree are placed.
    #[inline]
    pub fn is_placed(self) -> bool {
        self.group == GroupId::PLACED
    }

    /// True if this is one of the two-node trees that `sender` is the root of.
    #[inline]
    pub fn is_unicast_of(self, sender: Rank) -> bool {
        self.root == sender && self.group >= GroupId::PLACED
    }

    /// The tree on which `root` multicasts to `group`.
    #[inline]
    pub fn multicast(group: GroupId, root: Rank) -> Self {
        TreeId { group, root }
    }

    /// The group that this tree spans; `None` for a unicast tree.
    #[inline]
    pub fn group(self) -> Option<GroupId> {
        (self.group < GroupId::PLACED).then_some(self.group)
    }

    /// This identifier as one number.
    #[inline]
    pub fn to_bits(self) -> u32 {
        u32::from(self.group.0) << 16 | u32::from(self.root.0)
    }

    /// The identifier that [`Self::to_bits`] made.
    #[inline]
    pub fn from_bits(bits: u32) -> Self {
        TreeId { group: GroupId((bits >> 16) as u16), root: Rank(bits as u16) }
    }
}

impl fmt::Debug for TreeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.group() {
            Some(group) => write!(f, "tree of group {} from {:?}", group.0, self.root),
            None if self.is_placed() => write!(f, "placed by {:?}", self.root),
            None => write!(f, "unicast from {:?}", self.root),
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
