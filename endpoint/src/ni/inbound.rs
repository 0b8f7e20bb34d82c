//! Packets in, whatever the link.

use crate::Error;
use crate::ni::any_node::{Handler, Inbound, Inspect, Polled, Taken, Upcall};
use crate::ni::arrival::Arrival;
use crate::ni::node::Node;
use weft_link::Link;
use weft_wire::{Protocol, Rank};

impl<L: Link> Inbound for Node<L> {
    fn set_upcall(&self, protocol: Protocol, upcall: Upcall) {
        self.interface().inner.enter().systems.set_upcall(protocol, upcall);
    }

    fn set_handler(&self, protocol: Protocol, handler: Box<dyn Handler>) {
        self.interface().inner.enter().systems.set_handler(protocol, handler);
    }

    fn set_taken(&self, protocol: Protocol) {
        let mut inner = self.interface().inner.enter();
        inner.systems.set_taken(protocol);
        self.dispatcher.publish_waiting(&inner);
    }

    #[inline]
    fn poll(&self) -> Option<Polled> {
        self.dispatcher.poll_packet()
    }

    #[inline]
    fn take_unless(
        &self,
        protocol: Protocol,
        inspector: &mut dyn Inspect,
        into: &mut Option<Arrival>,
    ) -> Option<Taken> {
        let inspect = |from: Rank, bytes: &[u8]| inspector.inspect(from, bytes);
        self.dispatcher.take_packet(protocol, inspect, into)
    }

    #[cold]
    fn trouble(&self) -> Error {
        self.dispatcher.trouble()
    }

    #[inline]
    fn waiting_protocols(&self) -> u32 {
        self.dispatcher.unserved()
    }

    #[inline]
    fn taken(&self) {
        self.dispatcher.end_taking();
    }

    #[inline]
    fn release(&self, arrival: Arrival) {
        self.dispatcher.give_back(arrival);
    }
}
