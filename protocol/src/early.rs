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

use crate::actions::{Actions, Deferred};
use crate::flows::Flows;
use crate::invariants::i9_bounded;
use crate::multicast::{Early, Multicast};
use crate::traffic::Traffic;
use crate::violation::Violation;
use weft_wire::{Header, Tag, TreeId};

/// Groups that another rank may have created beyond those of this rank. A packet that names a later
/// one is taken for a mistake.
const MOST_AHEAD: usize = 1024;

impl<B: Copy> Multicast<B> {
    /// Delivers and forwards what came early for the groups that are there now. Until then what
    /// comes for them waits too.
    ///
    /// # Errors
    /// [`Violation`] if a packet did not come from its parent in the tree of its group. Nothing was
    /// done then, and the job cannot go on.
    pub fn admit_early(
        &mut self,
        traffic: &mut Traffic<B>,
        out: &mut impl Actions<B>,
    ) -> Result<(), Violation> {
        let early = std::mem::take(&mut self.early);
        let wrong = early.iter().find_map(|early| self.check(&early.header, &traffic.flows).err());
        if let Some(violation) = wrong {
            self.early = early;
            return Err(violation);
        }
        for early in &early {
            count_early(&early.header, &mut traffic.flows, |count| count - 1);
        }
        for early in early {
            match self.groups.are_known(early.header.tree) {
                true => self.admit(early, traffic, out),
                false => {
                    count_early(&early.header, &mut traffic.flows, |count| count + 1);
                    self.early.push(early);
                }
            }
        }
        Ok(())
    }

    fn admit(&mut self, early: Early<B>, traffic: &mut Traffic<B>, out: &mut impl Actions<B>) {
        let Early { header, buffer, creditor, for_host } = early;
        if for_host {
            let holders = self.forward_received(&header, buffer, traffic, out);
            out.defer(Deferred::numbered(header, buffer, holders));
        } else {
            self.received(&header, buffer, creditor, traffic, out);
        }
    }

    /// A multicast packet must come on a tree of a group, from the parent in that tree. Whether it
    /// does is not known yet of a group that is not.
    ///
    /// # Errors
    /// [`Violation`] if it does not.
    pub fn check(&self, header: &Header, flows: &Flows<B>) -> Result<(), Violation> {
        let Header { source, tree, .. } = *header;
        let refused = Violation::Tree(source, tree);
        let id = tree.group().ok_or(refused)?;
        let from_parent = match self.groups.get(id) {
            Some(_) => self.groups.parent(tree) == Some(source),
            None => {
                let ahead = usize::from(id.0) - self.groups.len();
                ahead < MOST_AHEAD && !flows.base.is_foreign(tree.root)
            }
        };
        if from_parent { Ok(()) } else { Err(refused) }
    }

    /// True if a packet of `tree`, which is a multicast tree, has to wait for its group, or for
    /// others that do (I3).
    pub fn is_early(&self, tree: TreeId) -> bool {
        let waits = |early: &Early<B>| early.header.tree.group() == tree.group();
        !self.groups.are_known(tree) || self.early.iter().any(waits)
    }

    /// True if a packet with a number is early, and as many of its sender are as may be.
    pub fn is_too_early(&self, header: &Header, flows: &mut Flows<B>) -> bool {
        let Flows { base, peers, .. } = flows;
        header.tag == Tag::Mcast
            && self.is_early(header.tree)
            && peers.flow(header.source).receiving.has_all_early(&base.settings)
    }

    /// Keeps a packet, which was accepted, until its group is there.
    pub fn keep_early(&mut self, early: Early<B>, flows: &mut Flows<B>) {
        flows.base.counters.early_packets += 1;
        count_early(&early.header, flows, |count| count + 1);
        self.early.push(early);
        // A window of each, and what came on the recovery channels of all.
        let window = usize::from(flows.base.settings.window_packets);
        let bound = flows.peers.len() * (window + 1);
        i9_bounded("the packets of groups to come", self.early.len(), bound);
    }
}

/// Counts the packets of a sender that wait for their groups, where packets have numbers.
fn count_early<B: Copy>(header: &Header, flows: &mut Flows<B>, count: impl FnOnce(u16) -> u16) {
    if let Some(flow) = &mut flows.peers[header.source].flow {
        flow.receiving.early = count(flow.receiving.early);
    }
}
