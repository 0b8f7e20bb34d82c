//! The state of one NI, and the events that change it.

use crate::actions::Sharing;
use crate::checks::Checks;
use crate::credit::{TooManyCredits, WindowExceeded};
use crate::early::Early;
use crate::fetch_add::{self, Fetching, VARIABLES};
use crate::multicast::Holders;
use crate::peers::{Peer, Peers};
use crate::planted::Bug;
use crate::pool::Pool;
use crate::preset::{Forwarding, Reliability};
use crate::recovery::Recoveries;
use crate::retransmit::{BufferOf, Retransmission};
use crate::settings::Settings;
use crate::slab::{Key, Slab};
use crate::timer::Nanoseconds;
use crate::tree::Group;
use crate::{Actions, Body, Counters, Delivery, Violation};
use weft_wire::{Channel, Header, Rank, Tag, TreeId};

/// The NI half of the protocols for one rank. `B` names a packet buffer and is never looked into.
#[derive(Debug, Clone)]
pub struct Ni<B> {
    pub(crate) local: Rank,
    pub(crate) settings: Settings,
    pub(crate) peers: Peers<B>,
    pub(crate) groups: Vec<Group>,
    /// In the order in which they came.
    pub(crate) early: Vec<Early<B>>,
    /// By rank, where trees know hosts.
    pub(crate) host_of: Option<Box<[u16]>>,
    pub(crate) holders: Slab<Holders<B>>,
    pub(crate) variables: Vec<u64>,
    pub(crate) fetching: Fetching,
    pub(crate) recoveries: Recoveries,
    pub(crate) retransmission: Retransmission,
    /// Time of the last [`Self::advance`].
    pub(crate) now: Nanoseconds,
    /// The pool of receive buffers, if windows follow demand.
    pub(crate) pool: Option<Box<Pool>>,
    pub(crate) counters: Counters,
    pub(crate) checks: Checks,
    #[cfg(feature = "planted")]
    pub(crate) planted: Option<(Bug, u32)>,
}

/// A data packet on its way to one destination (the thesis's send descriptor).
#[derive(Debug, Clone, Hash)]
pub(crate) struct Departure<B> {
    pub tag: Tag,
    pub tree: TreeId,
    pub size: u16,
    pub body: Body<B>,
    /// Set if the buffer has other destinations or owners too.
    pub holders: Option<Key>,
}

impl<B: Copy> Ni<B> {
    /// The NI of rank `local`, which must be below `settings.ranks`, with the broadcast group.
    ///
    /// # Panics
    /// If the settings contradict themselves: [`Settings::check`] says how.
    pub fn new(local: Rank, settings: Settings) -> Self {
        assert!(local.index() < usize::from(settings.ranks), "{local:?} is not in the job");
        if let Err(contradiction) = settings.check() {
            panic!("{contradiction}");
        }
        Ni {
            local,
            settings,
            peers: Peers::new(&settings),
            groups: vec![Group::everyone(settings.ranks, settings.shape)],
            early: Vec::new(),
            host_of: None,
            holders: Slab::new(),
            variables: vec![0; usize::from(VARIABLES)],
            fetching: Fetching::No,
            recoveries: Recoveries::default(),
            retransmission: Retransmission::default(),
            now: 0,
            pool: settings
                .adaptive
                .map(|adaptive| Box::new(Pool::new(&adaptive, settings.window_packets))),
            counters: Counters::default(),
            checks: Checks::new(&settings),
            #[cfg(feature = "planted")]
            planted: None,
        }
    }

    /// Nothing is lost between `peer` and this rank, whatever the preset: packets between the two
    /// are sent carefully, with credits for `window_packets`, and the preset's numbers,
    /// acknowledgements and timers are for the other pairs. Both ends must be told, before the
    /// first packet.
    ///
    /// # Panics
    /// If `peer` is no peer, or anything was sent there or came from there.
    pub fn set_lossless(&mut self, peer: Rank) {
        assert!(!self.is_foreign(peer), "{peer:?} is no peer of {:?}", self.local);
        let settings = self.settings;
        let fresh = self.peers.get(peer).is_none_or(|peer| peer.is_fresh(&settings));
        assert!(fresh, "packets have passed between {peer:?} and {:?}", self.local);
        self.peers.set_lossless(peer);
    }

