//! Packets on their way through an NI: those that leave, wait for a credit, or are kept until they
//! are acknowledged; and what becomes free when they are gone. Here the parts meet of which each
//! knows its own: pairs ([`crate::flows`]), windows, recoveries, and buffers with several holders.

use crate::actions::{Actions, Delivery, PacketBody};
use crate::atomics::Atomics;
use crate::credit::{TooManyCredits, WindowExceeded};
use crate::departure::Departure;
use crate::flows::Flows;
use crate::holders::Holders;
use crate::peers::Peer;
use crate::planted::Bug;
use crate::recovery::{Clear, Recoveries};
use crate::sequence::Flow;
use crate::settings::Settings;
use crate::slab::{Key, Slab};
use crate::timer::Timer;
use crate::violation::Violation;
use crate::windows::{Windows, send_credits};
use weft_wire::{Atomic, Channel, Header, Rank, Tag, TreeId};

/// Packets on their way.
#[derive(Debug, Clone)]
pub(crate) struct Traffic<B> {
    pub flows: Flows<B>,
    pub windows: Windows,
    pub recoveries: Recoveries,
    pub holders: Slab<Holders<B>>,
    pub atomics: Atomics,
    /// This rank has said farewell.
    pub leaving: bool,
    /// Peers that were lost, and to which nothing goes any more.
    pub buried: Vec<Rank>,
}

impl<B: Copy> Traffic<B> {
    pub fn new(local: Rank, settings: Settings) -> Self {
        Traffic {
            flows: Flows::new(local, settings),
            windows: Windows::new(&settings),
            recoveries: Recoveries::new(local, settings.recovery),
            holders: Slab::new(),
            atomics: Atomics::new(),
            leaving: false,
            buried: Vec::new(),
        }
    }

    /// True if nothing about a unicast packet is out of the ordinary.
    #[inline]
    pub fn is_plain(&self, header: &Header) -> bool {
        !self.flows.peers.is_numbered(header.source)
            && header.tree.is_unicast_of(header.source)
            && header.channel == Channel::NONE
            && !header.asks
    }

    /// Checks that a packet may come on its channel, or clear it: nothing is changed.
    pub fn check_channel(&self, header: &Header) -> Result<(), Violation> {
        let (from, clears) = (header.source, header.tag == Tag::ChannelClear);
        if header.channel == Channel::NONE && !clears {
            return Ok(());
        }
        if self.recoveries.is_off() {
            return Err(Violation::Unsupported(from, Tag::ChannelClear));
        }
        let allowed = header.channel.0.is_some_and(|owner| match clears {
            true => self.recoveries.may_clear(owner, from),
            false => {
                header.tag.is_data()
                    && !self.flows.base.is_foreign(owner)
                    && self.recoveries.is_open(owner)
            }
        });
        if allowed { Ok(()) } else { Err(Violation::Channel(from, header.channel)) }
    }

    /// Serves an atomic operation for a peer.
    pub fn serve_atomic(
        &mut self,
        request: &Header,
        variable: u16,
        operation: Atomic,
        out: &mut impl Actions<B>,
    ) {
        self.flows.base.counters.atomics_served += 1;
        let operation = match operation {
            Atomic::CompareSwap { new, .. } if self.flows.base.strikes(Bug::SwapUncompared) => {
                Atomic::Swap(new)
            }
            operation => operation,
        };
        let body = PacketBody::Fetched(self.atomics.apply(variable, operation));
        let local = self.flows.base.local;
        let (from, tree) = (request.source, TreeId::unicast(local));
        if self.flows.peers.is_numbered(from) {
            // Nobody asks twice, so the answer must not be lost: it is numbered like data.
            let departure = Departure::control(Tag::FaReply, tree, body);
            self.credit_send(from, departure, Channel::NONE, out);
            return;
        }
        if !self.release_channel(request.tree, out) {
            let incoming = &mut self.flows.peers[from].incoming;
            incoming.count_freed();
            incoming.vacate();
        }
        let mut header = Header::new(Tag::FaReply, local, tree, 0);
        header.credits = self.flows.peers[from].incoming.collect();
        out.transmit(from, &header, &body);
    }

    /// Takes the credits that a packet brings.
    #[inline]
    pub fn accept_credits(&mut self, header: &Header) -> Result<(), Violation> {
        let outgoing = &mut self.flows.peers[header.source].outgoing;
        outgoing.accept(header.credits).map_err(|TooManyCredits| Violation::Credits(header.source))
    }

