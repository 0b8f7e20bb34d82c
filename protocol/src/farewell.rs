//! Timers that run out, and peers that end: in good order, which they say, or in silence
//! ([`crate::silence`]).

use crate::acknowledge::Why;
use crate::actions::{Actions, PacketBody};
use crate::departure::Departure;
use crate::flows::Flows;
use crate::peers::Peer;
use crate::sequence::Flow;
use crate::settings::{Recovery, Silence};
use crate::timer::Nanoseconds;
use crate::traffic::Traffic;
use weft_wire::{Channel, Rank, Tag, TreeId};

impl<B: Copy> Traffic<B> {
    /// This rank ends, in good order: its peers are told, where they would miss it.
    pub fn disconnect(&mut self, out: &mut impl Actions<B>) {
        if self.flows.base.settings.silence.is_none() {
            return;
        }
        self.leaving = true;
        let ranks = self.flows.peers.iter().map(|(rank, _)| rank);
        let gone: Vec<Rank> = ranks.filter(|&rank| self.flows.peers.is_gone(rank)).collect();
        for peer in gone {
            // It may be waiting for this, and it needs no farewell.
            self.flows.acknowledge(peer, Tag::Acknowledge, Why::Again, out);
        }
        let tree = TreeId::unicast(self.flows.base.local);
        let farewell = Departure::control(Tag::Farewell, tree, PacketBody::Empty);
        let met: Vec<Rank> = self.flows.peers.met().collect();
        for peer in met {
            self.credit_send(peer, farewell.clone(), Channel::NONE, out);
        }
    }

    /// The time is now `now`, if nothing else follows from that: no timer is due, and this NI was
    /// not deaf.
    #[inline]
    pub fn passes(&mut self, now: Nanoseconds) -> bool {
        let Flows { base, timers, .. } = &mut self.flows;
        let passed = now.saturating_sub(base.now);
        let passes = !matches!(base.settings.recovery, Recovery::After(_))
            && !base.settings.silence.is_some_and(|silence| silence.is_deaf(passed))
            && !timers.are_due(now);
        if passes {
            base.now = now.max(base.now);
        }
        passes
    }

    /// The time is now `now`. Runs out the timers that are due.
    #[inline(never)]
    pub fn advance_slowly(&mut self, now: Nanoseconds, out: &mut impl Actions<B>) {
        self.flows.tell_time(now);
        self.run_out(out);
        if self.recoveries.deadline().is_some_and(|deadline| deadline <= now) {
            self.try_recovery(out);
        }
    }

    /// Runs out the timers of all peers that are due.
    fn run_out(&mut self, out: &mut impl Actions<B>) {
        let now = self.flows.base.now;
        if !self.flows.timers.are_due(now) {
            return;
        }
        let is_due = |deadline: Option<Nanoseconds>| deadline.is_some_and(|at| at <= now);
        let flows = self.flows.peers.flows();
        let due: Vec<(Rank, bool, bool)> = flows
            .map(|(rank, flow)| {
                (rank, is_due(flow.sending.deadline), is_due(flow.receiving.deadline))
            })
            .filter(|&(_, sending, receiving)| sending || receiving)
            .collect();
        let mut expired = false;
        for (peer, resend, acknowledge) in due {
            if resend && !self.flows.came_late(peer) && !self.flows.waits_on_link(peer, out) {
                self.time_out(peer, out);
            }
            // The packets sent again may have taken it along.
            if acknowledge && is_due(self.flows.flow(peer).receiving.deadline) {
                self.flows.acknowledge(peer, Tag::Acknowledge, Why::Late, out);
                expired = true;
            }
        }
        if expired {
            self.flows.count_expiration(out);
        }
        self.listen(out);
        let Traffic { flows, .. } = self;
        flows.timers.set(flows.peers.earliest_timer(flows.base.settings.silence));
    }

    /// `peer` has not acknowledged in time: what it may have missed is sent again, if it is there.
    /// That may be in vain again, where short packets are not; so it does not take the place of a
    /// heartbeat.
    fn time_out(&mut self, peer: Rank, out: &mut impl Actions<B>) {
        let spoke = self.flows.flow(peer).hearing.spoke;
        if self.flows.peers.is_gone(peer) {
            self.forget(peer, out);
        } else if self.flows.base.settings.preset.is_optimistic() {
            self.flows.time_out(peer, out);
        } else {
            self.flows.retransmit(peer, None, out);
        }
        self.flows.flow(peer).hearing.spoke = spoke;
    }

    /// `peer` ends, in good order.
    pub fn bid_farewell(&mut self, peer: Rank, out: &mut impl Actions<B>) {
        self.flows.flow(peer).hearing.gone = true;
        if self.waits_for_farewell_only(peer) {
            self.forget(peer, out);
        }
    }

    /// Counts all packets to `peer` as acknowledged: it is not there any more.
    pub fn forget(&mut self, peer: Rank, out: &mut impl Actions<B>) {
        loop {
            let sending = &mut self.flows.flow(peer).sending;
            sending.limit = None;
            sending.round_trip.void();
            let (next, left) = (sending.next(), sending.len() as u16);
            self.free_acknowledged(peer, next, left, out);
            let outgoing = &mut self.flows.peers[peer].outgoing;
            outgoing.grant(outgoing.window());
            if outgoing.blocked() == 0 {
                return;
            }
            self.drain_blocked(peer, out);
        }
    }

    /// True if all has left, but for the acknowledgement of the farewell by `peer`.
    fn waits_for_farewell_only(&self, peer: Rank) -> bool {
        let peer = self.flows.peers.get(peer);
        let Some(Peer { outgoing, flow: Some(flow), .. }) = peer else { return false };
        let Flow { sending, .. } = &**flow;
        let farewell = |departure: &Departure<B>| departure.tag == Tag::Farewell;
        self.leaving
            && outgoing.blocked() == 0
            && sending.again(None).all(|(_, departure)| farewell(&departure))
    }

    /// Sends heartbeats that are due, and declares peers lost that were silent for too long.
    fn listen(&mut self, out: &mut impl Actions<B>) {
        let Some(silence) = self.flows.base.settings.silence else { return };
        let Silence { heartbeat_after, lost_after } = silence;
        let now = self.flows.base.now;
        let met: Vec<Rank> = self.flows.peers.met().collect();
        for peer in met {
            let hearing = &mut self.flows.flow(peer).hearing;
            let (heard, spoke) = (hearing.heard, hearing.spoke);
            if heard + lost_after <= now && self.waits_for_farewell_only(peer) {
                self.bid_farewell(peer, out);
            } else if heard + lost_after <= now {
                self.flows.flow(peer).hearing.lost = true;
                self.flows.base.counters.peers_lost += 1;
                out.unreachable(peer);
            } else if spoke + heartbeat_after <= now {
                self.flows.acknowledge(peer, Tag::Acknowledge, Why::Heartbeat, out);
            }
        }
    }
}
