//! UCAST: packets to one rank, by credit (thesis 4.1).

use crate::actions::Sharing;
use crate::ni::Departure;
use crate::{Actions, Body, Delivery, Ni};
use weft_wire::{Channel, Rank, Tag, TreeId};

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
}
