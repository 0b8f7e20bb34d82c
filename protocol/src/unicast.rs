//! UCAST: packets to one rank, by credit (thesis 4.1).

use crate::actions::Sharing;
use crate::ni::Departure;
use crate::{Actions, Body, Delivery, Ni};
use weft_wire::{Channel, Header, Rank, Tag, TreeId};

impl<B: Copy> Ni<B> {
    /// Sends `size` bytes of `buffer` to `to` (thesis fig. 4.2). The buffer is the NI's until it
    /// is freed. Never blocks: without a credit the packet waits in the blocked-sends queue.
    #[inline]
    pub fn unicast(&mut self, to: Rank, buffer: B, size: u16, out: &mut impl Actions<B>) {
        self.unicast_on(TreeId::unicast(self.local), to, buffer, size, out);
    }

    /// As [`Self::unicast`], on one of this rank's two-node trees: protocols care only that the delivery
    /// says which.
    #[inline(always)]
    pub fn unicast_on(
        &mut self,
        tree: TreeId,
        to: Rank,
        buffer: B,
        size: u16,
        out: &mut impl Actions<B>,
    ) {
        if to == self.local {
            self.counters.packets_delivered += 1;
            let parent = self.local;
            out.deliver(Delivery { buffer, size, tree, parent, sharing: Sharing::Alone });
            return;
        }
        let body = Body::Buffer(buffer);
        let departure = Departure { tag: Tag::Ucast, tree, size, body, holders: None };
        self.credit_send(to, departure, Channel::NONE, out);
    }

    /// The header of `size` bytes to `to` that are in no buffer, if they may leave now: whoever asks for it sends them before anything
    /// else. `None` if they have to wait, or be kept, which takes [`Self::unicast`] and a buffer.
    #[inline(always)]
    pub fn unicast_at_once(&mut self, to: Rank, size: u16) -> Option<Header> {
        if self.is_foreign(to) {
            return None;
        }
        let (local, is_adaptive) = (self.local, self.pool.is_some());
        let peer = &mut self.peers[to];
        if peer.flow.is_some() || !peer.outgoing.spend() {
            return None;
        }
        let header = Header::new(Tag::Ucast, local, TreeId::unicast(local), size);
        let header = peer.return_credits(header, is_adaptive);
        self.count_packet_sent(size);
        Some(header)
    }
}
