//! Notices by which a system's receiver has senders stop, and go on.

use crate::ni::any_node::Destination;
use crate::ni::backlog::{HeldBack, Target};
use crate::ni::inner::Inner;
use weft_link::{Buffer, Link};
use weft_protocol::Delivery;
use weft_wire::{Protocol, Rank};

impl<L: Link> Inner<L> {
    /// Applies the notices that have arrived. A host that only drains does so, too.
    #[cold]
    pub fn handle_notices(&mut self) {
        self.has_notice = false;
        let is_notice = |delivery: &Delivery<Buffer>| delivery.tree.protocol == Protocol::ENDPOINT;
        while let Some(at) = self.pending.iter().position(is_notice) {
            if let Some(notice) = self.pending.remove(at) {
                self.handle_notice(notice);
            }
        }
    }

    /// Applies a notice, whose length is all that it says: a node writes into no frame.
    pub fn handle_notice(&mut self, notice: Delivery<Buffer>) {
        let (from, word) = (notice.origin(), notice.size);
        self.release(notice);
        if let Some((protocol, stop)) = decode_notice(word) {
            self.gates.set(protocol, from, stop);
        }
        while let Some(HeldBack { frame, protocol, to, size }) = self.gates.next_free() {
            match to {
                Target::One(rank) => self.unicast(protocol, rank, frame, size),
                // Its sender was a member when it was launched, and groups stay as they are.
                Target::Members(group, _) => {
                    let launched = self.multicast(protocol, group, frame, size);
                    debug_assert!(launched.is_ok(), "a group was there and is not");
                }
            }
        }
    }

    /// Keeps a packet whose receiver takes none of its system at the moment; false if it may leave.
    ///
    /// # Errors
    /// Its receiver, if that is lost.
    #[cold]
    pub fn hold_back(
        &mut self,
        frame: Buffer,
        protocol: Protocol,
        to: Destination,
        size: u16,
    ) -> Result<bool, Rank> {
        let to = match to {
            Destination::Unicast(rank) if self.gates.is_lost(rank) => return Err(rank),
            Destination::Unicast(rank) => Target::One(rank),
            Destination::Multicast(group) => match self.ni.group(group) {
                Some(found) => Target::Members(group, found.members().into()),
                None => return Ok(false),
            },
        };
        if self.gates.lets_through(protocol, &to) {
            return Ok(false);
        }
        self.gates.hold_back(HeldBack { frame, protocol, to, size });
        Ok(true)
    }

    /// Sends the notices that this rank owes, as far as there are frames.
    #[inline]
    pub fn send_notices(&mut self) {
        if self.gates.owe_notices() {
            send_owed_notices(self);
        }
    }
}

#[cold]
fn send_owed_notices<L: Link>(inner: &mut Inner<L>) {
    while let Some((protocol, to, stop)) = inner.gates.next_notice() {
        let Some(frame) = inner.link.alloc(Some(to)) else {
            return inner.gates.requeue_notice((protocol, to, stop));
        };
        inner.held += 1;
        inner.unicast(Protocol::ENDPOINT, to, frame, encode_notice(protocol, stop));
    }
}

/// A notice as the length of a packet.
fn encode_notice(protocol: Protocol, stop: bool) -> u16 {
    1 + (protocol.index() as u16) * 2 + u16::from(stop)
}

/// The protocol that a notice is about, and true if it says to stop; `None` if it says nothing.
fn decode_notice(size: u16) -> Option<(Protocol, bool)> {
    let word = size.checked_sub(1)?;
    let protocol = Protocol::numbered(u8::try_from(word / 2).ok()?)?;
    Some((protocol, word % 2 == 1))
}
