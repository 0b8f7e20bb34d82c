//! Breaking things on purpose, to show that the judges judge.

use crate::world::World;
use weft_protocol::PacketBody;
use weft_protocol::invariants::UpcallConditions;
use weft_wire::{Channel, Header, Rank, Tag, TreeId};

/// Something wrong in the surroundings of one NI. It strikes once, as soon as it can.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fault {
    /// A control packet is queued, to be transmitted some time.
    SwallowControl,
    /// A data packet is transmitted once more.
    TransmitTwice,
    /// A packet is accepted and not delivered.
    SwallowDelivery,
    /// A buffer is given up once more.
    FreeTwice,
    /// A shared buffer is given up when the first of those that need it is done.
    FreeEarly,
}

impl World {
    /// `fault` will strike at `at`.
    pub fn plan(&mut self, at: Rank, fault: Fault) {
        self.faults[at.index()] = Some(fault);
    }

    /// The packet at the head of a wire is lost.
    pub fn lose_head(&mut self, from: Rank, to: Rank) {
        self.wires.between_mut(from, to).pop_front().expect("no packet to lose");
        self.check();
    }

    /// The packet at the head of a wire is there twice.
    pub fn duplicate_head(&mut self, from: Rank, to: Rank) {
        let wire = self.wires.between_mut(from, to);
        let packet = *wire.front().expect("no packet to duplicate");
        wire.push_front(packet);
        self.check();
    }

    /// The first two packets of a wire change places.
    pub fn swap_heads(&mut self, from: Rank, to: Rank) {
        self.wires.between_mut(from, to).swap(0, 1);
        self.check();
    }

    /// `packets` control packets that say nothing are put on a wire.
    pub fn flood(&mut self, from: Rank, to: Rank, packets: usize) {
        let header = Header::new(Tag::Credit, from, TreeId::unicast(from), 0);
        let packet = crate::Packet { header, body: PacketBody::Empty };
        self.wires.between_mut(from, to).extend(std::iter::repeat_n(packet, packets));
        self.check();
    }

    /// The packet at the head of a wire travels on the recovery channel of `owner` from now on.
    pub fn divert_head(&mut self, from: Rank, to: Rank, owner: Rank) {
        let packet = self.wires.between_mut(from, to).front_mut().expect("no packet to divert");
        packet.header.channel = Channel(Some(owner));
        self.check_channels();
    }

    /// The host of `at` sends from buffers that it does not have.
    pub fn invent_send_buffers(&mut self, at: Rank, buffers: usize) {
        self.hosts[at.index()].free_send_buffers += buffers;
    }

    /// The host of `at` now takes upcalls under these conditions.
    pub fn set_upcall_conditions(&mut self, at: Rank, conditions: UpcallConditions) {
        self.hosts[at.index()].conditions = conditions;
    }

    /// An upcall of the host of `at` begins and does not return.
    pub fn begin_endless_upcall(&mut self, at: Rank) {
        self.hosts[at.index()].begin_upcall();
    }
}