    /// A data packet fills a buffer of its sender's window.
    #[inline]
    pub fn fill(&mut self, header: &Header) -> Result<(), Violation> {
        let Peer { outgoing, incoming, .. } = &mut self.flows.peers[header.source];
        incoming.fill().map_err(|WindowExceeded| {
            outgoing.refuse(header.credits);
            Violation::Window(header.source)
        })
    }

    /// Sends what waited for the credits in a packet.
    #[inline]
    pub fn handle_credits(&mut self, header: &Header, out: &mut impl Actions<B>) {
        if header.credits > 0 && self.flows.peers[header.source].outgoing.blocked() > 0 {
            self.drain_blocked(header.source, out);
        }
    }

    /// Transmits a data packet now if there is a credit, or else when one comes. `arrived` is the
    /// recovery channel that it came on, if it is being forwarded and came on one.
    #[inline(always)]
    pub fn credit_send(
        &mut self,
        to: Rank,
        departure: Departure<B>,
        arrived: Channel,
        out: &mut impl Actions<B>,
    ) {
        if self.flows.peers[to].outgoing.spend() {
            self.depart(to, departure, out);
        } else {
            self.wait_for_credit(to, departure, arrived, out);
        }
    }

    #[cold]
    fn wait_for_credit(
        &mut self,
        to: Rank,
        departure: Departure<B>,
        arrived: Channel,
        out: &mut impl Actions<B>,
    ) {
        if self.is_buried(to) {
            return self.throw_away(departure, out);
        }
        let tree = departure.tree;
        self.flows.base.counters.blocked_sends += 1;
        self.flows.peers[to].outgoing.block(departure);
        self.flows.wait_for_room(to);
        if self.recoveries.is_off() {
            return;
        }
        self.recoveries.block(to, self.flows.base.now);
        match arrived.0 {
            Some(owner) => self.extend_recovery(owner, to, tree, out),
            None => self.try_recovery(out),
        }
    }

    /// Sends what waits for credits for `to`, as far as there are some.
    #[inline(never)]
    pub fn drain_blocked(&mut self, to: Rank, out: &mut impl Actions<B>) {
        while let Some(departure) = self.flows.peers[to].outgoing.unblock() {
            self.note_unblocked(to);
            self.depart(to, departure, out);
        }
    }

    fn note_unblocked(&mut self, to: Rank) {
        let is_blocked = self.flows.peers[to].outgoing.blocked() > 0;
        self.recoveries.unblock(to, is_blocked, self.flows.base.now);
    }

    /// Puts a data packet on the wire; its credit is spent.
    #[inline(always)]
    fn depart(&mut self, to: Rank, departure: Departure<B>, out: &mut impl Actions<B>) {
        let local = self.flows.base.local;
        let header = Header::new(departure.tag, local, departure.tree, departure.size);
        if self.flows.peers[to].flow.is_some() {
            self.depart_numbered(to, header, departure, out);
        } else {
            self.depart_carefully(to, header, departure, out);
        }
    }

    #[inline(never)]
    fn depart_numbered(
        &mut self,
        to: Rank,
        header: Header,
        departure: Departure<B>,
        out: &mut impl Actions<B>,
    ) {
        self.count_sent(to, &departure);
        let holders = departure.holders;
        self.flows.depart(to, header, departure, out);
        if let Some(key) = holders {
            self.forwarded(key, out);
        }
    }

    /// Puts a data packet on the wire, on a recovery channel.
    fn depart_on(
        &mut self,
        owner: Rank,
        to: Rank,
        departure: Departure<B>,
        out: &mut impl Actions<B>,
    ) {
        self.flows.base.counters.recovery_packets += 1;
        let local = self.flows.base.local;
        let mut header = Header::new(departure.tag, local, departure.tree, departure.size);
        header.channel = Channel(Some(owner));
        self.depart_carefully(to, header, departure, out);
    }

    #[inline(always)]
    fn depart_carefully(
        &mut self,
        to: Rank,
        header: Header,
        departure: Departure<B>,
        out: &mut impl Actions<B>,
    ) {
        self.count_sent(to, &departure);
        let header = self.flows.peers[to].return_credits(header, self.windows.are_adaptive());
        out.transmit(to, &header, &departure.body);
        match (departure.holders, departure.body) {
            (Some(key), _) => {
                self.forwarded(key, out);
                self.drop_holder(key, out);
            }
            (None, PacketBody::Buffer(buffer)) => out.free(buffer),
            _ => {}
        }
    }

