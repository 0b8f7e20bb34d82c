//! Peers that are not heard of: a network that is cut, or a host that is dead, says nothing.
//!
//! Every packet says that its sender lives. Who was sent nothing for a while is sent a heartbeat,
//! which is an acknowledgement that says nothing new; who was not heard of for much longer is lost,
//! and that is said once. So is who is heard of and goes on missing one long packet: the way there
//! has become too narrow for it. Time in which this NI did not look at the clock does not count:
//! packets may have come meanwhile, and nobody took them from the link.
//!
//! Who ends in good order says so, in a packet that is sent until it is acknowledged, and nothing
//! is expected of it from there on, not even that it acknowledges anything. The last
//! acknowledgement of all may always be lost, and its sender be gone (the two generals): so who has
//! said farewell, and has had everything else acknowledged, takes silence for the answer.
//!
//! Silence takes long. Who sees sooner that a rank has ended, because it shares its host, tells all
//! others, before it ends itself. That is not acknowledged: it is said a few times, and
//! who misses it all the same waits for the silence.

use crate::asking::Why;
use crate::ni::Departure;
use crate::peers::Peer;
use crate::sequence::Flow;
use crate::settings::Silence;
use crate::timer::{Nanoseconds, Timer};
use crate::{Actions, Body, Ni};
use weft_wire::{Channel, Header, Rank, Tag, TreeId};

/// Times at which two peers heard of each other.
#[derive(Debug, Clone, Default, Hash)]
pub(crate) struct Hearing {
    /// Nothing is expected of those whom this NI has never met.
    met: bool,
    /// Time at which anything came from the peer.
    heard: Nanoseconds,
    /// Time at which anything was sent to it.
    spoke: Nanoseconds,
    lost: bool,
    /// The peer has ended, in good order.
    gone: bool,
    again: Again,
}

/// A packet that was sent again and again without any other that was missing before it.
#[derive(Debug, Clone, Default, Hash)]
struct Again {
    number: u32,
    times: u16,
    since: Nanoseconds,
}

/// User bytes that every way takes: IP asks for packets of 576 (RFC 791).
const SHORT: u16 = 512;
/// The way is taken for too narrow after so many copies, which no network that is worth the name
/// loses all, ...
const MOST_COPIES: u16 = 20;
/// ... and after so many times of what silence may last, so that a way that recovers costs nothing.
const PATIENCE: Nanoseconds = 2;

impl Hearing {
    /// The time at which this peer is to be looked at again.
    pub fn deadline(&self, silence: Silence) -> Option<Nanoseconds> {
        let Silence { heartbeat_after, lost_after } = silence;
        self.is_expected().then(|| (self.spoke + heartbeat_after).min(self.heard + lost_after))
    }

    /// True if something was sent to the peer, or came from it.
    #[inline]
    pub fn has_met(&self) -> bool {
        self.met
    }

    /// A packet has come from the peer, which has met this rank.
    #[inline]
    pub fn hear(&mut self, now: Nanoseconds) {
        self.heard = now;
    }

    /// A packet goes to the peer. True if it is the first between the two.
    #[inline]
    pub fn speak(&mut self, now: Nanoseconds) -> bool {
        let is_first = self.meet(now);
        self.spoke = now;
        is_first
    }

    #[inline]
    fn is_expected(&self) -> bool {
        self.met && !self.lost && !self.gone
    }

    #[inline]
    fn meet(&mut self, now: Nanoseconds) -> bool {
        if !std::mem::replace(&mut self.met, true) {
            (self.heard, self.spoke) = (now, now);
            return true;
        }
        false
    }
}

