//! One NI whose actions are written down.

use crate::tree::Shape;
use crate::{Actions, Deferred, Delivery, Ni, PacketBody, Preset, Settings, Violation};
use std::collections::VecDeque;
use weft_wire::{Atomic, Follows, GroupId, Header, Protocol, Rank, Tag, TreeId};

/// User bytes of every packet in these tests; the protocols never look at them.
pub const SIZE: u16 = 8;

/// One action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Did {
    Transmit(Rank, Header, PacketBody<u64>),
    Deliver { buffer: u64, size: u16, tree: TreeId, reinject: bool },
    Defer(Tag),
    Free(u64),
    Fetched(u64),
    Unreachable(Rank),
    Lost(Rank, u32),
    MtuExceeded(Rank, u16),
}

/// Writes every action down and keeps what was delivered.
#[derive(Debug, Default)]
pub struct Recorder {
    did: Vec<Did>,
    delivered: VecDeque<Delivery<u64>>,
    deferred: VecDeque<Deferred<u64>>,
    /// For each packet what it follows, in the order in which they were transmitted.
    pub follows: Vec<Follows>,
    /// Peers to which the link has something under way.
    pub under_way: Vec<Rank>,
}

impl Actions<u64> for Recorder {
    fn transmit(&mut self, to: Rank, header: &Header, body: &PacketBody<u64>) {
        // Said to the link, and to nobody else.
        self.follows.push(header.follows);
        let header = Header { follows: Follows::Nothing, ..*header };
        self.did.push(Did::Transmit(to, header, *body));
    }

    fn is_under_way(&mut self, to: Rank) -> bool {
        self.under_way.contains(&to)
    }

    fn deliver(&mut self, delivery: Delivery<u64>) {
        let Delivery { buffer, size, tree, .. } = delivery;
        let reinject = delivery.wants_reinjection();
        self.did.push(Did::Deliver { buffer, size, tree, reinject });
        self.delivered.push_back(delivery);
    }

    fn defer(&mut self, deferred: Deferred<u64>) {
        self.did.push(Did::Defer(deferred.header.tag));
        self.deferred.push_back(deferred);
    }

    fn free(&mut self, buffer: u64) {
        self.did.push(Did::Free(buffer));
    }

    fn fetched(&mut self, value: u64) {
        self.did.push(Did::Fetched(value));
    }

    fn unreachable(&mut self, peer: Rank) {
        self.did.push(Did::Unreachable(peer));
    }

    fn lost(&mut self, rank: Rank, cause: u32) {
        self.did.push(Did::Lost(rank, cause));
    }

    fn mtu_exceeded(&mut self, peer: Rank, size: u16) {
        self.did.push(Did::MtuExceeded(peer, size));
    }
}

/// An NI under test. Every event returns the actions that it caused.
pub struct Bench {
    pub ni: Ni<u64>,
    pub out: Recorder,
}

impl Bench {
    /// Rank `local` of `ranks`, binary trees, NI-level forwarding.
    pub fn new(local: u16, ranks: u16, window_packets: u16) -> Self {
        Bench::with(local, ranks, window_packets, Preset::NrxImc, Shape::Binary)
    }

    pub fn with(local: u16, ranks: u16, window_packets: u16, preset: Preset, shape: Shape) -> Self {
        let settings = Settings { preset, shape, ..Settings::new(ranks, window_packets) };
        Bench::set_up(local, settings)
    }

    pub fn set_up(local: u16, settings: Settings) -> Self {
        Bench { ni: Ni::new(Rank(local), settings), out: Recorder::default() }
    }

    pub fn advance(&mut self, now: u64) -> Vec<Did> {
        self.ni.advance(now, &mut self.out);
        self.did()
    }

    /// The host gets to the packet that was left to it first.
    pub fn host_receive(&mut self) -> Vec<Did> {
        self.try_host_receive().expect("a correct peer sends this")
    }

    pub fn try_host_receive(&mut self) -> Result<Vec<Did>, Violation> {
        let deferred = self.out.deferred.pop_front().expect("nothing was left to the host");
        self.ni.host_received(deferred, &mut self.out)?;
        Ok(self.did())
    }

    pub fn unicast(&mut self, to: u16, buffer: u64) -> Vec<Did> {
        self.unicast_of(to, buffer, SIZE)
    }

    pub fn unicast_of(&mut self, to: u16, buffer: u64, size: u16) -> Vec<Did> {
        self.ni.unicast(TreeId::unicast(self.ni.local()), Rank(to), buffer, size, &mut self.out);
        self.did()
    }

    pub fn disconnect(&mut self) -> Vec<Did> {
        self.ni.disconnect(&mut self.out);
        self.did()
    }

    pub fn tell_loss(&mut self, lost: u16, cause: u32) -> Vec<Did> {
        self.ni.tell_loss(Rank(lost), cause, &mut self.out);
        self.did()
    }

    pub fn bury(&mut self, peer: u16) -> Vec<Did> {
        self.ni.bury(Rank(peer), &mut self.out);
        self.did()
    }

    pub fn multicast(&mut self, group: GroupId, buffer: u64) -> Vec<Did> {
        self.ni.multicast(Protocol::PACKETS, group, buffer, SIZE, &mut self.out);
        self.did()
    }

    pub fn fetch_and_add(&mut self, home: u16, variable: u16, amount: u64) -> Vec<Did> {
        self.atomic(home, variable, Atomic::Add(amount))
    }