    /// A data packet leaves for the first time.
    #[inline]
    fn count_sent(&mut self, to: Rank, departure: &Departure<B>) {
        self.flows.base.count_sent(departure.size);
        if let PacketBody::Atomic { .. } = departure.body {
            self.atomics.ask(to);
        }
    }

    /// A receive buffer that a packet of `tree` from `parent` filled is free again.
    #[inline]
    pub fn buffer_freed(&mut self, parent: Rank, tree: TreeId, out: &mut impl Actions<B>) {
        if parent == self.flows.base.local {
            return;
        }
        if self.flows.peers[parent].flow.is_some() {
            self.flows.vacate_pool(parent, out);
        } else if !self.recoveries.is_recovering() || !self.release_channel(tree, out) {
            self.flows.peers[parent].incoming.count_freed();
            self.windows.return_credit(parent, &mut self.flows, out);
        }
    }

    /// A shared packet has left for one of its children, which may be what its acknowledgement
    /// waits for.
    pub fn forwarded(&mut self, key: Key, out: &mut impl Actions<B>) {
        if let Some((from, number)) = self.holders.get_mut(key).acknowledges {
            self.flows.satisfy(from, number, out);
        }
    }

    /// One holder of a shared buffer is done with it.
    pub fn drop_holder(&mut self, key: Key, out: &mut impl Actions<B>) {
        let holders = self.holders.get_mut(key);
        holders.left -= 1;
        if holders.left > 0 {
            return;
        }
        let Holders { buffer, size, parent, tree, .. } = self.holders.remove(key);
        let Flows { base, send_pool, .. } = &mut self.flows;
        if tree.root == base.local {
            send_pool.give_back(base.settings.buffers_of_multicast(size));
        }
        out.free(buffer);
        self.buffer_freed(parent, tree, out);
    }

    /// Takes what a packet acknowledges, and lets go what that lets through.
    pub fn take_acknowledgement(&mut self, header: &Header, out: &mut impl Actions<B>) {
        let (from, next) = (header.source, header.acknowledgement);
        let news = self.flows.flow(from).sending.acknowledged(next).unwrap_or(0);
        if news > 0 {
            self.flows.base.counters.acknowledgements_received += 1;
            self.free_acknowledged(from, next, news, out);
        }
        if self.flows.base.settings.preset.is_optimistic() {
            if self.flows.hear_room(header, out) {
                self.drain_blocked(from, out);
                self.flows.wait_for_room(from);
            }
        } else if news > 0 {
            let given_back = self.flows.peers[from].outgoing.accept(news);
            debug_assert!(given_back.is_ok(), "a place in the window came back twice");
            self.drain_blocked(from, out);
        }
    }

    /// `from` has acknowledged `news` packets more, all before `next`.
    pub fn free_acknowledged(
        &mut self,
        from: Rank,
        next: u32,
        news: u16,
        out: &mut impl Actions<B>,
    ) {
        self.flows.note_acknowledged(from, next, news);
        for _ in 0..news {
            let Some(departure) = self.flows.take_acknowledged(from) else { break };
            match (departure.holders, departure.body) {
                (Some(key), _) => self.drop_holder(key, out),
                (None, PacketBody::Buffer(buffer)) => out.free(buffer),
                _ => {}
            }
        }
        self.flows.go_on_after_acknowledgement(from);
    }

