//! Multicast groups and the spanning trees of their members (thesis 4.2.2, Appendix A).
//!
//! All trees of a group are the tree of its first member, renumbered (thesis 4.2.6), so nothing is
//! stored per tree: who my parent and children are follows from my position relative to the root.
//! Where several ranks share a host, trees have two levels (`hosts`).

mod hosts;

use hosts::{Hosts, Member};
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;
use weft_wire::Rank;

/// The shape of multicast trees.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, PartialOrd, Ord)]
pub enum Shape {
    /// Position `n` forwards to `2n + 1` and `2n + 2`; free of deadlock, the default.
    #[default]
    Binary,
    /// Position `n` forwards to `n + 2^j` for all `2^j` below its lowest set bit; free of deadlock.
    Binomial,
    /// Position `n` forwards to `n + 1`; can deadlock without recovery (thesis fig. 4.8).
    Chain,
    /// The root sends to all; nobody forwards.
    Flat,
    /// The root sends to one, which forwards to all others (thesis fig. 5.6): shows what a forward
    /// costs. Like a chain it can deadlock without recovery.
    Relay,
}

impl Shape {
    /// All shapes.
    pub const ALL: [Shape; 5] =
        [Shape::Binary, Shape::Binomial, Shape::Chain, Shape::Flat, Shape::Relay];

    /// Number of children of `position` in a tree of `members`.
    #[inline]
    fn children(self, position: usize, members: usize) -> usize {
        match (self, position) {
            (Shape::Binary, _) => members.saturating_sub(2 * position + 1).min(2),
            (Shape::Binomial, _) => binomial_children(position, members),
            (Shape::Chain, _) | (Shape::Relay, 0) => usize::from(position + 1 < members),
            (Shape::Flat, 0) => members - 1,
            (Shape::Relay, 1) => members - 2,
            (Shape::Flat | Shape::Relay, _) => 0,
        }
    }

    /// The `i`-th child of `position` in a tree of `members`, if it has that many.
    #[inline]
    fn child(self, position: usize, i: usize, members: usize) -> Option<usize> {
        let children = self.children(position, members);
        (i < children).then(|| match (self, position) {
            (Shape::Binary, _) => 2 * position + 1 + i,
            // The farthest child first: it has the largest subtree to serve.
            (Shape::Binomial, _) => position + (1 << (children - i - 1)),
            (Shape::Relay, 1) => i + 2,
            (Shape::Chain | Shape::Flat | Shape::Relay, _) => position + 1 + i,
        })
    }

    /// The parent of `position`; `None` for the root.
    fn parent(self, position: usize) -> Option<usize> {
        if position == 0 {
            return None;
        }
        Some(match self {
            Shape::Binary => (position - 1) / 2,
            Shape::Binomial => position & (position - 1),
            Shape::Chain => position - 1,
            Shape::Flat => 0,
            Shape::Relay => usize::from(position > 1),
        })
    }
}

/// Number of `j` with `2^j` below the lowest set bit of `position` (which the root lacks) and
/// `position + 2^j` below `members`.
fn binomial_children(position: usize, members: usize) -> usize {
    (0..usize::BITS)
        .take_while(|&j| {
            (position == 0 || j < position.trailing_zeros()) && position + (1 << j) < members
        })
        .count()
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Shape::Binary => "binary",
            Shape::Binomial => "binomial",
            Shape::Chain => "chain",
            Shape::Flat => "flat",
            Shape::Relay => "relay",
        })
    }
}

/// No tree shape has this name.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("there is no tree shape '{0}'; there are binary, binomial, chain, flat and relay")]
pub struct UnknownShape(String);

impl FromStr for Shape {
    type Err = UnknownShape;

    fn from_str(name: &str) -> Result<Self, UnknownShape> {
        Shape::ALL
            .into_iter()
            .find(|shape| shape.to_string() == name)
            .ok_or_else(|| UnknownShape(name.into()))
    }
}

/// Stands in for the place of a rank that is not in a group.
const NOT_A_MEMBER: u16 = u16::MAX;

/// All numbers that ranks may have.
static RANKS: [Rank; u16::MAX as usize] = {
    let mut ranks = [Rank(0); u16::MAX as usize];
    let mut i = 0;
    while i < ranks.len() {
        ranks[i] = Rank(i as u16);
        i += 1;
    }
    ranks
};

/// A multicast group: a fixed set of ranks (thesis 3.1.3).
#[derive(Debug, Clone)]
pub struct MulticastGroup {
    members: Cow<'static, [Rank]>,
    /// Each rank's place in `members`; `None` if that is its number, as in the broadcast group.
    places: Option<Vec<u16>>,
    shape: Shape,
    /// The hosts that members share.
    hosts: Option<Hosts>,
}

impl MulticastGroup {
    /// The group of all ranks; it stores nothing for any of them.
    pub fn everyone(ranks: u16, shape: Shape) -> Self {
        MulticastGroup {
            members: Cow::Borrowed(&RANKS[..usize::from(ranks)]),
            places: None,
            shape,
            hosts: None,
        }
    }

