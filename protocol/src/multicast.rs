//! MCAST: multicast along spanning trees of credit-controlled hops (thesis 4.2).
//!
//! A packet buffer with several destinations, or with destinations and a local reader, is shared by
//! that many *holders*; it is released when the last of them is done (invariant I4).

use crate::actions::Sharing;
use crate::ni::Departure;
use crate::preset::{Acknowledging, Forwarding};
use crate::slab::Key;
use crate::tree::Group;
use crate::{Actions, Body, Delivery, Ni};
use weft_wire::{Channel, GroupId, Header, Protocol, Rank, Tag, TreeId};

/// The holders of a shared buffer.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Holders<B> {
    buffer: B,
    left: u16,
    size: u16,
    /// The rank that gets a credit back in the end: the parent in the tree; oneself if nobody does.
    parent: Rank,
    tree: TreeId,
    /// The packet whose acknowledgement waits for the forwards to leave: its sender and number.
    pub(crate) acknowledges: Option<(Rank, u32)>,
}

impl<B: Copy> Ni<B> {
    /// Ranks with equal numbers in `host_of`, which is by rank, share a host: trees cross to each
    /// host once ([`Group::on_hosts`]). All ranks must be told the same, before the first group and
    /// the first packet.
    ///
    /// # Panics
    /// If it does not name the host of every rank, or there are groups.
    pub fn set_hosts(&mut self, host_of: &[u16]) {
        assert_eq!(host_of.len(), self.peers.len(), "every rank has a host");
        assert_eq!(self.groups.len(), 1, "groups have trees already");
        let everyone = Group::everyone(self.settings.ranks, self.settings.shape);
        self.groups = vec![everyone.on_hosts(host_of)];
        self.host_of = Some(host_of.into());
    }

    /// Sends `size` bytes of `buffer` to all other members of `group` (thesis fig. 4.6). The
    /// buffer is the NI's until it is freed.
    ///
    /// # Panics
    /// If there is no such group or this rank is not a member: the packet would reach nobody.
    pub fn multicast(&mut self, group: GroupId, buffer: B, size: u16, out: &mut impl Actions<B>) {
        self.multicast_for(Protocol::PACKETS, group, buffer, size, out);
    }

    /// Sends as [`Self::multicast`] does, to the system `protocol` of the members.
    ///
    /// # Panics
    /// Those of [`Self::multicast`].
    pub fn multicast_for(
        &mut self,
        protocol: Protocol,
        group: GroupId,
        buffer: B,
        size: u16,
        out: &mut impl Actions<B>,
    ) {
        let tree = TreeId::multicast(group, self.local).of(protocol);
        let children = self.children(tree);
        if children == 0 {
            let member = self.group(group).is_some_and(|group| group.contains(self.local));
            assert!(member, "{:?} multicasts to {group:?}, of which it is no member", self.local);
            out.free(buffer);
            return;
        }
        let left = children + 1;
        let holders = Holders { buffer, left, size, parent: self.local, tree, acknowledges: None };
        self.retransmission.taken += self.taken_by_multicast(size);
        let key = self.holders.insert(holders);
        self.forward(tree, buffer, size, key, Channel::NONE, out);
        self.drop_holder(key, out);
    }

    /// The host passes a packet on before it looks at it (host-level forwarding).
    ///
    /// Under ACK-receive the careful presets give the credit back now (thesis 8.3.2): how many
    /// packets wait here to be forwarded is then bounded by the host's buffers only.
    pub fn reinject(&mut self, delivery: &mut Delivery<B>, out: &mut impl Actions<B>) {
        let Sharing::Unforwarded(number) = delivery.sharing else { return };
        let Delivery { buffer, size, tree, parent, .. } = *delivery;
        let forward = self.settings.preset.acknowledging() == Acknowledging::Forward;
        let sender = self.group_of(tree).and_then(|group| group.parent(tree.root, self.local));
        let numbered = sender.filter(|&sender| self.peers.is_numbered(sender));
        let early = !forward && numbered.is_none();
        let acknowledges = numbered.filter(|_| forward).map(|sender| (sender, number));
        let left = self.children(tree) + 1;
        let creditor = if early { self.local } else { parent };
        let holders = Holders { buffer, left, size, parent: creditor, tree, acknowledges };
        let key = self.holders.insert(holders);
        delivery.sharing = Sharing::Forwarded(key);
        self.forward(tree, buffer, size, key, Channel::NONE, out);
        if early {
            self.buffer_freed(parent, tree, out);
        }
    }

