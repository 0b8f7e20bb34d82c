//! Sink of the actions of one NI: packets onto wires, packets to the host, buffers back.

use crate::fault::Fault;
use crate::host::Host;
use crate::ledger::{HostPart, Ledger};
use crate::wire::{Packet, Wires};
use weft_model::packets::Reference;
use weft_protocol::{Actions, Deferred, Delivery, PacketBody};
use weft_wire::{Header, Rank, Tag};

/// The surroundings of one NI during one step.
pub(crate) struct Sink<'a> {
    pub at: Rank,
    pub wires: &'a mut Wires,
    pub host: &'a mut Host,
    pub ledger: &'a mut Ledger,
    pub reference: &'a mut Reference,
    pub fault: &'a mut Option<Fault>,
    /// True if credits may be given for buffers that were never filled.
    pub adaptive: bool,
    /// True if an atomic operation was answered during the step.
    pub answered: bool,
}

/// True if the credits in packets of this kind are its receiver's to spend.
pub(crate) fn gives_credits(tag: Tag) -> bool {
    !matches!(tag, Tag::Recall | Tag::Return)
}

impl Sink<'_> {
    /// True if `fault` is to strike now; it strikes once.
    pub fn strikes(&mut self, fault: Fault) -> bool {
        self.fault.take_if(|planned| *planned == fault).is_some()
    }

    /// The world's copy of a body, with what the buffer says in place of its number.
    fn read(&mut self, to: Rank, body: &PacketBody<u64>) -> PacketBody<crate::Contents> {
        match *body {
            PacketBody::Buffer(number) => {
                let buffer = self.ledger.used(number, self.at);
                let due = buffer.due.iter().position(|&rank| rank == to);
                let due = due.unwrap_or_else(|| {
                    panic!(
                        "I3 order: {:?} sends {to:?} a copy of {} that is not due there",
                        buffer.at, buffer.contents.name
                    )
                });
                buffer.due.remove(due);
                PacketBody::Buffer(buffer.contents)
            }
            PacketBody::Atomic { variable, operation } => {
                PacketBody::Atomic { variable, operation }
            }
            PacketBody::Unknown(first) => PacketBody::Unknown(first),
            PacketBody::Fetched(value) => PacketBody::Fetched(value),
            PacketBody::Empty => PacketBody::Empty,
        }
    }
}

impl Actions<u64> for Sink<'_> {
    fn transmit(&mut self, to: Rank, header: &Header, body: &PacketBody<u64>) {
        assert_eq!(header.source, self.at, "a packet's source is who transmitted it last");
        let packet = Packet { header: *header, body: self.read(to, body) };
        if header.tag.is_data() {
            let due = &mut self.ledger.pair_mut(self.at, to).due;
            *due = due.checked_sub(1).expect("I2 careful: a data packet that nobody asked for");
        } else if self.strikes(Fault::SwallowControl) {
            return;
        }
        if gives_credits(header.tag) {
            let freed = &mut self.ledger.pair_mut(to, self.at).freed;
            *freed -= i32::from(header.credits);
            let made = *freed < 0 && !self.adaptive;
            assert!(!made, "I1 credit conservation: credits for buffers that are not free");
        }
        self.answered |= header.tag == Tag::FaReply;
        self.wires.between_mut(self.at, to).push_back(packet);
        if header.tag.is_data() && self.strikes(Fault::TransmitTwice) {
            self.wires.between_mut(self.at, to).push_back(packet);
        }
        if let PacketBody::Buffer(number) = *body
            && self.ledger.used(number, self.at).due.is_empty()
            && self.strikes(Fault::FreeEarly)
        {
            self.ledger.give_back(number);
        }
    }

    fn deliver(&mut self, delivery: Delivery<u64>) {
        let buffer = self.ledger.used(delivery.buffer, self.at);
        assert_eq!(buffer.host, HostPart::Awaited, "I4 one owner: a buffer was delivered twice");
        if self.strikes(Fault::SwallowDelivery) {
            return;
        }
        self.ledger.used(delivery.buffer, self.at).host = HostPart::Reading;
        self.host.delivered.push_back(delivery);
    }

    fn defer(&mut self, _: Deferred<u64>) {
        unreachable!("no preset that runs here leaves packets to the host");
    }

    fn free(&mut self, buffer: u64) {
        if self.ledger.give_back(buffer).from.is_none() {
            self.host.free_send_buffers += 1;
        }
        if self.strikes(Fault::FreeTwice) {
            self.ledger.give_back(buffer);
        }
    }

    fn fetched(&mut self, value: u64) {
        self.host.fetching = false;
        let answered = self.reference.answers(self.at, value);
        answered.unwrap_or_else(|disagreement| panic!("{disagreement}"));
    }
}