    pub fn atomic(&mut self, home: u16, variable: u16, operation: Atomic) -> Vec<Did> {
        self.ni.atomic(Rank(home), variable, operation, &mut self.out);
        self.did()
    }

    pub fn try_receive(
        &mut self,
        header: Header,
        body: PacketBody<u64>,
    ) -> Result<Vec<Did>, Violation> {
        self.ni.received(&header, body, &mut self.out)?;
        Ok(self.did())
    }

    /// Does what [`Self::try_receive`] does, and leaves no packet to the short way.
    pub fn try_receive_the_long_way(
        &mut self,
        header: Header,
        body: PacketBody<u64>,
    ) -> Result<Vec<Did>, Violation> {
        self.ni.router.received_other(&header, body, &mut self.out)?;
        Ok(self.did())
    }

    /// True if this packet goes the short way: then it was received.
    pub fn goes_short(&mut self, header: Header, buffer: u64) -> bool {
        self.ni.router.traffic.received_in_order(&header, buffer, &mut self.out)
    }

    /// Packets that were delivered, and are not released.
    pub fn delivered(&self) -> usize {
        self.out.delivered.len()
    }

    pub fn receive(&mut self, header: Header, body: PacketBody<u64>) -> Vec<Did> {
        self.try_receive(header, body).expect("a correct peer sends this")
    }

    pub fn receive_unicast(&mut self, from: u16, buffer: u64, credits: u16) -> Vec<Did> {
        self.receive(ucast(from, credits), PacketBody::Buffer(buffer))
    }

    pub fn receive_credits(&mut self, from: u16, credits: u16) -> Vec<Did> {
        self.receive(credit(from, credits), PacketBody::Empty)
    }

    /// The next group, and what came early for it.
    pub fn create_group(&mut self, members: &[u16]) -> Vec<Did> {
        self.try_create_group(members).expect("what came early is right")
    }

    pub fn try_create_group(&mut self, members: &[u16]) -> Result<Vec<Did>, Violation> {
        let members: Vec<Rank> = members.iter().copied().map(Rank).collect();
        self.ni.create_group(&members).expect("these are ranks of the job");
        self.ni.admit_early(&mut self.out)?;
        Ok(self.did())
    }

    /// The host takes the packet that was delivered first.
    pub fn take(&mut self) -> Delivery<u64> {
        self.out.delivered.pop_front().expect("nothing was delivered")
    }

    pub fn reinject(&mut self, delivery: &mut Delivery<u64>) -> Vec<Did> {
        self.ni.reinject(delivery, &mut self.out);
        self.did()
    }

    pub fn release(&mut self, delivery: Delivery<u64>) -> Vec<Did> {
        self.ni.released(delivery, &mut self.out);
        self.did()
    }

    /// The host has copied a packet into a buffer of its own.
    pub fn copied(&mut self, delivery: Delivery<u64>, copy: u64) -> (Delivery<u64>, Vec<Did>) {
        let copied = self.ni.copied(delivery, copy, &mut self.out);
        (copied, self.did())
    }

    /// The host takes the packet that was delivered first and releases it.
    pub fn release_first(&mut self) -> Vec<Did> {
        let delivery = self.take();
        self.release(delivery)
    }

    /// The whole state, to compare with.
    pub fn state(&self) -> String {
        format!("{:?}", self.ni)
    }

    fn did(&mut self) -> Vec<Did> {
        std::mem::take(&mut self.out.did)
    }
}

fn header(tag: Tag, from: u16, tree: TreeId, size: u16, credits: u16) -> Header {
    Header { credits, ..Header::new(tag, Rank(from), tree, size) }
}

pub fn unicast_tree(sender: u16) -> TreeId {
    TreeId::unicast(Rank(sender))
}

pub fn broadcast_tree(root: u16) -> TreeId {
    TreeId::multicast(GroupId::ALL, Rank(root))
}

pub fn ucast(from: u16, credits: u16) -> Header {
    header(Tag::Ucast, from, unicast_tree(from), SIZE, credits)
}

pub fn mcast(from: u16, tree: TreeId, credits: u16) -> Header {
    header(Tag::Mcast, from, tree, SIZE, credits)
}

pub fn credit(from: u16, credits: u16) -> Header {
    header(Tag::Credit, from, unicast_tree(from), 0, credits)
}

pub fn fa_request(from: u16, credits: u16) -> Header {
    header(Tag::FaRequest, from, unicast_tree(from), 0, credits)
}

pub fn fa_reply(from: u16, credits: u16) -> Header {
    header(Tag::FaReply, from, unicast_tree(from), 0, credits)
}

pub fn sent(to: u16, header: Header, buffer: u64) -> Did {
    Did::Transmit(Rank(to), header, PacketBody::Buffer(buffer))
}

pub fn sent_credits(from: u16, to: u16, credits: u16) -> Did {
    Did::Transmit(Rank(to), credit(from, credits), PacketBody::Empty)
}

pub fn delivered(buffer: u64, tree: TreeId) -> Did {
    Did::Deliver { buffer, size: SIZE, tree, reinject: false }
}

pub fn delivered_to_reinject(buffer: u64, tree: TreeId) -> Did {
    Did::Deliver { buffer, size: SIZE, tree, reinject: true }
}

/// An acknowledgement of nothing.
pub fn acknowledge_nothing(from: u16) -> Header {
    header(Tag::Acknowledge, from, unicast_tree(from), 0, 0)
}
