//! MCAST: multicast along spanning trees of credit-controlled hops (thesis 4.2).

use crate::actions::{Actions, Delivery, PacketBody, Sharing};
use crate::departure::Departure;
use crate::groups::Groups;
use crate::holders::Holders;
use crate::preset::{Acknowledging, Forwarding};
use crate::settings::Settings;
use crate::slab::Key;
use crate::traffic::Traffic;
use weft_wire::{Channel, GroupId, Header, Protocol, Rank, Tag, TreeId};

/// Groups, and packets of groups to come.
#[derive(Debug, Clone)]
pub(crate) struct Multicast<B> {
    pub groups: Groups,
    /// In the order in which they came.
    pub early: Vec<Early<B>>,
}

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

impl<B: Copy> Multicast<B> {
    /// With the broadcast group.
    pub fn new(local: Rank, settings: &Settings) -> Self {
        Multicast { groups: Groups::new(local, settings), early: Vec::new() }
    }

    /// Sends `size` bytes of `buffer` to all other members of `group`, to their system `protocol`
    /// (thesis fig. 4.6).
    ///
    /// # Panics
    /// If there is no such group or this rank is not a member: the packet would reach nobody.
    pub fn send(
        &self,
        (protocol, group): (Protocol, GroupId),
        (buffer, size): (B, u16),
        traffic: &mut Traffic<B>,
        out: &mut impl Actions<B>,
    ) {
        let local = traffic.flows.base.local;
        let tree = TreeId::multicast(group, local).of(protocol);
        let children = self.groups.children(tree);
        if children == 0 {
            let member = self.groups.get(group).is_some_and(|group| group.contains(local));
            assert!(member, "{local:?} multicasts to {group:?}, of which it is no member");
            out.free(buffer);
            return;
        }
        let left = children + 1;
        let holders = Holders { buffer, left, size, parent: local, tree, acknowledges: None };
        let taken = traffic.flows.base.settings.buffers_of_multicast(size);
        traffic.flows.send_pool.take_for_all(taken);
        let key = traffic.holders.insert(holders);
        self.forward(tree, (buffer, size), key, Channel::NONE, traffic, out);
        traffic.drop_holder(key, out);
    }

    /// The host passes a packet on before it looks at it (host-level forwarding).
    ///
    /// Under ACK-receive the careful presets give the credit back now (thesis 8.3.2): how many
    /// packets wait here to be forwarded is then bounded by the host's buffers only.
    pub fn reinject(
        &self,
        delivery: &mut Delivery<B>,
        traffic: &mut Traffic<B>,
        out: &mut impl Actions<B>,
    ) {
        let Sharing::Unforwarded(number) = delivery.sharing else { return };
        let Delivery { buffer, size, tree, parent, .. } = *delivery;
        let base = &traffic.flows.base;
        let forward = base.settings.preset.acknowledging() == Acknowledging::Forward;
        let sender = self.groups.parent(tree);
        let numbered = sender.filter(|&sender| traffic.flows.peers.is_numbered(sender));
        let early = !forward && numbered.is_none();
        let acknowledges = numbered.filter(|_| forward).map(|sender| (sender, number));
        let left = self.groups.children(tree) + 1;
        let creditor = if early { base.local } else { parent };
        let holders = Holders { buffer, left, size, parent: creditor, tree, acknowledges };
        let key = traffic.holders.insert(holders);
        delivery.sharing = Sharing::Forwarded(key);
        self.forward(tree, (buffer, size), key, Channel::NONE, traffic, out);
        if early {
            traffic.buffer_freed(parent, tree, out);
        }
    }

    /// Delivers, then forwards, in the order of thesis fig. 4.7.
    pub fn received(
        &self,
        header: &Header,
        buffer: B,
        creditor: Rank,
        traffic: &mut Traffic<B>,
        out: &mut impl Actions<B>,
    ) {
        let base = &mut traffic.flows.base;
        base.counters.packets_delivered += 1;
        let mut delivery = Delivery::received(buffer, header, creditor, None);
        if self.groups.children(header.tree) == 0 {
            out.deliver(delivery);
        } else if base.settings.preset.forwarding() == Forwarding::Host {
            delivery.sharing = Sharing::Unforwarded(header.sequence);
            out.deliver(delivery);
        } else {
            let key = self.hold_received(header, buffer, traffic);
            delivery.sharing = Sharing::Forwarded(key);
            out.deliver(delivery);
            let packet = (buffer, header.size);
            self.forward(header.tree, packet, key, header.channel, traffic, out);
        }
    }

    /// Forwards a packet that the host has yet to accept; `None` if there is nobody to forward to.
    pub fn forward_received(
        &self,
        header: &Header,
        buffer: B,
        traffic: &mut Traffic<B>,
        out: &mut impl Actions<B>,
    ) -> Option<Key> {
        if self.groups.children(header.tree) == 0 {
            return None;
        }
        let key = self.hold_received(header, buffer, traffic);
        self.forward(header.tree, (buffer, header.size), key, header.channel, traffic, out);
        Some(key)
    }

    /// A buffer that its children and the host need.
    fn hold_received(&self, header: &Header, buffer: B, traffic: &mut Traffic<B>) -> Key {
        let (tree, parent) = (header.tree, header.source);
        let left = self.groups.children(tree) + 1;
        let numbered = traffic.flows.peers.is_numbered(parent);
        let acknowledges = numbered.then_some((parent, header.sequence));
        let size = header.size;
        traffic.holders.insert(Holders { buffer, left, size, parent, tree, acknowledges })
    }

    /// Sends to all children. The packet came on recovery channel `arrived`, if it came on one.
    fn forward(
        &self,
        tree: TreeId,
        (buffer, size): (B, u16),
        key: Key,
        arrived: Channel,
        traffic: &mut Traffic<B>,
        out: &mut impl Actions<B>,
    ) {
        let own = tree.root == traffic.flows.base.local;
        for i in 0.. {
            let Some(child) = self.groups.child(tree, i) else { break };
            traffic.flows.base.counters.forwards += u64::from(!own);
            let body = PacketBody::Buffer(buffer);
            let holders = Some(key);
            let departure = Departure { tag: Tag::Mcast, tree, size, body, holders };
            traffic.credit_send(child, departure, arrived, out);
        }
    }
}