    /// True if packets between `peer` and this rank are numbered, acknowledged and sent again.
    pub fn is_numbered(&self, peer: Rank) -> bool {
        self.peers.is_numbered(peer)
    }

    /// A packet from the network (thesis fig. 4.3, 4.7). `body` must be a buffer for data packets;
    /// it is the NI's until delivered.
    ///
    /// # Errors
    /// [`Violation`] if no correct peer sends this; the caller still owns `body`.
    #[inline]
    pub fn received(
        &mut self,
        header: &Header,
        body: Body<B>,
        out: &mut impl Actions<B>,
    ) -> Result<(), Violation> {
        let from = header.source;
        if self.is_foreign(from) {
            return Err(Violation::Source(from));
        }
        match (header.tag, body) {
            // The packet that most packets are, in as few steps as it can be had.
            (Tag::Ucast, Body::Buffer(buffer)) if self.is_plain(header) => {
                self.accept_credits(header)?;
                self.fill(header)?;
                self.count_received(header);
                self.counters.packets_delivered += 1;
                out.deliver(Delivery::received(buffer, header, from, None));
                self.handle_credits(header, out);
                Ok(())
            }
            (Tag::Ucast, Body::Buffer(buffer)) if self.received_in_order(header, buffer, out) => {
                Ok(())
            }
            _ => self.received_other(header, body, out),
        }
    }

    #[inline(never)]
    pub(crate) fn received_other(
        &mut self,
        header: &Header,
        body: Body<B>,
        out: &mut impl Actions<B>,
    ) -> Result<(), Violation> {
        match self.reliability() {
            Reliability::Careful => self.received_carefully(header, body, out),
            _ if !self.peers.is_numbered(header.source) => {
                self.received_carefully(header, body, out)
            }
            Reliability::Ni => self.received_numbered(header, body, BufferOf::Link, out),
            Reliability::Host => self.received_for_host(header, body, out),
        }
    }

    /// A packet from a network that loses nothing.
    fn received_carefully(
        &mut self,
        header: &Header,
        body: Body<B>,
        out: &mut impl Actions<B>,
    ) -> Result<(), Violation> {
        self.check(header, &body)?;
        self.check_channel(header)?;
        if matches!(header.tag, Tag::Recall | Tag::Return) {
            return self.share_out(header, out);
        }
        self.accept_credits(header)?;
        if header.tag.is_data() {
            match header.channel.0 {
                Some(owner) => self.join_channel(owner, header),
                None => self.fill(header)?,
            }
        }
        self.dispatch(header, body, header.source, out);
        self.handle_credits(header, out);
        if header.asks {
            self.grant_credits(header.source, out);
        }
        Ok(())
    }

    /// True if nothing about a unicast packet is out of the ordinary.
    #[inline]
    fn is_plain(&self, header: &Header) -> bool {
        !self.peers.is_numbered(header.source)
            && header.tree.is_unicast_of(header.source)
            && header.channel == Channel::NONE
            && !header.asks
    }

    #[inline]
    fn accept_credits(&mut self, header: &Header) -> Result<(), Violation> {
        let outgoing = &mut self.peers[header.source].outgoing;
        outgoing.accept(header.credits).map_err(|TooManyCredits| Violation::Credits(header.source))
    }

    /// A data packet fills a buffer of its sender's window.
    #[inline]
    fn fill(&mut self, header: &Header) -> Result<(), Violation> {
        let Peer { outgoing, incoming, .. } = &mut self.peers[header.source];
        incoming.fill().map_err(|WindowExceeded| {
            outgoing.refuse(header.credits);
            Violation::Window(header.source)
        })
    }

