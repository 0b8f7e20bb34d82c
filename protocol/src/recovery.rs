//! RECOV: deadlock suspected from what an NI sees itself, and a slow way out (thesis 4.3).
//!
//! Every NI owns one buffer at each other NI: its *recovery channel*. When it suspects that it is
//! part of a deadlock, it sends the packet at the head of a blocked-sends queue on its channel, at
//! no credit. An NI that gets a packet on a channel may use the same channel, once for each child,
//! for packets of the same tree: so the links in use on a channel form a subtree of one tree, and
//! no cycle can close (invariant I7). The channel is cleared from the leaves up:
//!
//! ```text
//!   packet on channel ──▶ held ──▶ released ─┐
//!   passed on to children on the channel ────┴─▶ clear here and below ──▶ CHANNEL_CLEAR to parent
//! ```
//! and its owner may then begin another recovery, with the next blocked-sends queue in turn.
//!
//! A buffer that becomes free stands for any packet of its tree that came on that link: while a
//! channel is in use in the tree, it clears the channel, and the credit follows with the packet
//! that came on the channel.

use crate::invariants::{Broken, ChannelHere, i7_channel_here};
use crate::settings::Recovery;
use crate::timer::Nanoseconds;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::hash::{Hash, Hasher};
use weft_wire::{Rank, TreeId};

/// State of one NI about recoveries.
#[derive(Debug, Clone, Hash)]
pub(crate) struct Recoveries {
    local: Rank,
    suspicion: Suspicion,
    /// The channels that this NI takes part in; its own is there while its recovery goes on.
    channels: BTreeMap<Rank, Participation>,
    /// The channels on which packets of a tree came here, and for which no buffer was freed yet.
    trees: BTreeMap<TreeId, VecDeque<Rank>>,
    /// Peers with blocked packets, and since when none of them has left.
    blocked: BTreeMap<Rank, Nanoseconds>,
    /// The peer that the last recovery of this NI was for.
    last: Option<Rank>,
}

/// A part of a recovery tree: one NI in it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Participation {
    /// The sender of the packet on the channel here; oneself, for its owner.
    parent: Rank,
    /// The channel's buffer here is in use.
    held: bool,
    /// Children whose part of the channel is not clear.
    below: Vec<Rank>,
}

/// Settings of recovery, which never change.
#[derive(Debug, Clone, Copy)]
struct Suspicion(Recovery);

impl Hash for Suspicion {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

/// Part of a channel that is clear, here and below.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Clear {
    /// The owner's, which is this NI: its recovery has ended.
    Own,
    /// That of another owner, whose parent here is to be told.
    Below(Rank),
}

impl Recoveries {
    /// None, at the NI of `local`.
    pub fn new(local: Rank, recovery: Recovery) -> Self {
        Recoveries {
            local,
            suspicion: Suspicion(recovery),
            channels: BTreeMap::new(),
            trees: BTreeMap::new(),
            blocked: BTreeMap::new(),
            last: None,
        }
    }

    /// True if deadlock is never suspected.
    #[inline]
    pub fn is_off(&self) -> bool {
        self.suspicion.0 == Recovery::Off
    }

    /// I7 as far as one NI sees it: a channel has one buffer here, and is in use exactly while that
    /// is, or while children have not cleared their part, each of which has been sent one packet.
    /// That it does not lead back is for its owner to see to.
    pub fn check(&self) -> Result<(), Broken> {
        for (&owner, part) in &self.channels {
            let packets = self.trees.values().flatten().filter(|&&on| on == owner).count();
            let below: BTreeSet<Rank> = part.below.iter().copied().collect();
            i7_channel_here(&ChannelHere {
                owner,
                is_own: owner == self.local,
                packets,
                held: part.held,
                children: part.below.len(),
                distinct: below.len(),
            })?;
        }
        Ok(())
    }

    fn next_blocked(&self, waited_since: Nanoseconds) -> Option<Rank> {
        let expired = |(_, since): &(&Rank, &Nanoseconds)| **since <= waited_since;
        let after = self.last.map_or(Rank(0), |last| Rank(last.0 + 1));
        let mut in_turn = self.blocked.range(after..).chain(self.blocked.range(..after));
        in_turn.find(expired).map(|(&peer, _)| peer)
    }

