//! The ranks of a team.

use std::collections::BTreeMap;
use weft_endpoint::{Group, Rank};

/// The ranks of a team, in its own order.
#[derive(Debug)]
pub struct Members {
    /// `None`: all ranks, as they are numbered.
    subset: Option<(Vec<Rank>, BTreeMap<Rank, usize>)>,
    size: usize,
    me: usize,
    group: Option<Group>,
}

impl Members {
    /// All ranks of a job.
    pub fn all(size: usize, me: Rank) -> Self {
        Members { subset: None, size, me: me.index(), group: Some(Group::ALL) }
    }

    /// Some ranks, with their multicast group if they have one; `None` if `me` is not one of them,
    /// or if one is there twice.
    pub fn subset(members: &[Rank], me: Rank, group: Option<Group>) -> Option<Self> {
        let places: BTreeMap<_, _> = members.iter().copied().zip(0..).collect();
        let me = *places.get(&me)?;
        if places.len() != members.len() {
            return None;
        }
        let subset = Some((members.to_vec(), places));
        Some(Members { subset, size: members.len(), me, group })
    }

    /// Number of members.
    #[inline]
    pub fn size(&self) -> usize {
        self.size
    }

    /// This rank's place.
    #[inline]
    pub fn me(&self) -> usize {
        self.me
    }

    /// Their multicast group.
    #[inline]
    pub fn group(&self) -> Option<Group> {
        self.group
    }

    /// The rank of member `place`, which there is.
    #[inline]
    pub fn rank(&self, place: usize) -> Rank {
        match &self.subset {
            None => Rank(place as u16),
            Some((ranks, _)) => ranks[place],
        }
    }

    /// All ranks but this one's.
    pub fn others(&self) -> impl Iterator<Item = Rank> + '_ {
        (0..self.size).filter(|&place| place != self.me).map(|place| self.rank(place))
    }

    /// The place of another rank.
    #[inline]
    pub fn place(&self, rank: Rank) -> Option<usize> {
        let place = match &self.subset {
            None => Some(rank.index()).filter(|&place| place < self.size),
            Some((_, places)) => places.get(&rank).copied(),
        };
        place.filter(|&place| place != self.me)
    }
}