    /// Sends what waited for the credits in a packet.
    #[inline]
    fn handle_credits(&mut self, header: &Header, out: &mut impl Actions<B>) {
        if header.credits > 0 && self.peers[header.source].outgoing.blocked() > 0 {
            self.drain_blocked(header.source, out);
        }
    }

    /// The host is done with a packet (thesis fig. 4.3, 4.7).
    ///
    /// # Panics
    /// If the packet still [wants to be re-injected](Delivery::wants_reinjection): it would never
    /// reach those below this rank in its tree.
    #[inline]
    pub fn released(&mut self, delivery: Delivery<B>, out: &mut impl Actions<B>) {
        match delivery.sharing {
            Sharing::Alone => {
                out.free(delivery.buffer);
                if self.strikes(Bug::ReleaseTwice) {
                    out.free(delivery.buffer);
                }
                self.buffer_freed(delivery.parent, delivery.tree, out);
            }
            Sharing::Forwarded(key) => self.drop_holder(key, out),
            Sharing::Unforwarded(_) => panic!("a packet was released before it was re-injected"),
        }
    }

    /// The host has taken a delivered packet out of the NI's buffer into `copy`, one of its own:
    /// the NI's part ends here, and what is left to release is `copy`. For NIs with memory apart
    /// from the host's (thesis fig. 3.2); elsewhere the host reads and releases what was delivered.
    pub fn copied(
        &mut self,
        delivery: Delivery<B>,
        copy: B,
        out: &mut impl Actions<B>,
    ) -> Delivery<B> {
        let Delivery { size, tree, parent: _, .. } = delivery;
        let (parent, mut sharing) = (self.local, Sharing::Alone);
        match delivery.sharing {
            Sharing::Unforwarded(_) => {
                sharing = delivery.sharing;
                out.free(delivery.buffer);
                self.buffer_freed(delivery.parent, tree, out);
            }
            _ => self.released(delivery, out),
        }
        Delivery { buffer: copy, size, tree, parent, sharing }
    }

    /// Counts of what this NI has done so far.
    pub fn counters(&self) -> Counters {
        let plain = self.checks.plain_packets();
        let Counters { packets_received, packets_delivered, .. } = self.counters;
        let (packets_received, packets_delivered) =
            (packets_received + plain, packets_delivered + plain);
        Counters { packets_received, packets_delivered, ..self.counters }
    }

    /// Time that the slowest peer takes to acknowledge a packet, smoothed: the network's, and that
    /// for which the peer keeps the acknowledgement back. `None` where none was measured.
    pub fn slowest_acknowledgement(&self) -> Option<Nanoseconds> {
        self.flows().filter_map(|(_, flow)| flow.sending.round_trip.time()).max()
    }

    /// This NI's rank.
    pub fn local(&self) -> Rank {
        self.local
    }

    /// The settings it was made with.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The credits held for sending to `peer` and the packets that wait for one.
    pub fn outgoing(&self, peer: Rank) -> (u16, usize) {
        let outgoing = self.peers.get(peer).map(|peer| &peer.outgoing);
        outgoing.map_or((self.peers.first_credits(), 0), |out| (out.held(), out.blocked()))
    }

    /// The credits held for sending to `peer` when none is in use; where packets are numbered, the
    /// packets that the network takes now.
    pub fn window(&self, peer: Rank) -> u16 {
        let flow = self.peers.get(peer).map(|peer| peer.flow.as_deref());
        match flow {
            None => self.peers.first_credits(),
            Some(None) => self.settings.window_packets,
            Some(Some(flow)) => flow.sending.window(&self.settings),
        }
    }

    /// The receive buffers that packets from `peer` fill, and the credits owed to it.
    pub fn incoming(&self, peer: Rank) -> (u16, u16) {
        let incoming = self.peers.get(peer).map(|peer| &peer.incoming);
        incoming.map_or((0, 0), |incoming| (incoming.buffered(), incoming.owed()))
    }

    /// Transmissions that wait for a credit now, to whatever peer.
    pub fn blocked(&self) -> usize {
        self.peers.iter().map(|(_, peer)| peer.outgoing.blocked()).sum()
    }

