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
use crate::planted::Bug;
use crate::settings::Recovery;
use crate::timer::Nanoseconds;
use crate::{Actions, Body, Ni, Violation};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use weft_wire::{Channel, Header, Rank, Tag, TreeId};

/// State of one NI about recoveries.
#[derive(Debug, Clone, Default, Hash)]
pub(crate) struct Recoveries {
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

impl Recoveries {
    /// I7 as far as one NI sees it: a channel has one buffer here, and is in use exactly while that
    /// is, or while children have not cleared their part, each of which has been sent one packet.
    /// That it does not lead back is for its owner to see to.
    pub fn check(&self, local: Rank) -> Result<(), Broken> {
        for (&owner, part) in &self.channels {
            let packets = self.trees.values().flatten().filter(|&&on| on == owner).count();
            let below: BTreeSet<Rank> = part.below.iter().copied().collect();
            i7_channel_here(&ChannelHere {
                owner,
                is_own: owner == local,
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
}

impl<B: Copy> Ni<B> {
    /// Owners of the recovery channels that have a packet or wait for a child here.
    pub fn channels(&self) -> impl Iterator<Item = Rank> + '_ {
        self.recoveries.channels.keys().copied()
    }

    /// A packet for `to` has been queued. It came on channel `arrived`, if it is being forwarded.
    pub(crate) fn recover_blocked(
        &mut self,
        to: Rank,
        tree: TreeId,
        arrived: Channel,
        out: &mut impl Actions<B>,
    ) {
        if self.settings.recovery == Recovery::Off {
            return;
        }
        let now = self.now;
        self.recoveries.blocked.entry(to).or_insert(now);
        match arrived.0 {
            Some(owner) => self.extend_recovery(owner, to, tree, out),
            None => self.try_recovery(out),
        }
    }

    /// Packets for `to` have left its queue.
    pub(crate) fn unblocked(&mut self, to: Rank) {
        if self.settings.recovery == Recovery::Off {
            return;
        }
        if self.peers[to].outgoing.blocked() == 0 {
            self.recoveries.blocked.remove(&to);
        } else {
            self.recoveries.blocked.insert(to, self.now);
        }
    }

    /// Begins a recovery if none of this NI goes on and there is a reason to (thesis 4.3.1, 5.4).
    pub(crate) fn try_recovery(&mut self, out: &mut impl Actions<B>) {
        let waited_since = match self.settings.recovery {
            Recovery::Off => return,
            Recovery::AtOnce => Nanoseconds::MAX,
            Recovery::After(wait) => match self.now.checked_sub(wait) {
                Some(since) => since,
                None => return,
            },
        };
        if self.recoveries.channels.contains_key(&self.local) {
            return;
        }
        let Some(to) = self.recoveries.next_blocked(waited_since) else { return };
        let Some(departure) = self.peers[to].outgoing.bypass(|_| true) else { return };
        self.counters.recoveries += 1;
        self.recoveries.last = Some(to);
        let part = Participation { parent: self.local, held: false, below: vec![to] };
        self.recoveries.channels.insert(self.local, part);
        self.unblocked(to);
        self.depart_on(self.local, to, departure, out);
    }

    /// The time at which a suspicion falls due.
    pub(crate) fn suspicion_deadline(&self) -> Option<Nanoseconds> {
        let Recovery::After(wait) = self.settings.recovery else { return None };
        if self.recoveries.channels.contains_key(&self.local) {
            return None;
        }
        self.recoveries.blocked.values().min().map(|since| since + wait)
    }

    /// Passes the oldest waiting packet of `tree` on to `to` on the channel of `owner` (thesis fig.
    /// 4.13): not the one that came, if others of its tree wait before it (invariant I3).
    fn extend_recovery(&mut self, owner: Rank, to: Rank, tree: TreeId, out: &mut impl Actions<B>) {
        let next = self.peers[to].outgoing.bypass(|departure| departure.tree == tree);
        let Some(departure) = next else { return };
        if let Some(part) = self.recoveries.channels.get_mut(&owner) {
            part.below.push(to);
        }
        self.unblocked(to);
        self.depart_on(owner, to, departure, out);
    }

    /// Checks that a packet may come on its channel, or clear it: nothing is changed.
    pub(crate) fn check_channel(&self, header: &Header) -> Result<(), Violation> {
        let (from, clears) = (header.source, header.tag == Tag::ChannelClear);
        if header.channel == Channel::NONE && !clears {
            return Ok(());
        }
        if self.settings.recovery == Recovery::Off {
            return Err(Violation::Unsupported(from, Tag::ChannelClear));
        }
        let allowed = header.channel.0.is_some_and(|owner| {
            let part = self.recoveries.channels.get(&owner);
            if clears {
                return part.is_some_and(|part| part.below.contains(&from));
            }
            // Its owner is the root of the channel, and everybody else is on it once.
            header.tag.is_data() && !self.is_foreign(owner) && part.is_none()
        });
        if allowed { Ok(()) } else { Err(Violation::Channel(from, header.channel)) }
    }

    /// A data packet fills the buffer of its channel here.
    pub(crate) fn join_channel(&mut self, owner: Rank, header: &Header) {
        let part = Participation { parent: header.source, held: true, below: vec![] };
        self.recoveries.channels.insert(owner, part);
        self.recoveries.trees.entry(header.tree).or_default().push_back(owner);
    }

    /// True if a packet that came on some channel has not made way for another yet.
    #[inline]
    pub(crate) fn is_recovering(&self) -> bool {
        !self.recoveries.trees.is_empty()
    }

    /// Notes that a buffer that a packet of `tree` filled is free. True if that clears a channel
    /// here: then no credit goes back for it.
    #[cold]
    pub(crate) fn release_channel(&mut self, tree: TreeId, out: &mut impl Actions<B>) -> bool {
        let Some(owners) = self.recoveries.trees.get_mut(&tree) else { return false };
        let owner = owners.pop_front();
        if owners.is_empty() {
            self.recoveries.trees.remove(&tree);
        }
        let Some(owner) = owner else { return false };
        if let Some(part) = self.recoveries.channels.get_mut(&owner) {
            part.held = false;
        }
        self.clear_channel(owner, out);
        true
    }

    /// `child` says that its part of the channel of `owner` is clear.
    pub(crate) fn child_is_clear(&mut self, owner: Rank, child: Rank, out: &mut impl Actions<B>) {
        if let Some(part) = self.recoveries.channels.get_mut(&owner) {
            part.below.retain(|&below| below != child);
        }
        self.clear_channel(owner, out);
    }

    /// Tells the parent, or ends the recovery, once the channel is clear here and below.
    fn clear_channel(&mut self, owner: Rank, out: &mut impl Actions<B>) {
        let Some(part) = self.recoveries.channels.get(&owner) else { return };
        let clear = !part.held && part.below.is_empty();
        if !clear && !self.strikes(Bug::ClearEarly) {
            return;
        }
        let Some(part) = self.recoveries.channels.remove(&owner) else { return };
        if owner == self.local {
            self.try_recovery(out);
            return;
        }
        let parent = part.parent;
        let mut header = Header::new(Tag::ChannelClear, self.local, TreeId::unicast(self.local), 0);
        header.channel = Channel(Some(owner));
        header.credits = self.peers[parent].incoming.collect();
        out.transmit(parent, &header, &Body::Empty);
    }
}
