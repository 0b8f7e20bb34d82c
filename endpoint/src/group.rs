//! Multicast groups, as users name them.

use weft_wire::GroupId;

/// A multicast group that this rank knows.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub struct Group(pub(crate) GroupId);

impl Group {
    /// All ranks.
    pub const ALL: Group = Group(GroupId::ALL);

    /// The group with this number, whether this rank knows it or not.
    pub fn numbered(number: u16) -> Self {
        Group(GroupId(number))
    }

    /// Its number: the same on all ranks.
    #[inline]
    pub fn number(self) -> u16 {
        self.0.0
    }
}