    /// True if all that was sent here is over: nothing waits for a credit, and nothing may have to
    /// be sent again.
    pub fn is_flushed(&self) -> bool {
        self.blocked() == 0 && self.unacknowledged() == 0
    }

    /// Buffers that have several destinations or owners now.
    pub fn shared_buffers(&self) -> usize {
        self.holders.len()
    }

    /// True if nothing waits, is buffered, or is being asked for.
    pub fn is_idle(&self) -> bool {
        !self.is_fetching()
            && self.holders.len() == 0
            && self.early.is_empty()
            && self.retransmission.buffers == 0
            && self.is_flushed()
            && self.channels().next().is_none()
            && self.peers.iter().all(|(_, peer)| peer.incoming.buffered() == 0)
    }

    /// Refuses what no correct peer sends, whatever the credits.
    pub(crate) fn check(&self, header: &Header, body: &Body<B>) -> Result<(), Violation> {
        let from = header.source;
        let right_body = matches!(
            (header.tag, body),
            (Tag::Ucast | Tag::Mcast, Body::Buffer(_))
                | (Tag::FaRequest, Body::FetchAdd { .. })
                | (Tag::FaReply, Body::Fetched(_))
                | (Tag::Credit | Tag::ChannelClear, Body::Empty)
                | (Tag::Acknowledge | Tag::Nack | Tag::Farewell, Body::Empty)
                | (Tag::Recall | Tag::Return | Tag::Lost, Body::Empty)
        );
        if !right_body {
            return Err(Violation::Body(from, header.tag));
        }
        let numbered = self.peers.is_numbered(from);
        match header.tag {
            Tag::Ucast if !header.tree.is_unicast_of(from) => {
                return Err(Violation::Tree(from, header.tree));
            }
            Tag::FaRequest if header.tree != TreeId::unicast(from) => {
                return Err(Violation::Tree(from, header.tree));
            }
            Tag::Mcast => self.check_multicast(header)?,
            Tag::FaRequest => fetch_add::check(from, body)?,
            // Where packets come twice, the number tells first whether this one counts.
            Tag::FaReply if !numbered && !self.fetching.asked(from) => {
                return Err(Violation::Unasked(from));
            }
            Tag::ChannelClear | Tag::Credit if numbered => {
                return Err(Violation::Unsupported(from, header.tag));
            }
            Tag::Acknowledge | Tag::Nack | Tag::Farewell | Tag::Lost if !numbered => {
                return Err(Violation::Unsupported(from, header.tag));
            }
            Tag::Lost if !self.is_told_of(header.tree) => {
                return Err(Violation::Tree(from, header.tree));
            }
            Tag::Recall | Tag::Return if self.pool.is_none() => {
                return Err(Violation::Unsupported(from, header.tag));
            }
            _ => {}
        }
        Ok(())
    }

    /// Does with a packet that was accepted what its kind asks for. Its buffer is owed to
    /// `creditor`, which is this rank itself if to nobody.
    pub(crate) fn dispatch(
        &mut self,
        header: &Header,
        body: Body<B>,
        creditor: Rank,
        out: &mut impl Actions<B>,
    ) {
        self.count_received(header);
        match (header.tag, body) {
            (Tag::Ucast, Body::Buffer(buffer)) => {
                self.counters.packets_delivered += 1;
                out.deliver(Delivery::received(buffer, header, creditor, None));
            }
            (Tag::Mcast, Body::Buffer(buffer)) if self.is_early(header.tree) => {
                self.keep_early(Early { header: *header, buffer, creditor, for_host: false });
            }
            (Tag::Mcast, Body::Buffer(buffer)) => {
                self.multicast_received(header, buffer, creditor, out);
            }
            (_, Body::FetchAdd { variable, amount }) => {
                self.serve_fetch_add(header, variable, amount, out);
            }
            (Tag::ChannelClear, _) => {
                if let Some(owner) = header.channel.0 {
                    self.child_is_clear(owner, header.source, out);
                }
            }
            (Tag::Farewell, _) => self.bid_farewell(header.source, out),
            (_, Body::Fetched(value)) => {
                self.fetching = Fetching::No;
                out.fetched(value);
            }
            _ => {}
        }
    }