impl<B: Copy> Ni<B> {
    /// This rank ends, in good order: its peers are told, where they would miss it. To be called
    /// once, after all else was sent; they know when [`Self::is_flushed`] says so.
    pub fn disconnect(&mut self, out: &mut impl Actions<B>) {
        if self.settings.silence.is_none() {
            return;
        }
        self.retransmission.leaving = true;
        for peer in self.gone() {
            // It may be waiting for this, and it needs no farewell.
            self.acknowledge(peer, Tag::Acknowledge, Why::Again, out);
        }
        let tree = TreeId::unicast(self.local);
        let body = Body::Empty;
        let farewell = Departure { tag: Tag::Farewell, tree, size: 0, body, holders: None };
        let met: Vec<Rank> = self.met().collect();
        for peer in met {
            self.credit_send(peer, farewell.clone(), Channel::NONE, out);
        }
    }

    /// Tells all peers that `lost` has ended, and the number of the cause: those never met, too,
    /// since they may wait for others that were. To be called by who has
    /// not [heard of it](Self::was_told_of_loss) from one of them.
    pub fn tell_loss(&mut self, lost: Rank, cause: u32, out: &mut impl Actions<B>) {
        let is_told = |rank: Rank, flow: &Flow<B>| {
            rank != lost && rank != self.local && !flow.hearing.lost && !flow.hearing.gone
        };
        let told = self.flows().filter(|&(rank, flow)| is_told(rank, flow));
        for peer in told.map(|(rank, _)| rank).collect::<Vec<_>>() {
            let mut header = Header::new(Tag::Lost, self.local, TreeId::unicast(lost), 0);
            self.piggyback(peer, &mut header);
            header.sequence = cause;
            out.transmit(peer, &header, &Body::Empty);
        }
    }

    /// A peer says that a rank has ended. The first to say so is believed.
    pub(crate) fn hear_of_loss(&mut self, header: &Header, out: &mut impl Actions<B>) {
        if !std::mem::replace(&mut self.retransmission.told_of_loss, true) {
            out.lost(header.tree.root, header.sequence);
        }
    }

    /// True if a peer has said that a rank has ended.
    pub fn was_told_of_loss(&self) -> bool {
        self.retransmission.told_of_loss
    }

    /// True for the unicast tree of another rank, whose loss a peer may tell.
    pub(crate) fn is_told_of(&self, tree: TreeId) -> bool {
        let lost = tree.root;
        tree.is_unicast_of(lost) && lost != self.local && lost.0 < self.settings.ranks
    }

    /// `peer` ends, in good order.
    pub(crate) fn bid_farewell(&mut self, peer: Rank, out: &mut impl Actions<B>) {
        self.flow(peer).hearing.gone = true;
        if self.waits_for_farewell_only(peer) {
            self.forget(peer, out);
        }
    }

    /// True if `peer` has ended, in good order: what is sent there reaches nobody.
    pub fn is_gone(&self, peer: Rank) -> bool {
        let flow = self.peers.get(peer).and_then(|peer| peer.flow.as_ref());
        flow.is_some_and(|flow| flow.hearing.gone)
    }

    /// Counts all packets to `peer` as acknowledged: it is not there any more.
    pub(crate) fn forget(&mut self, peer: Rank, out: &mut impl Actions<B>) {
        loop {
            let sending = &mut self.flow(peer).sending;
            sending.limit = None;
            sending.round_trip.void();
            let (next, left) = (sending.next(), sending.len() as u16);
            self.free_acknowledged(peer, next, left, out);
            let outgoing = &mut self.peers[peer].outgoing;
            outgoing.grant(outgoing.window());
            if outgoing.blocked() == 0 {
                return;
            }
            self.drain_blocked(peer, out);
        }
    }

    /// True if all has left, but for the acknowledgement of the farewell by `peer`.
    fn waits_for_farewell_only(&self, peer: Rank) -> bool {
        let Some(Peer { outgoing, flow: Some(flow), .. }) = self.peers.get(peer) else {
            return false;
        };
        let farewell = |departure: &Departure<B>| departure.tag == Tag::Farewell;
        self.retransmission.leaving
            && outgoing.blocked() == 0
            && flow.sending.again(None).all(|(_, departure)| farewell(&departure))
    }