    /// Receives the data packet for this rank that is in `buffer`, and delivers it: the short way
    /// of a numbered packet from a network, the next one of a pair that talks, with nothing out of
    /// the ordinary about it, and room for it. Most packets are such. False if it has to go the
    /// long way: then nothing has changed.
    ///
    /// It does to the pair's state what the long way does, with one look at it instead of thirty: a
    /// test compares the two (`tests/in_order.rs`). All other work (a gap, an
    /// answer that was asked for, room that is told, packets that wait to be sent or sent again)
    /// goes the long way.
    pub fn received_in_order(
        &mut self,
        header: &Header,
        buffer: B,
        out: &mut impl Actions<B>,
    ) -> bool {
        let Flows { base, peers, receive_buffers, .. } = &mut self.flows;
        let (now, settings, from) = (base.now, &base.settings, header.source);
        let is_of_pupa = settings.preset.is_optimistic();
        if !is_of_pupa || !header.tree.is_unicast_of(from) || header.asks || header.credits != 0 {
            return false;
        }
        let (window, primary) = (settings.unacknowledged(), settings.primary_buffers());
        let (hears, acknowledge_at) =
            (settings.silence.is_some(), now + settings.acknowledge_after);
        let Some(peer) = peers.get_mut(from) else { return false };
        let Some(Flow { sending, receiving, hearing }) = peer.flow.as_deref_mut() else {
            return false;
        };
        let Some(news) = sending.acknowledged_in_order(header.acknowledgement) else {
            return false;
        };
        let is_plain = receiving.is_next_alone(header.sequence, window, primary)
            && peer.outgoing.blocked() == 0
            && (hearing.has_met() || !hears);
        if !is_plain {
            return false;
        }
        if hears {
            hearing.heard = now;
        }
        receiving.accept_alone();
        receive_buffers.fill_primary(receiving);
        let acknowledge_at = *receiving.deadline.get_or_insert(acknowledge_at);
        if news > 0 {
            base.counters.acknowledgements_received += 1;
            self.free_acknowledged(from, header.acknowledgement, news, out);
        }
        let Flows { base, peers, timers, .. } = &mut self.flows;
        let sending = &peers.flow(from).sending;
        if header.acknowledgement == sending.oldest() {
            let places = sending.places(sending.window(&base.settings));
            peers[from].outgoing.grant(places);
        }
        base.count_received(header);
        base.counters.packets_delivered += 1;
        out.deliver(Delivery::received(buffer, header, from, None));
        timers.wake_by(acknowledge_at, Timer::Acknowledge);
        true
    }

    /// Begins a recovery if none of this NI goes on and there is a reason to.
    pub fn try_recovery(&mut self, out: &mut impl Actions<B>) {
        let Some(to) = self.recoveries.due(self.flows.base.now) else { return };
        let Some(departure) = self.flows.peers[to].outgoing.bypass(|_| true) else { return };
        self.flows.base.counters.recoveries += 1;
        self.recoveries.begin(to);
        self.note_unblocked(to);
        self.depart_on(self.flows.base.local, to, departure, out);
    }

    /// Passes the oldest waiting packet of `tree` on to `to` on the channel of `owner` (thesis fig.
    /// 4.13): not the one that came, if others of its tree wait before it (invariant I3).
    fn extend_recovery(&mut self, owner: Rank, to: Rank, tree: TreeId, out: &mut impl Actions<B>) {
        let next = self.flows.peers[to].outgoing.bypass(|departure| departure.tree == tree);
        let Some(departure) = next else { return };
        self.recoveries.extend(owner, to);
        self.note_unblocked(to);
        self.depart_on(owner, to, departure, out);
    }

    /// Notes that a buffer that a packet of `tree` filled is free. True if that clears a channel
    /// here: then no credit goes back for it.
    #[cold]
    pub fn release_channel(&mut self, tree: TreeId, out: &mut impl Actions<B>) -> bool {
        let Some(owner) = self.recoveries.release(tree) else { return false };
        self.clear_channel(owner, out);
        true
    }

    /// `child` says that its part of the channel of `owner` is clear.
    pub fn child_is_clear(&mut self, owner: Rank, child: Rank, out: &mut impl Actions<B>) {
        self.recoveries.child_is_clear(owner, child);
        self.clear_channel(owner, out);
    }

    /// Tells the parent, or ends the recovery, once the channel is clear here and below.
    fn clear_channel(&mut self, owner: Rank, out: &mut impl Actions<B>) {
        let base = &mut self.flows.base;
        match self.recoveries.clear(owner, || base.strikes(Bug::ClearEarly)) {
            None => {}
            Some(Clear::Own) => self.try_recovery(out),
            Some(Clear::Below(parent)) => {
                let local = base.local;
                let mut header = Header::new(Tag::ChannelClear, local, TreeId::unicast(local), 0);
                header.channel = Channel(Some(owner));
                header.credits = self.flows.peers[parent].incoming.collect();
                out.transmit(parent, &header, &PacketBody::Empty);
            }
        }
    }

    /// Ends what [`crate::Ni::received_plain`] has left: `is_done` says that the host is through
    /// with a packet whose buffer is not free yet.
    pub fn settle(&mut self, from: Rank, is_done: bool, out: &mut impl Actions<B>) {
        if is_done {
            self.buffer_freed(from, TreeId::unicast(from), out);
        } else if let Some(credits) = self.flows.peers[from].incoming.due() {
            send_credits(from, credits, &mut self.flows, out);
        }
        self.drain_blocked(from, out);
    }
}