    #[inline]
    pub(crate) fn count_received(&mut self, header: &Header) {
        if header.tag.is_data() {
            self.counters.packets_received += 1;
            self.counters.bytes_received += u64::from(header.size);
        }
    }

    /// Transmits a data packet now if there is a credit, or else when one comes. `arrived` is the
    /// recovery channel that it came on, if it is being forwarded and came on one.
    #[inline(always)]
    pub(crate) fn credit_send(
        &mut self,
        to: Rank,
        departure: Departure<B>,
        arrived: Channel,
        out: &mut impl Actions<B>,
    ) {
        if self.peers[to].outgoing.spend() {
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
        let tree = departure.tree;
        self.counters.blocked_sends += 1;
        self.peers[to].outgoing.block(departure);
        self.wait_for_room(to);
        self.recover_blocked(to, tree, arrived, out);
    }

    #[inline(never)]
    pub(crate) fn drain_blocked(&mut self, to: Rank, out: &mut impl Actions<B>) {
        while let Some(departure) = self.peers[to].outgoing.unblock() {
            self.unblocked(to);
            self.depart(to, departure, out);
        }
    }

    /// Puts a data packet on the wire; its credit is spent.
    #[inline(always)]
    fn depart(&mut self, to: Rank, departure: Departure<B>, out: &mut impl Actions<B>) {
        let header = Header::new(departure.tag, self.local, departure.tree, departure.size);
        if self.peers[to].flow.is_some() {
            self.depart_numbered(to, header, departure, out);
        } else {
            self.depart_carefully(to, header, departure, out);
        }
    }

    /// Puts a data packet on the wire, on a recovery channel.
    pub(crate) fn depart_on(
        &mut self,
        owner: Rank,
        to: Rank,
        departure: Departure<B>,
        out: &mut impl Actions<B>,
    ) {
        self.counters.recovery_packets += 1;
        let mut header = Header::new(departure.tag, self.local, departure.tree, departure.size);
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
        let header = self.peers[to].return_credits(header, self.pool.is_some());
        out.transmit(to, &header, &departure.body);
        match (departure.holders, departure.body) {
            (Some(key), _) => {
                self.forwarded(key, out);
                self.drop_holder(key, out);
            }
            (None, Body::Buffer(buffer)) => out.free(buffer),
            _ => {}
        }
    }

    #[inline]
    pub(crate) fn count_packet_sent(&mut self, size: u16) {
        self.counters.packets_sent += 1;
        self.counters.bytes_sent += u64::from(size);
    }

    /// A data packet leaves for the first time.
    #[inline]
    pub(crate) fn count_sent(&mut self, to: Rank, departure: &Departure<B>) {
        self.count_packet_sent(departure.size);
        if let Body::FetchAdd { .. } = departure.body {
            self.fetching = Fetching::Asked(to);
        }
    }

    /// A receive buffer that a packet of `tree` from `parent` filled is free again.
    #[inline]
    pub(crate) fn buffer_freed(&mut self, parent: Rank, tree: TreeId, out: &mut impl Actions<B>) {
        if parent == self.local {
            return;
        }
        if self.peers[parent].flow.is_some() {
            self.vacate_pool(parent, out);
        } else if !self.is_recovering() || !self.release_channel(tree, out) {
            self.peers[parent].incoming.count_freed();
            self.return_credit(parent, out);
        }
    }

    /// True if `rank` is no peer of this NI.
    #[inline]
    pub(crate) fn is_foreign(&self, rank: Rank) -> bool {
        rank == self.local || rank.index() >= self.peers.len()
    }

    /// The level that makes transmission reliable here.
    #[inline]
    pub(crate) fn reliability(&self) -> Reliability {
        self.settings.preset.reliability()
    }

    /// The level that forwards multicast packets here.
    pub(crate) fn forwarding(&self) -> Forwarding {
        self.settings.preset.forwarding()
    }
}
