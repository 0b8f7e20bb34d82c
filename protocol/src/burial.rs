//! Peers that were lost, in a job that goes on: nothing goes there any more, and nothing waits for
//! them.
//!
//! Losses are known from outside: the process manager has seen the rank end. Its earlier packets
//! may still arrive. Data to this rank alone is delivered; all else of it is dropped, because what
//! it was part of is over. All groups are stars then ([`crate::tree::Shape::Flat`]): a packet that
//! others forward would stop where a forwarder was.

use crate::actions::{Actions, PacketBody};
use crate::departure::Departure;
use crate::ni::Ni;
use crate::traffic::Traffic;
use weft_wire::{Rank, Tag};

impl<B: Copy> Ni<B> {
    /// Forgets `peer`, which has ended: what waits for it or is to be acknowledged by it is freed,
    /// and it is no member of a group any more. True if it was asked for an atomic operation, which
    /// it does not answer any more.
    pub fn bury(&mut self, peer: Rank, out: &mut impl Actions<B>) -> bool {
        if self.router.traffic.is_buried(peer) || self.router.traffic.flows.base.is_foreign(peer) {
            return false;
        }
        self.router.multicast.groups.bury(peer);
        self.router.traffic.bury(peer, out)
    }
}

impl<B: Copy> Traffic<B> {
    /// True if nothing goes to `peer` any more.
    pub fn is_buried(&self, peer: Rank) -> bool {
        self.buried.contains(&peer)
    }

    fn bury(&mut self, peer: Rank, out: &mut impl Actions<B>) -> bool {
        self.buried.push(peer);
        if self.flows.peers.is_numbered(peer) {
            self.flows.flow(peer).hearing.end();
            self.forget(peer, out);
        }
        // From here on there is no credit, so that all that is to go there is thrown away.
        let outgoing = &mut self.flows.peers[peer].outgoing;
        outgoing.hand_back(u16::MAX);
        let blocked = outgoing.take_blocked();
        self.recoveries.unblock(peer, false, self.flows.base.now);
        let mut asked = self.atomics.has_asked(peer);
        for departure in blocked {
            asked |= departure.tag == Tag::FaRequest;
            self.throw_away(departure, out);
        }
        if asked {
            self.atomics.end();
        }
        asked
    }

    /// A packet that reaches nobody: it counts as sent.
    #[cold]
    pub fn throw_away(&mut self, departure: Departure<B>, out: &mut impl Actions<B>) {
        match (departure.holders, departure.body) {
            (Some(key), _) => {
                self.forwarded(key, out);
                self.drop_holder(key, out);
            }
            (None, PacketBody::Buffer(buffer)) => out.free(buffer),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests;