    /// The group of `members`, numbered in the order given.
    ///
    /// # Errors
    /// [`GroupError`] if `members` is empty, names a rank twice, or one outside the job.
    pub fn new(members: &[Rank], shape: Shape, ranks: usize) -> Result<Self, GroupError> {
        let mut places = vec![NOT_A_MEMBER; ranks];
        for (place, &member) in members.iter().enumerate() {
            match places.get_mut(member.index()) {
                None => return Err(GroupError::OutsideJob { member, ranks }),
                Some(taken) if *taken != NOT_A_MEMBER => return Err(GroupError::Twice(member)),
                Some(free) => *free = place as u16,
            }
        }
        if members.is_empty() {
            return Err(GroupError::Empty);
        }
        let everyone = members.len() == ranks && members.is_sorted();
        let places = (!everyone).then_some(places);
        Ok(MulticastGroup { members: Cow::Owned(members.to_vec()), places, shape, hosts: None })
    }

    /// Takes `rank` out of it, if it is a member; those after it move up.
    ///
    /// # Panics
    /// If trees know hosts: where a rank may be lost, all are stars.
    pub(crate) fn remove(&mut self, rank: Rank) {
        let Some(at) = self.place(rank) else { return };
        assert!(self.hosts.is_none(), "a forwarder cannot leave its trees");
        self.members.to_mut().remove(at);
        let ranks = self.places.as_ref().map_or(self.members.len() + 1, Vec::len);
        let mut places = vec![NOT_A_MEMBER; ranks.max(rank.index() + 1)];
        for (place, member) in self.members.iter().enumerate() {
            places[member.index()] = place as u16;
        }
        self.places = Some(places);
    }

    /// This group with trees that cross to each host once, given the host of each rank of the job
    /// by rank: the shape is then that of the tree between hosts.
    ///
    /// # Panics
    /// If a member has no host.
    #[must_use]
    pub fn on_hosts(self, host_of: &[u16]) -> Self {
        let hosts = Hosts::new(&self.members, host_of);
        MulticastGroup { hosts, ..self }
    }

    /// The members, in their numbering.
    pub fn members(&self) -> &[Rank] {
        &self.members
    }

    /// True if `rank` is a member.
    pub fn contains(&self, rank: Rank) -> bool {
        self.place(rank).is_some()
    }

    /// The `i`-th child of `member` in the tree of `root`; `None` if there is none, or if either
    /// is not a member.
    pub fn child(&self, root: Rank, member: Rank, i: usize) -> Option<Rank> {
        if let Some(hosts) = &self.hosts {
            return hosts.child(self.shape, self.named(root)?, self.named(member)?, i);
        }
        let (base, position) = self.position(root, member)?;
        let child = self.shape.child(position, i, self.members.len())?;
        Some(self.member_at(base + child))
    }

    /// The parent of `member` in the tree of `root`; `None` for the root and for non-members.
    pub fn parent(&self, root: Rank, member: Rank) -> Option<Rank> {
        if let Some(hosts) = &self.hosts {
            return hosts.parent(self.shape, self.named(root)?, self.named(member)?);
        }
        let (base, position) = self.position(root, member)?;
        Some(self.member_at(base + self.shape.parent(position)?))
    }

    /// All children of `member` in the tree of `root`.
    pub fn children(&self, root: Rank, member: Rank) -> impl Iterator<Item = Rank> + '_ {
        (0..).map_while(move |i| self.child(root, member, i))
    }

    /// Appendix A.1's sufficient condition, in both its forms: with the members in a ring, at every
    /// forwarder of every tree the way from the parent is shorter than all ways to the children, or
    /// it is longer than all of them. Holds per group, not across overlapping groups. Where members
    /// share hosts, the ring is that of the hosts, because what comes from beside is not forwarded.
    pub fn satisfies_distance_condition(&self) -> bool {
        self.every_forwarder(|from_parent, to_child| from_parent < to_child)
            || self.every_forwarder(|from_parent, to_child| from_parent > to_child)
    }

    fn every_forwarder(&self, holds: impl Fn(usize, usize) -> bool) -> bool {
        let n = self.hosts.as_ref().map_or(self.members.len(), Hosts::count);
        (0..n).all(|position| {
            let Some(parent) = self.shape.parent(position) else { return true };
            (0..)
                .map_while(|i| self.shape.child(position, i, n))
                .all(|child| holds(position - parent, child - position))
        })
    }

    fn named(&self, member: Rank) -> Option<Member> {
        Some((member, self.place(member)?))
    }

    fn position(&self, root: Rank, member: Rank) -> Option<(usize, usize)> {
        let (base, place) = (self.place(root)?, self.place(member)?);
        let n = self.members.len();
        Some((base, if place >= base { place - base } else { place + n - base }))
    }

    #[inline]
    fn place(&self, rank: Rank) -> Option<usize> {
        let Some(places) = &self.places else {
            return (rank.index() < self.members.len()).then_some(rank.index());
        };
        let place = *places.get(rank.index())?;
        (place != NOT_A_MEMBER).then_some(usize::from(place))
    }

    fn member_at(&self, position: usize) -> Rank {
        let n = self.members.len();
        self.members[if position < n { position } else { position - n }]
    }
}

/// Reason why some ranks are not a group.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum GroupError {
    /// No members.
    #[error("a multicast group needs at least one member")]
    Empty,
    /// A member named twice.
    #[error("{0:?} is named twice in the group")]
    Twice(Rank),
    /// A member that the job does not have.
    #[error("{member:?} cannot be in a group: the job has ranks 0..{ranks}")]
    OutsideJob {
        /// The rank named.
        member: Rank,
        /// Number of ranks of the job.
        ranks: usize,
    },
}

#[cfg(test)]
mod tests;
