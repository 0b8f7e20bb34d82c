//! Packets of groups that this rank has not created yet.
//!
//! All ranks create the same groups in the same order, each when it gets there. So a member may
//! send to a group before another one has created it, and what comes then waits:
//!
//! ```text
//!   multicast ──▶ group known? ──yes──▶ delivered, forwarded
//!                     │ no                   ▲
//!                     └──▶ early ── create_group, admit_early, in the order in which they came
//! ```
//! It has been accepted: its credit is spent, or its number acknowledged, and its buffer is in use.
//! So the sender's other packets pass (they are of other trees: I3), up to a window of early ones.
//! Then a careful sender has no credit left for this rank, and what a numbered one sends is dropped
//! as if there were no buffer, until the group is there. A rank that waits for such a sender before
//! it creates the group waits for ever.

use crate::invariants::i9_bounded;
use crate::tree::{Group, GroupError};
use crate::{Actions, Deferred, Ni, Violation};
use weft_wire::{GroupId, Header, Rank, Tag, TreeId};

/// So many groups more than this rank may another have created. What names a later one is taken for
/// a mistake.
const MOST_AHEAD: usize = 1024;

/// A multicast packet whose group is not known yet, or that others wait before.
#[derive(Debug, Clone, Hash)]
pub(crate) struct Early<B> {
    pub header: Header,
    pub buffer: B,
    /// The rank that gets the buffer's credit back in the end.
    pub creditor: Rank,
    /// It is the host's to look at, and the NI's to forward (`hrx-imc`).
    pub for_host: bool,
}

impl<B: Copy> Ni<B> {
    /// Creates the next multicast group; all ranks must create the same ones in the same order.
    /// What came early is to be [admitted](Self::admit_early) then.
    ///
    /// # Errors
    /// [`GroupError`] if `members` is not a set of ranks of this job.
    ///
    /// # Panics
    /// After 65,535 groups: the next number stands for none.
    pub fn create_group(&mut self, members: &[Rank]) -> Result<GroupId, GroupError> {
        let mut group = Group::new(members, self.settings.shape, self.peers.len())?;
        if let Some(host_of) = &self.host_of {
            group = group.on_hosts(host_of);
        }
        let id = GroupId(self.groups.len() as u16);
        assert!(id.0 < GroupId::LIMIT, "a job has at most {} multicast groups", GroupId::LIMIT);
        self.groups.push(group);
        Ok(id)
    }

    /// The group `id`, if there is one.
    pub fn group(&self, id: GroupId) -> Option<&Group> {
        self.groups.get(usize::from(id.0))
    }

    /// Packets of groups that this rank has not created yet.
    pub fn early(&self) -> usize {
        self.early.len()
    }

    /// Delivers and forwards what came early for the groups that are there now. Until then what
    /// comes for them waits too.
    ///
    /// # Errors
    /// [`Violation`] if a packet did not come from its parent in the tree of its group. Nothing was
    /// done then, and the job cannot go on.
    pub fn admit_early(&mut self, out: &mut impl Actions<B>) -> Result<(), Violation> {
        let early = std::mem::take(&mut self.early);
        let wrong = early.iter().find_map(|early| self.check_multicast(&early.header).err());
        if let Some(violation) = wrong {
            self.early = early;
            return Err(violation);
        }
        for early in early {
            match self.is_known(early.header.tree) {
                true => self.admit(early, out),
                false => self.early.push(early),
            }
        }
        Ok(())
    }

    fn admit(&mut self, early: Early<B>, out: &mut impl Actions<B>) {
        let Early { header, buffer, creditor, for_host } = early;
        if for_host {
            let holders = self.forward_received(&header, buffer, out);
            out.defer(Deferred::numbered(header, buffer, holders));
        } else {
            self.multicast_received(&header, buffer, creditor, out);
        }
    }

    /// A multicast packet must come on a tree of a group, from the parent in that tree. Whether it
    /// does is not known yet of a group that is not.
    pub(crate) fn check_multicast(&self, header: &Header) -> Result<(), Violation> {
        let Header { source, tree, .. } = *header;
        let refused = Violation::Tree(source, tree);
        let id = tree.group().ok_or(refused)?;
        let from_parent = match self.group(id) {
            Some(group) => group.parent(tree.root, self.local) == Some(source),
            None => {
                let ahead = usize::from(id.0) - self.groups.len();
                ahead < MOST_AHEAD && !self.is_foreign(tree.root)
            }
        };
        if from_parent { Ok(()) } else { Err(refused) }
    }

    /// True if a packet of `tree`, which is a multicast tree, has to wait for its group, or for
    /// others that do (I3).
    pub(crate) fn is_early(&self, tree: TreeId) -> bool {
        let waits = |early: &Early<B>| early.header.tree.group() == tree.group();
        !self.is_known(tree) || self.early.iter().any(waits)
    }

    /// True if a packet with a number is early, and as many of its sender are as may be.
    pub(crate) fn is_too_early(&self, header: &Header) -> bool {
        header.tag == Tag::Mcast && self.is_early(header.tree) && self.has_all_early(header.source)
    }

    /// True if no more packets of `from` may be early.
    pub(crate) fn has_all_early(&self, from: Rank) -> bool {
        let is_from = |early: &&Early<B>| early.header.source == from;
        !self.early.is_empty() && self.early.iter().filter(is_from).count() >= self.early_at_most()
    }

    /// Keeps a packet, which was accepted, until its group is there.
    pub(crate) fn keep_early(&mut self, early: Early<B>) {
        self.counters.early_packets += 1;
        self.early.push(early);
        // A window of each, and what came on the recovery channels of all.
        let bound = self.peers.len() * (self.early_at_most() + 1);
        i9_bounded("the packets of groups to come", self.early.len(), bound);
    }

    fn early_at_most(&self) -> usize {
        usize::from(self.settings.window_packets)
    }

    fn is_known(&self, tree: TreeId) -> bool {
        tree.group().is_some_and(|id| self.group(id).is_some())
    }
}
