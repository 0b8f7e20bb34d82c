//! A team that grows by ranks that come later: what its first member tells these, and what they
//! make of it. No clock, no network, no lock.
//!
//! All members are in a barrier, then the first has ranks started, and then it tells the members by
//! a broadcast. Both operations end well at all members that live, or at none. Those who come hear
//! of their team from the first member, who *invites* them, or *withdraws* them if the broadcast
//! has failed: then no member knows them. If they hear of its loss before, they end.
//!
//! | invariant | |
//! |---|---|
//! | G1 | whoever comes has a team only if all members that live and are done have it |
//! | G2 | nobody waits for ever: once nothing is under way, all that live are done |
//! | G3 | whoever comes and is not needed ends as no loss, as a victim if the first member is lost |
//!
//! The tests explore it, with ranks that are lost meanwhile.

use crate::mistake::Mistake;
use weft_endpoint::Rank;

/// The part of a team's first member.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Growing {
    come: Vec<Rank>,
    pub(crate) mistake: Mistake<Planted>,
}

/// The part of a rank that comes.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Coming {
    spawner: Rank,
    pub(crate) mistake: Mistake<Planted>,
}

/// News for those who come.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum News {
    /// The team that they come to.
    Invited,
    /// That they are not needed.
    Withdrawn,
}

/// News that a rank has heard that comes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Heard {
    /// Those of the rank that had it started.
    Said(News),
    /// The loss of a rank.
    Loss(Rank),
}

/// The end of the wait of a rank that comes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Come {
    /// It has a team.
    Member,
    /// It is not needed, and ends as no loss.
    Unneeded,
    /// It ends because of a loss.
    Victim,
}

/// A mistake to plant: a test of the tests, which alone can make it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Planted {
    /// Those who come are invited whether the members have heard of them or not.
    InviteAnyway,
    /// Nobody is withdrawn.
    ForgetThem,
    /// Whoever comes does not mind that the first member is lost.
    MindNoLoss,
}

impl Growing {
    /// These ranks have been started, before the members are told.
    pub fn started(&mut self, come: Vec<Rank>) {
        self.come = come;
    }

    /// The broadcast has ended, well or not. Returns those who come, and what they are told.
    pub fn ended(&mut self, is_well: bool) -> (Vec<Rank>, News) {
        let come = std::mem::take(&mut self.come);
        match is_well || self.mistake.is(Planted::InviteAnyway) {
            true => (come, News::Invited),
            false if self.mistake.is(Planted::ForgetThem) => (Vec::new(), News::Withdrawn),
            false => (come, News::Withdrawn),
        }
    }
}

impl Coming {
    /// A rank that `spawner` had started.
    pub fn new(spawner: Rank) -> Self {
        Coming { spawner, mistake: Mistake::default() }
    }

    /// The outcome of what it has heard; `None` if it waits for more.
    pub fn hear(&self, heard: Heard) -> Option<Come> {
        match heard {
            Heard::Said(News::Invited) => Some(Come::Member),
            Heard::Said(News::Withdrawn) => Some(Come::Unneeded),
            Heard::Loss(_) if self.mistake.is(Planted::MindNoLoss) => None,
            Heard::Loss(rank) => (rank == self.spawner).then_some(Come::Victim),
        }
    }
}

#[cfg(test)]
mod tests;
