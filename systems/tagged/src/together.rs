//! Operations that all members of a team take part in: what collectives of MPI move (thesis 7.4.2).
//!
//! A [`Movement`] says which bytes go from whom to whom. All members begin the same movements in the same order, so
//! its team and a count name one. A piece that a member awaits is placed where it belongs; one that comes before this member has begun is stored.
//!
//! ```text
//!   up to 64 KiB:  pieces ───────▶ placed, or stored until the movement is begun here
//!   the rest:             ◀─────── ready, as soon as the movement is begun here
//!                  pieces ───────▶ placed
//! ```
//! What goes to all others is multicast packet by packet where the team is the whole job, so that it is pipelined and nobody copies it once for each
//! receiver; otherwise each gets packets of its own. Combining is the caller's: reductions are movements, and a fold in
//! the order of members by whoever has the parts, so that they give the same bits at all members and in every run.
//!
//! Where ranks share memory, teams do there what is short ([`Board`]), without packets.
//!
//! Long packets that are stored are kept where the network has them, a few of each member: so they are copied once.
//!
//! **What is stored is bounded** (I9). A member that would be further than [`AHEAD`] movements ahead of another has to
//! [meet](Together::must_meet) all of them first. So there are that many times so many bytes of a member at most, for each team.

mod board;
mod early;
pub mod format;
mod team;

pub use board::{Areas, Board, MOST_BROUGHT, MOST_POSTED, Meeting};
pub use format::{Operation, is_together};

use crate::network::{Arrived, Broadcast, Sink, Source};
use crate::{Error, Result};
use early::Early;
use format::parse;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, VecDeque};
use team::Team;
use weft_packet::Rank;

/// Bytes that a member sends to another before that one has begun.
pub const EAGER_BYTES: u64 = 64 * 1024;
/// Movements that members end without knowing that all others have begun the first of them.
pub const AHEAD: u64 = 64;
/// What may come before it is begun here: those, and the two by which members meet.
const MOST_AHEAD: u64 = AHEAD + 2;
/// Bytes from which on a packet that comes before its movement is begun here is kept instead of copied.
const KEPT_BYTES: usize = 4096;
/// Teams of which something may come before they are opened here.
const MOST_UNOPENED: usize = 64;

/// The name of a team, which no two teams of a rank have.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct TeamId {
    /// Its first member.
    pub leader: Rank,
    /// Which of those that it names.
    pub count: u32,
}

/// A whole that is divided among members: as evenly as elements can be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shares {
    /// How many elements.
    pub elements: u64,
    /// Bytes of each.
    pub size: u64,
}

impl Shares {
    /// Where the share of a member of `members` begins, and how many bytes it has.
    pub fn of(self, member: usize, members: usize) -> (u64, u64) {
        let start = |member: usize| {
            (u128::from(self.elements) * member as u128 / members as u128) as u64 * self.size
        };
        (start(member), start(member + 1) - start(member))
    }
}

/// Which bytes go where. A member's own never move: its caller has them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Movement {
    /// All of `root`'s to each.
    Broadcast {
        /// A member.
        root: usize,
        /// How many.
        bytes: u64,
    },
    /// Each member's share to its place at `root`. What a member has begins with its share.
    Gather {
        /// A member.
        root: usize,
        /// All of them.
        shares: Shares,
    },
    /// Each member's share to its place at all others. What a member has begins with its share.
    Spread {
        /// All of them.
        shares: Shares,
    },
    /// Of what each member has, its share to each: placed one behind the other, in the order of members.
    Swap {
        /// What each has.
        shares: Shares,
    },
}

/// The teams of one rank, and what they move.
#[derive(Debug)]
pub struct Together<S, D, K> {
    rank: Rank,
    ranks: usize,
    /// Packets of a member of a team that may be kept.
    keeps: usize,
    teams: BTreeMap<TeamId, Team<S, D, K>>,
    /// What has come for teams that are not open here.
    unopened: BTreeMap<TeamId, BTreeMap<Rank, Early<K>>>,
    /// Teams that have something to send.
    leaving: VecDeque<TeamId>,
    /// Teams that this rank has named.
    named: u32,
}

impl<S: Source, D: Sink, K: AsRef<[u8]>> Together<S, D, K> {
    /// Of `rank` in a job of `ranks`. Of each member of a team it keeps at most so many packets, for which their senders have no
    /// credit meanwhile.
    pub fn new(rank: Rank, ranks: usize, keeps: usize) -> Self {
        Together {
            rank,
            ranks,
            keeps,
            teams: BTreeMap::new(),
            unopened: BTreeMap::new(),
            leaving: VecDeque::new(),
            named: 0,
        }
    }

    /// A name for a team that this rank leads. None is given twice.
    pub fn name(&mut self) -> TeamId {
        let count = self.named;
        self.named = count.wrapping_add(1);
        TeamId { leader: self.rank, count }
    }

