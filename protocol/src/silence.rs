//! Silent peers: a network that is cut, or a host that is dead, sends nothing.
//!
//! Every packet says that its sender lives. A peer that was sent nothing for a while is sent a
//! heartbeat, which is an acknowledgement that says nothing new; a peer that was not heard of for
//! much longer is lost,
//! and that is said once. So is who is heard of and goes on missing one long packet: the way there
//! has become too narrow for it. Time in which this NI did not look at the clock does not count:
//! packets may have come meanwhile, and nobody took them from the link.
//!
//! A rank that ends in good order says so, in a packet that is sent until it is acknowledged, and
//! nothing is expected of it from there on, not even that it acknowledges anything. The last
//! acknowledgement of all may always be lost, and its sender be gone (the two generals): so who has
//! said farewell, and has had everything else acknowledged, takes silence for the answer.
//!
//! Silence takes long. A rank that sees sooner that another has ended, because they share a host,
//! tells all others, before it ends itself. That is not acknowledged: it is said a few times, and
//! who misses it all the same waits for the silence.

use crate::actions::{Actions, PacketBody};
use crate::flows::Flows;
use crate::sequence::Flow;
use crate::timer::Nanoseconds;
use weft_wire::{Header, Rank, Tag, TreeId};

impl<B: Copy> Flows<B> {
    /// Tells all peers that `lost` has ended, and the number of the cause: those never met, too,
    /// since they may wait for others that were.
    pub fn tell_loss(&mut self, lost: Rank, cause: u32, out: &mut impl Actions<B>) {
        let local = self.base.local;
        let is_told = |rank: Rank, flow: &Flow<B>| {
            rank != lost && rank != local && !flow.hearing.lost && !flow.hearing.gone
        };
        let told = self.peers.flows().filter(|&(rank, flow)| is_told(rank, flow));
        for peer in told.map(|(rank, _)| rank).collect::<Vec<_>>() {
            let mut header = Header::new(Tag::Lost, self.base.local, TreeId::unicast(lost), 0);
            self.piggyback(peer, &mut header);
            header.sequence = cause;
            out.transmit(peer, &header, &PacketBody::Empty);
        }
    }

    /// A packet has come from `peer`.
    pub(crate) fn hear(&mut self, peer: Rank) {
        let Some(silence) = self.base.settings.silence else { return };
        let now = self.base.now;
        let is_first = self.flow(peer).hearing.hear(now);
        self.timers.expect(is_first, now, silence.heartbeat_after);
    }

    /// The time is now `now`. If nobody looked for long, nobody listened either.
    pub(crate) fn tell_time(&mut self, now: Nanoseconds) {
        let deaf = now.saturating_sub(self.base.now);
        self.base.now = now.max(self.base.now);
        if !self.base.settings.silence.is_some_and(|silence| silence.is_deaf(deaf)) {
            return;
        }
        let met: Vec<Rank> = self.peers.met().collect();
        for peer in met {
            self.flow(peer).hearing.heard += deaf;
        }
    }
}

#[cfg(test)]
mod tests;