    /// Delivers, then forwards, in the order of thesis fig. 4.7.
    pub(crate) fn multicast_received(
        &mut self,
        header: &Header,
        buffer: B,
        creditor: Rank,
        out: &mut impl Actions<B>,
    ) {
        self.counters.packets_delivered += 1;
        let mut delivery = Delivery::received(buffer, header, creditor, None);
        if self.children(header.tree) == 0 {
            out.deliver(delivery);
        } else if self.forwarding() == Forwarding::Host {
            delivery.sharing = Sharing::Unforwarded(header.sequence);
            out.deliver(delivery);
        } else {
            let key = self.hold_received(header, buffer);
            delivery.sharing = Sharing::Forwarded(key);
            out.deliver(delivery);
            self.forward(header.tree, buffer, header.size, key, header.channel, out);
        }
    }

    /// Forwards a packet that the host has yet to accept; `None` if there is nobody to forward to.
    pub(crate) fn forward_received(
        &mut self,
        header: &Header,
        buffer: B,
        out: &mut impl Actions<B>,
    ) -> Option<Key> {
        if self.children(header.tree) == 0 {
            return None;
        }
        let key = self.hold_received(header, buffer);
        self.forward(header.tree, buffer, header.size, key, header.channel, out);
        Some(key)
    }

    /// A buffer that its children and the host need.
    fn hold_received(&mut self, header: &Header, buffer: B) -> Key {
        let (tree, parent) = (header.tree, header.source);
        let left = self.children(tree) + 1;
        let numbered = self.peers.is_numbered(parent);
        let acknowledges = numbered.then_some((parent, header.sequence));
        let size = header.size;
        self.holders.insert(Holders { buffer, left, size, parent, tree, acknowledges })
    }

    /// A shared packet has left for one of its children, which may be what its acknowledgement
    /// waits for.
    pub(crate) fn forwarded(&mut self, key: Key, out: &mut impl Actions<B>) {
        if let Some((from, number)) = self.holders.get_mut(key).acknowledges {
            self.satisfy(from, number, out);
        }
    }

    /// One holder of a shared buffer is done with it.
    pub(crate) fn drop_holder(&mut self, key: Key, out: &mut impl Actions<B>) {
        let holders = self.holders.get_mut(key);
        holders.left -= 1;
        if holders.left > 0 {
            return;
        }
        let Holders { buffer, size, parent, tree, .. } = self.holders.remove(key);
        if tree.root == self.local {
            self.retransmission.taken -= self.taken_by_multicast(size);
        }
        out.free(buffer);
        self.buffer_freed(parent, tree, out);
    }

    /// Sends to all children. The packet came on recovery channel `arrived`, if it came on one.
    fn forward(
        &mut self,
        tree: TreeId,
        buffer: B,
        size: u16,
        key: Key,
        arrived: Channel,
        out: &mut impl Actions<B>,
    ) {
        let own = tree.root == self.local;
        for i in 0.. {
            let Some(child) = self.child(tree, i) else { break };
            self.counters.forwards += u64::from(!own);
            let body = Body::Buffer(buffer);
            let holders = Some(key);
            let departure = Departure { tag: Tag::Mcast, tree, size, body, holders };
            self.credit_send(child, departure, arrived, out);
        }
    }

    fn group_of(&self, tree: TreeId) -> Option<&Group> {
        self.group(tree.group()?)
    }

    pub(crate) fn children(&self, tree: TreeId) -> u16 {
        (0..).take_while(|&i| self.child(tree, i).is_some()).count() as u16
    }

    fn child(&self, tree: TreeId, i: usize) -> Option<Rank> {
        self.group_of(tree)?.child(tree.root, self.local, i)
    }
}
