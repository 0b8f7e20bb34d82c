//! MCAST: multicast along spanning trees of credit-controlled hops (thesis 4.2).
//!
//! A packet buffer with several destinations, or with destinations and a local reader, is shared by
//! that many *holders*; it is released when the last of them is done (invariant I4).

use crate::actions::Sharing;
use crate::ni::Departure;
use crate::preset::Forwarding;
use crate::slab::Key;
use crate::{Actions, Body, Delivery, Ni, Violation};
use weft_wire::{GroupId, Header, Rank, Tag, TreeId};

/// The holders of a shared buffer.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Holders<B> {
    buffer: B,
    left: u16,
    /// Who gets a credit back in the end: the parent in the tree, or nobody for an own packet.
    parent: Option<Rank>,
}

impl<B: Copy> Ni<B> {
    /// Sends `size` bytes of `buffer` to all other members of `group` (thesis fig. 4.6). The
    /// buffer is the NI's until it is freed.
    ///
    /// # Panics
    /// If there is no such group or this rank is not a member: the packet would reach nobody.
    pub fn multicast(&mut self, group: GroupId, buffer: B, size: u16, out: &mut impl Actions<B>) {
        let tree = TreeId::multicast(group, self.local);
        let children = self.children(tree);
        if children == 0 {
            let member = self.group(group).is_some_and(|group| group.contains(self.local));
            assert!(member, "{:?} multicasts to {group:?}, of which it is no member", self.local);
            out.free(buffer);
            return;
        }
        let key = self.holders.insert(Holders { buffer, left: children + 1, parent: None });
        self.forward(tree, buffer, size, key, out);
        self.drop_holder(key, out);
    }

    /// The host passes a packet on before it looks at it (host-level forwarding).
    pub fn reinject(&mut self, delivery: &mut Delivery<B>, out: &mut impl Actions<B>) {
        if !delivery.wants_reinjection() {
            return;
        }
        let left = self.children(delivery.tree) + 1;
        let (buffer, parent) = (delivery.buffer, Some(delivery.parent));
        let key = self.holders.insert(Holders { buffer, left, parent });
        delivery.sharing = Sharing::Forwarded(key);
        self.forward(delivery.tree, buffer, delivery.size, key, out);
    }

    /// Delivers, then forwards, in the order of thesis fig. 4.7.
    pub(crate) fn multicast_received(
        &mut self,
        header: &Header,
        buffer: B,
        out: &mut impl Actions<B>,
    ) {
        let (tree, size, parent) = (header.tree, header.size, header.source);
        let children = self.children(tree);
        self.counters.packets_delivered += 1;
        let mut delivery = Delivery { buffer, size, tree, parent, sharing: Sharing::Alone };
        if children == 0 {
            out.deliver(delivery);
        } else if self.forwarding() == Forwarding::Host {
            delivery.sharing = Sharing::Unforwarded;
            out.deliver(delivery);
        } else {
            let left = children + 1;
            let key = self.holders.insert(Holders { buffer, left, parent: Some(parent) });
            delivery.sharing = Sharing::Forwarded(key);
            out.deliver(delivery);
            self.forward(tree, buffer, size, key, out);
        }
    }

    /// A multicast packet must come on a tree of a known group, from the parent in that tree.
    pub(crate) fn check_multicast(&self, header: &Header) -> Result<(), Violation> {
        let refused = Violation::Tree(header.source, header.tree);
        let group = header.tree.group().and_then(|id| self.group(id)).ok_or(refused)?;
        match group.parent(header.tree.root, self.local) {
            Some(parent) if parent == header.source => Ok(()),
            _ => Err(refused),
        }
    }

    /// One holder of a shared buffer is done with it.
    pub(crate) fn drop_holder(&mut self, key: Key, out: &mut impl Actions<B>) {
        let holders = self.holders.get_mut(key);
        holders.left -= 1;
        if holders.left > 0 {
            return;
        }
        let Holders { buffer, parent, .. } = self.holders.remove(key);
        out.free(buffer);
        if let Some(parent) = parent {
            self.return_credit(parent, out);
        }
    }

    fn forward(&mut self, tree: TreeId, buffer: B, size: u16, key: Key, out: &mut impl Actions<B>) {
        let own = tree.root == self.local;
        for i in 0.. {
            let Some(child) = self.child(tree, i) else { break };
            self.counters.forwards += u64::from(!own);
            let body = Body::Buffer(buffer);
            let holders = Some(key);
            self.credit_send(child, Departure { tag: Tag::Mcast, tree, size, body, holders }, out);
        }
    }

    fn children(&self, tree: TreeId) -> u16 {
        (0..).take_while(|&i| self.child(tree, i).is_some()).count() as u16
    }

    fn child(&self, tree: TreeId, i: usize) -> Option<Rank> {
        self.group(tree.group()?)?.child(tree.root, self.local, i)
    }
}