    /// Owners of the recovery channels that have a packet or wait for a child here.
    pub fn channels(&self) -> impl Iterator<Item = Rank> + '_ {
        self.channels.keys().copied()
    }

    /// A packet for `to` has been queued at `now`.
    pub fn block(&mut self, to: Rank, now: Nanoseconds) {
        self.blocked.entry(to).or_insert(now);
    }

    /// Packets for `to` have left its queue at `now`; others wait there if it is `blocked` still.
    pub fn unblock(&mut self, to: Rank, blocked: bool, now: Nanoseconds) {
        if self.is_off() {
            return;
        }
        if blocked {
            self.blocked.insert(to, now);
        } else {
            self.blocked.remove(&to);
        }
    }

    /// The peer for which a recovery of this NI begins at `now`: none of its goes on, and there is
    /// a reason to (thesis 4.3.1, 5.4).
    pub fn due(&self, now: Nanoseconds) -> Option<Rank> {
        let waited_since = match self.suspicion.0 {
            Recovery::Off => return None,
            Recovery::AtOnce => Nanoseconds::MAX,
            Recovery::After(wait) => now.checked_sub(wait)?,
        };
        if self.channels.contains_key(&self.local) {
            return None;
        }
        self.next_blocked(waited_since)
    }

    /// A recovery of this NI begins, with a packet to `to`.
    pub fn begin(&mut self, to: Rank) {
        self.last = Some(to);
        let part = Participation { parent: self.local, held: false, below: vec![to] };
        self.channels.insert(self.local, part);
    }

    /// The time at which a suspicion falls due.
    pub fn deadline(&self) -> Option<Nanoseconds> {
        let Recovery::After(wait) = self.suspicion.0 else { return None };
        if self.channels.contains_key(&self.local) {
            return None;
        }
        self.blocked.values().min().map(|since| since + wait)
    }

    /// A packet passes on to `to`, on the channel of `owner`.
    pub fn extend(&mut self, owner: Rank, to: Rank) {
        if let Some(part) = self.channels.get_mut(&owner) {
            part.below.push(to);
        }
    }

    /// True if nobody has a packet on the channel of `owner` here: everybody but its owner, who is
    /// the root of the channel, is on it once.
    pub fn is_open(&self, owner: Rank) -> bool {
        !self.channels.contains_key(&owner)
    }

    /// True if `child` may say that its part of the channel of `owner` is clear.
    pub fn may_clear(&self, owner: Rank, child: Rank) -> bool {
        self.channels.get(&owner).is_some_and(|part| part.below.contains(&child))
    }

    /// A data packet of `tree` from `parent` fills the buffer of its channel here.
    pub fn join(&mut self, owner: Rank, parent: Rank, tree: TreeId) {
        self.channels.insert(owner, Participation { parent, held: true, below: vec![] });
        self.trees.entry(tree).or_default().push_back(owner);
    }

    /// True if a packet that came on some channel has not made way for another yet.
    #[inline]
    pub fn is_recovering(&self) -> bool {
        !self.trees.is_empty()
    }

    /// A buffer that a packet of `tree` filled is free. The owner of the channel whose buffer here
    /// that frees, if it does: then no credit goes back for it.
    #[cold]
    pub fn release(&mut self, tree: TreeId) -> Option<Rank> {
        let owners = self.trees.get_mut(&tree)?;
        let owner = owners.pop_front();
        if owners.is_empty() {
            self.trees.remove(&tree);
        }
        let owner = owner?;
        if let Some(part) = self.channels.get_mut(&owner) {
            part.held = false;
        }
        Some(owner)
    }

    /// `child` says that its part of the channel of `owner` is clear.
    pub fn child_is_clear(&mut self, owner: Rank, child: Rank) {
        if let Some(part) = self.channels.get_mut(&owner) {
            part.below.retain(|&below| below != child);
        }
    }

    /// Ends this NI's part of the channel of `owner`, once that is clear here and below, or if
    /// `early` says so.
    pub fn clear(&mut self, owner: Rank, early: impl FnOnce() -> bool) -> Option<Clear> {
        let part = self.channels.get(&owner)?;
        if (part.held || !part.below.is_empty()) && !early() {
            return None;
        }
        let part = self.channels.remove(&owner)?;
        Some(if owner == self.local { Clear::Own } else { Clear::Below(part.parent) })
    }
}

#[cfg(test)]
mod tests;