    /// Opens a team, by the name that its first member has [given](Self::name) it. All members do so, with the same members in the same
    /// order. False if it cannot be: not this rank's, a rank twice, another leader, or open already.
    ///
    /// # Errors
    /// [`Error::Violation`] if what came for it cannot be its.
    pub fn open(&mut self, team: TeamId, members: &[Rank]) -> Result<bool> {
        let Some(mut opened) = Team::new(members, self.rank, self.ranks) else { return Ok(false) };
        if self.teams.contains_key(&team) || members.first() != Some(&team.leader) {
            return Ok(false);
        }
        for (from, early) in self.unopened.remove(&team).unwrap_or_default() {
            opened.adopt(from, early).map_err(|what| Error::Violation { from, what })?;
        }
        self.teams.insert(team, opened);
        Ok(true)
    }

    /// Closes a team; whether there was one. What this member has begun it has to have [taken](Self::take).
    pub fn close(&mut self, team: TeamId) -> bool {
        self.teams.remove(&team).is_some()
    }

    /// How many members a team has, and which is this one.
    pub fn size(&self, team: TeamId) -> Option<(usize, usize)> {
        self.teams.get(&team).map(Team::size)
    }

    /// Which rank a member of a team is.
    pub fn member(&self, team: TeamId, member: usize) -> Option<Rank> {
        self.teams.get(&team)?.member(member)
    }

    /// Whether all members have to meet before the next movement: each [gathers](Movement::Gather) nothing at a root, which
    /// then broadcasts nothing. It is the same for all of them.
    pub fn must_meet(&self, team: TeamId) -> bool {
        self.teams.get(&team).is_some_and(Team::must_meet)
    }

    /// All members have met in another way, which counts as a movement: none of them has the one before to begin.
    pub fn met(&mut self, team: TeamId) {
        if let Some(members) = self.teams.get_mut(&team) {
            members.met();
        }
    }

    /// Begins a movement of `source` at its root or from all members, into `into` where something comes. Never blocks. False if there is no
    /// such team or root, or the one before is not [taken](Self::take).
    ///
    /// # Errors
    /// What the network says; [`Error::Violation`] if others have begun something else.
    pub fn begin<N: Broadcast>(
        &mut self,
        network: &mut N,
        team: TeamId,
        movement: Movement,
        source: S,
        into: D,
    ) -> Result<bool> {
        let Some(members) = self.teams.get_mut(&team) else { return Ok(false) };
        if !members.begin(movement, source, into)? {
            return Ok(false);
        }
        if !members.leave(network, team)? {
            self.leaving.push_back(team);
        }
        Ok(true)
    }

    /// What the movement used, once it has ended here. `None` while it goes on.
    pub fn take(&mut self, team: TeamId) -> Option<(S, D)> {
        self.teams.get_mut(&team)?.take()
    }

    /// Drops the movement that goes on, after which its team is of no use.
    pub fn abandon(&mut self, team: TeamId) {
        if let Some(members) = self.teams.get_mut(&team) {
            members.abandon();
        }
    }

    /// Whether something waits for room.
    #[inline]
    pub fn has_to_leave(&self) -> bool {
        !self.leaving.is_empty()
    }

    /// Sends what waits for room, as far as there is some. Whether anything left.
    ///
    /// # Errors
    /// What the network says.
    pub fn leave<N: Broadcast>(&mut self, network: &mut N) -> Result<bool> {
        let mut any = false;
        for _ in 0..self.leaving.len() {
            let Some(team) = self.leaving.pop_front() else { break };
            let Some(members) = self.teams.get_mut(&team) else { continue };
            let before = members.sent();
            let ended = members.leave(network, team)?;
            any |= ended || members.sent() != before;
            if !ended {
                self.leaving.push_back(team);
            }
        }
        Ok(any)
    }

    /// Bytes that have come for what is not begun here, for those who watch the bound.
    pub fn stored(&self) -> usize {
        let unopened = self.unopened.values().flat_map(BTreeMap::values);
        unopened.map(Early::stored).sum::<usize>()
            + self.teams.values().map(Team::stored).sum::<usize>()
    }

    /// Takes one packet of `from`.
    ///
    /// # Errors
    /// [`Error::Violation`] if no member sends that.
    #[inline]
    pub fn arrive(&mut self, from: Rank, packet: impl Arrived<Kept = K>) -> Result<()> {
        self.take_in(from, packet).map_err(|what| Error::Violation { from, what })
    }

    #[inline]
    fn take_in(&mut self, from: Rank, packet: impl Arrived<Kept = K>) -> Result<(), &'static str> {
        let says =
            parse(packet.bytes()).ok_or("a packet of a collective operation that is none")?;
        let (number, keeps) = (says.number, self.keeps);
        let (early, distance) = match self.teams.get_mut(&says.team) {
            Some(team) => match team.came(from, &says)? {
                Some(early) => early,
                None => return Ok(()),
            },
            None => (self.unopened(from, says.team)?, number),
        };
        early.store(distance, packet, keeps)
    }

    /// Where that goes which comes for a team that is not open here: who has opened it may be ahead.
    fn unopened(&mut self, from: Rank, team: TeamId) -> Result<&mut Early<K>, &'static str> {
        let count = self.unopened.len();
        let early = match self.unopened.entry(team) {
            Entry::Vacant(_) if count >= MOST_UNOPENED => {
                return Err("parts of collective operations of more teams than there may be");
            }
            Entry::Vacant(entry) => entry.insert(BTreeMap::new()),
            Entry::Occupied(entry) => entry.into_mut(),
        };
        Ok(early.entry(from).or_default())
    }
}

#[cfg(test)]
mod tests;
