//! UCAST: packets to one rank, by credit (thesis 4.1).

use crate::actions::{Actions, Delivery, PacketBody, Sharing};
use crate::credit::TooManyCredits;
use crate::departure::Departure;
use crate::ni::Ni;
use crate::peers::Peer;
use crate::traffic::Traffic;
use crate::violation::Violation;
use weft_wire::{Channel, Header, Protocol, Rank, Tag, TreeId};

/// The outcome of a look at a short packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Looked {
    /// The host is done with it.
    pub is_done: bool,
    /// [`Ni::settle`] must follow.
    pub is_unsettled: bool,
    /// Its place in the window is free again.
    is_freed: bool,
}

impl<B: Copy> Ni<B> {
    /// Sends `size` bytes of `buffer` to `to` (thesis fig. 4.2), for the system that `tree` names:
    /// the delivery says which. The buffer is the NI's until it is freed. Never blocks: without a
    /// credit the packet waits in the blocked-sends queue.
    #[inline(always)]
    pub fn unicast(
        &mut self,
        tree: TreeId,
        to: Rank,
        buffer: B,
        size: u16,
        out: &mut impl Actions<B>,
    ) {
        let base = &mut self.router.traffic.flows.base;
        if to == base.local {
            base.counters.packets_delivered += 1;
            let parent = base.local;
            out.deliver(Delivery { buffer, size, tree, parent, sharing: Sharing::Alone });
            return;
        }
        let body = PacketBody::Buffer(buffer);
        let departure = Departure { tag: Tag::Ucast, tree, size, body, holders: None };
        self.router.traffic.credit_send(to, departure, Channel::NONE, out);
    }

    /// The header of `size` bytes to `to` that are in no buffer, if they may leave now: whoever
    /// asks for it sends them before anything else. `None` if they have to wait, or be kept, which
    /// takes [`Self::unicast`] and a buffer.
    #[inline(always)]
    pub fn unicast_at_once(&mut self, to: Rank, protocol: Protocol, size: u16) -> Option<Header> {
        let (local, is_adaptive) = (self.local(), self.router.traffic.windows.are_adaptive());
        if to == local {
            return None;
        }
        let peer = self.router.traffic.flows.peers.get_mut(to)?;
        if peer.flow.is_some() || !peer.outgoing.spend() {
            return None;
        }
        let header = Header::new(Tag::Ucast, local, TreeId::unicast(local).of(protocol), size);
        let header = peer.return_credits(header, is_adaptive);
        self.router.traffic.flows.base.count_sent(size);
        Some(header)
    }

    /// True if a packet to `to` could leave at once but for a credit, and one comes without being
    /// asked for.
    pub fn awaits_credit(&self, to: Rank) -> bool {
        let careful = |peer: &Peer<B>| peer.flow.is_none() && peer.outgoing.held() == 0;
        let Traffic { flows, windows, .. } = &self.router.traffic;
        to != flows.base.local
            && !windows.are_adaptive()
            && flows.peers.get(to).is_some_and(careful)
    }

    /// A data packet of `size` bytes whose header has nothing out of the ordinary but `credits`,
    /// from a peer whose packets have no numbers: [`Self::received`] in fewer steps. It is in no
    /// buffer. `look` says whether the host is done with it; else the host has it from here on, and
    /// ends it with [`Self::released_plain`]. If the answer says so, [`Self::settle`] must follow
    /// at once; and then, in any case, [`Self::count_plain`].
    ///
    /// # Errors
    /// [`Violation`] if the peer had no credit for it, or returns too many. Nobody has looked then.
    #[inline(always)]
    pub fn received_plain(
        &mut self,
        from: Rank,
        size: u16,
        credits: u16,
        look: impl FnOnce() -> bool,
    ) -> Result<Looked, Violation> {
        let Traffic { flows, windows, recoveries, .. } = &mut self.router.traffic;
        let is_static = !windows.are_adaptive() && !recoveries.is_recovering();
        let Peer { outgoing, incoming, .. } = &mut flows.peers[from];
        if !incoming.has_room() {
            return Err(Violation::Window(from));
        }
        let mut is_unblocked = false;
        if credits > 0 {
            outgoing.accept(credits).map_err(|TooManyCredits| Violation::Credits(from))?;
            is_unblocked = outgoing.blocked() > 0;
        }
        flows.base.counters.bytes_received += u64::from(size);
        let is_done = look();
        let is_freed = is_done && is_static;
        let is_due = match is_freed {
            true => incoming.pass(),
            false => {
                incoming.take_room();
                is_done
            }
        };
        Ok(Looked { is_done, is_unsettled: is_due || is_unblocked, is_freed })
    }

    /// Ends what [`Self::received_plain`] has left: credits go back, packets that waited for the
    /// credits that have come leave.
    #[cold]
    pub fn settle(&mut self, from: Rank, looked: Looked, out: &mut impl Actions<B>) {
        self.router.traffic.settle(from, looked.is_done && !looked.is_freed, out);
    }

    /// The host is done with a packet from `from` that was received short. If the answer says so,
    /// [`Self::settle`] must follow.
    #[inline(always)]
    pub fn released_plain(&mut self, from: Rank) -> Looked {
        let Traffic { flows, windows, recoveries, .. } = &mut self.router.traffic;
        let is_static = !windows.are_adaptive() && !recoveries.is_recovering();
        let mut is_unsettled = true;
        if is_static {
            let incoming = &mut flows.peers[from].incoming;
            incoming.count_freed();
            is_unsettled = incoming.vacate_until_due();
        }
        Looked { is_done: true, is_unsettled, is_freed: is_static }
    }
}