    /// A packet has come from `peer`.
    pub(crate) fn hear(&mut self, peer: Rank) {
        let Some(silence) = self.settings.silence else { return };
        let now = self.now;
        let hearing = &mut self.flow(peer).hearing;
        let is_first = hearing.meet(now);
        hearing.hear(now);
        self.expect(is_first, silence);
    }

    /// Sends what `peer` may have missed. That may be in vain again, where short packets are not;
    /// so it does not take the place of a heartbeat.
    pub(crate) fn send_once_more(&mut self, peer: Rank, send: impl FnOnce(&mut Self)) {
        let spoke = self.flow(peer).hearing.spoke;
        send(self);
        self.flow(peer).hearing.spoke = spoke;
    }

    /// After the first packet between two ranks heartbeats are expected.
    #[inline]
    pub(crate) fn expect(&mut self, is_first: bool, silence: Silence) {
        if is_first {
            self.wake_by(self.now + silence.heartbeat_after, Timer::Silence);
        }
    }

    /// The time goes on from `self.now` to `now`. If nobody looked for long, nobody listened
    /// either.
    pub(crate) fn notice_deafness(&mut self, now: Nanoseconds) {
        let deaf = now.saturating_sub(self.now);
        if !self.settings.silence.is_some_and(|silence| silence.is_deaf(deaf)) {
            return;
        }
        let met: Vec<Rank> = self.met().collect();
        for peer in met {
            self.flow(peer).hearing.heard += deaf;
        }
    }

    /// Sends the heartbeats that are due, and gives up those who are.
    pub(crate) fn listen(&mut self, out: &mut impl Actions<B>) {
        let Some(Silence { heartbeat_after, lost_after }) = self.settings.silence else { return };
        let now = self.now;
        let met: Vec<Rank> = self.met().collect();
        for peer in met {
            let Hearing { heard, spoke, .. } = self.flow(peer).hearing;
            if heard + lost_after <= now && self.waits_for_farewell_only(peer) {
                self.bid_farewell(peer, out);
            } else if heard + lost_after <= now {
                self.flow(peer).hearing.lost = true;
                self.counters.peers_lost += 1;
                out.unreachable(peer);
            } else if spoke + heartbeat_after <= now {
                self.acknowledge(peer, Tag::Acknowledge, Why::Heartbeat, out);
            }
        }
    }

    /// A packet that `peer` misses, and has room for, is sent again because nothing was heard of
    /// it. If that goes on while `peer` is heard of, the way there is too narrow.
    pub(crate) fn sent_in_vain(
        &mut self,
        peer: Rank,
        (number, size): (u32, u16),
        out: &mut impl Actions<B>,
    ) {
        let Some(Silence { lost_after, .. }) = self.settings.silence else { return };
        let now = self.now;
        let Hearing { again, lost, .. } = &mut self.flow(peer).hearing;
        if again.number != number || again.times == 0 {
            *again = Again { number, times: 0, since: now };
        }
        again.times = again.times.saturating_add(1);
        let is_stuck = again.times > MOST_COPIES && now - again.since >= PATIENCE * lost_after;
        if is_stuck && size > SHORT && !*lost {
            *lost = true;
            self.counters.peers_lost += 1;
            out.mtu_exceeded(peer, size);
        }
    }

    /// The peers that have ended.
    fn gone(&self) -> Vec<Rank> {
        let ranks = self.peers.iter().map(|(rank, _)| rank);
        ranks.filter(|&rank| self.is_gone(rank)).collect()
    }

    /// The peers of whom something is expected.
    fn met(&self) -> impl Iterator<Item = Rank> + '_ {
        self.flows().filter(|(_, flow)| flow.hearing.is_expected()).map(|(rank, _)| rank)
    }

    /// The peers on a network.
    pub(crate) fn flows(&self) -> impl Iterator<Item = (Rank, &Flow<B>)> + '_ {
        self.peers.iter().filter_map(|(rank, peer)| Some((rank, peer.flow.as_deref()?)))
    }
}

#[cfg(test)]
mod tests;
