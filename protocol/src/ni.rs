//! The state of one NI, and the events that change it.

use crate::actions::{Actions, Body, Delivery, Sharing};
use crate::checks::{Checks, check_all};
use crate::counters::Counters;
use crate::departure::Departure;
use crate::fetch_add::VARIABLES;
use crate::flows::Flows;
use crate::invariants::Broken;
use crate::multicast::{Early, Multicast};
use crate::planted::Bug;
use crate::preset::Reliability;
use crate::retransmit::BufferOf;
use crate::settings::{Recovery, Settings};
use crate::timer::{Nanoseconds, Timer};
use crate::traffic::Traffic;
use crate::tree::{Group, GroupError};
use crate::violation::Violation;
use weft_wire::{Channel, GroupId, Header, Protocol, Rank, Tag, TreeId};

/// The NI half of the protocols for one rank. `B` names a packet buffer and is never looked into.
///
/// It takes events, and has its parts do what follows from them: [`Traffic`] what concerns pairs
/// of ranks, [`Multicast`] what concerns groups.
#[derive(Debug, Clone)]
pub struct Ni<B> {
    pub(crate) traffic: Traffic<B>,
    pub(crate) multicast: Multicast<B>,
    /// A peer has said that a rank was lost.
    pub(crate) told_of_loss: bool,
    pub(crate) checks: Checks,
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
            traffic: Traffic::new(local, settings),
            multicast: Multicast::new(local, &settings),
            told_of_loss: false,
            checks: Checks::new(&settings),
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
        let Flows { base, peers, .. } = &mut self.traffic.flows;
        assert!(!base.is_foreign(peer), "{peer:?} is no peer of {:?}", base.local);
        let fresh = peers.get(peer).is_none_or(|peer| peer.is_fresh(&base.settings));
        assert!(fresh, "packets have passed between {peer:?} and {:?}", base.local);
        peers.set_lossless(peer);
    }

    /// True if packets between `peer` and this rank are numbered, acknowledged and sent again.
    pub fn is_numbered(&self, peer: Rank) -> bool {
        self.traffic.flows.peers.is_numbered(peer)
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
        let traffic = &mut self.traffic;
        if traffic.flows.base.is_foreign(from) {
            return Err(Violation::Source(from));
        }
        match (header.tag, body) {
            // The packet that most packets are, in as few steps as it can be had.
            (Tag::Ucast, Body::Buffer(buffer)) if traffic.is_plain(header) => {
                traffic.accept_credits(header)?;
                traffic.fill(header)?;
                traffic.flows.base.count_received(header);
                traffic.flows.base.counters.packets_delivered += 1;
                out.deliver(Delivery::received(buffer, header, from, None));
                traffic.handle_credits(header, out);
                Ok(())
            }
            (Tag::Ucast, Body::Buffer(buffer))
                if traffic.received_in_order(header, buffer, out) =>
            {
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
        let flows = &self.traffic.flows;
        match flows.base.settings.preset.reliability() {
            Reliability::Careful => self.received_carefully(header, body, out),
            _ if !flows.peers.is_numbered(header.source) => {
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
        let traffic = &mut self.traffic;
        traffic.check_channel(header)?;
        if matches!(header.tag, Tag::Recall | Tag::Return) {
            return traffic.windows.share_out(header, &mut traffic.flows, out);
        }
        traffic.accept_credits(header)?;
        if header.tag.is_data() {
            match header.channel.0 {
                Some(owner) => traffic.recoveries.join(owner, header.source, header.tree),
                None => traffic.fill(header)?,
            }
        }
        self.dispatch(header, body, header.source, out);
        let traffic = &mut self.traffic;
        traffic.handle_credits(header, out);
        if header.asks {
            traffic.windows.grant_credits(header.source, &mut traffic.flows, out);
        }
        Ok(())
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
                if self.traffic.flows.base.strikes(Bug::ReleaseTwice) {
                    out.free(delivery.buffer);
                }
                self.traffic.buffer_freed(delivery.parent, delivery.tree, out);
            }
            Sharing::Forwarded(key) => self.traffic.drop_holder(key, out),
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
        let (parent, mut sharing) = (self.local(), Sharing::Alone);
        match delivery.sharing {
            Sharing::Unforwarded(_) => {
                sharing = delivery.sharing;
                out.free(delivery.buffer);
                self.traffic.buffer_freed(delivery.parent, tree, out);
            }
            _ => self.released(delivery, out),
        }
        Delivery { buffer: copy, size, tree, parent, sharing }
    }

    /// Counts of what this NI has done so far.
    pub fn counters(&self) -> Counters {
        let plain = self.checks.plain_packets();
        let counters = self.traffic.flows.base.counters;
        let Counters { packets_received, packets_delivered, .. } = counters;
        let (packets_received, packets_delivered) =
            (packets_received + plain, packets_delivered + plain);
        Counters { packets_received, packets_delivered, ..counters }
    }

    /// Time that the slowest peer takes to acknowledge a packet, smoothed: the network's, and that
    /// for which the peer keeps the acknowledgement back. `None` where none was measured.
    pub fn slowest_acknowledgement(&self) -> Option<Nanoseconds> {
        let flows = self.traffic.flows.peers.flows();
        flows.filter_map(|(_, flow)| flow.sending.round_trip.time()).max()
    }

    /// This NI's rank.
    pub fn local(&self) -> Rank {
        self.traffic.flows.base.local
    }

    /// The settings it was made with.
    pub fn settings(&self) -> &Settings {
        &self.traffic.flows.base.settings
    }

    /// The credits held for sending to `peer` and the packets that wait for one.
    pub fn outgoing(&self, peer: Rank) -> (u16, usize) {
        let peers = &self.traffic.flows.peers;
        let outgoing = peers.get(peer).map(|peer| &peer.outgoing);
        outgoing.map_or((peers.first_credits(), 0), |out| (out.held(), out.blocked()))
    }

    /// The credits held for sending to `peer` when none is in use; where packets are numbered, the
    /// packets that the network takes now.
    pub fn window(&self, peer: Rank) -> u16 {
        let Flows { base, peers, .. } = &self.traffic.flows;
        match peers.get(peer).map(|peer| peer.flow.as_deref()) {
            None => peers.first_credits(),
            Some(None) => base.settings.window_packets,
            Some(Some(flow)) => flow.sending.window(&base.settings),
        }
    }

    /// The receive buffers that packets from `peer` fill, and the credits owed to it.
    pub fn incoming(&self, peer: Rank) -> (u16, u16) {
        let incoming = self.traffic.flows.peers.get(peer).map(|peer| &peer.incoming);
        incoming.map_or((0, 0), |incoming| (incoming.buffered(), incoming.owed()))
    }

    /// Transmissions that wait for a credit now, to whatever peer.
    pub fn blocked(&self) -> usize {
        self.traffic.flows.peers.iter().map(|(_, peer)| peer.outgoing.blocked()).sum()
    }

    /// True if all that was sent here is over: nothing waits for a credit, and nothing may have to
    /// be sent again.
    pub fn is_flushed(&self) -> bool {
        self.blocked() == 0 && self.traffic.flows.send_pool.unacknowledged() == 0
    }

    /// Buffers that have several destinations or owners now.
    pub fn shared_buffers(&self) -> usize {
        self.traffic.holders.len()
    }

    /// True if nothing waits, is buffered, or is being asked for.
    pub fn is_idle(&self) -> bool {
        let Traffic { flows, holders, .. } = &self.traffic;
        !self.is_fetching()
            && holders.len() == 0
            && self.multicast.early.is_empty()
            && flows.receive_buffers.used() == 0
            && self.is_flushed()
            && self.channels().next().is_none()
            && flows.peers.iter().all(|(_, peer)| peer.incoming.buffered() == 0)
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
        let Traffic { flows, windows, fetch_add, .. } = &self.traffic;
        let numbered = flows.peers.is_numbered(from);
        match header.tag {
            Tag::Ucast if !header.tree.is_unicast_of(from) => {
                return Err(Violation::Tree(from, header.tree));
            }
            Tag::FaRequest if header.tree != TreeId::unicast(from) => {
                return Err(Violation::Tree(from, header.tree));
            }
            Tag::Mcast => self.multicast.check(header, flows)?,
            Tag::FaRequest => check_variable(from, body)?,
            // Where packets come twice, the number tells first whether this one counts.
            Tag::FaReply if !numbered && !fetch_add.has_asked(from) => {
                return Err(Violation::Unasked(from));
            }
            Tag::ChannelClear | Tag::Credit if numbered => {
                return Err(Violation::Unsupported(from, header.tag));
            }
            Tag::Acknowledge | Tag::Nack | Tag::Farewell | Tag::Lost if !numbered => {
                return Err(Violation::Unsupported(from, header.tag));
            }
            Tag::Lost if !flows.base.is_told_of(header.tree) => {
                return Err(Violation::Tree(from, header.tree));
            }
            Tag::Recall | Tag::Return if !windows.are_adaptive() => {
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
        let Ni { traffic, multicast, .. } = self;
        traffic.flows.base.count_received(header);
        match (header.tag, body) {
            (Tag::Ucast, Body::Buffer(buffer)) => {
                traffic.flows.base.counters.packets_delivered += 1;
                out.deliver(Delivery::received(buffer, header, creditor, None));
            }
            (Tag::Mcast, Body::Buffer(buffer)) if multicast.is_early(header.tree) => {
                let early = Early { header: *header, buffer, creditor, for_host: false };
                multicast.keep_early(early, &mut traffic.flows);
            }
            (Tag::Mcast, Body::Buffer(buffer)) => {
                multicast.received(header, buffer, creditor, traffic, out);
            }
            (_, Body::FetchAdd { variable, amount }) => {
                traffic.serve_fetch_add(header, variable, amount, out);
            }
            (Tag::ChannelClear, _) => {
                if let Some(owner) = header.channel.0 {
                    traffic.child_is_clear(owner, header.source, out);
                }
            }
            (Tag::Farewell, _) => traffic.bid_farewell(header.source, out),
            (_, Body::Fetched(value)) => {
                traffic.fetch_add.end();
                out.fetched(value);
            }
            _ => {}
        }
    }

    /// Ranks with equal numbers in `host_of`, which is by rank, share a host: trees cross to each
    /// host once ([`Group::on_hosts`]). All ranks must be told the same, before the first group and
    /// the first packet.
    ///
    /// # Panics
    /// If it does not name the host of every rank, or there are groups.
    pub fn set_hosts(&mut self, host_of: &[u16]) {
        self.multicast.groups.set_hosts(host_of, &self.traffic.flows.base.settings);
    }

    /// Creates the next multicast group; all ranks must create the same ones in the same order.
    /// What came early is to be [admitted](Self::admit_early) then.
    ///
    /// # Errors
    /// [`GroupError`] if `members` is not a set of ranks of this job.
    ///
    /// # Panics
    /// After 65,535 groups: the next number stands for none.
    pub fn create_group(&mut self, members: &[Rank]) -> Result<GroupId, GroupError> {
        self.multicast.groups.create(members, &self.traffic.flows.base.settings)
    }

    /// The group `id`, if there is one.
    pub fn group(&self, id: GroupId) -> Option<&Group> {
        self.multicast.groups.get(id)
    }

    /// Packets of groups that this rank has not created yet.
    pub fn early(&self) -> usize {
        self.multicast.early.len()
    }

    /// Delivers and forwards what came early for the groups that are there now. Until then what
    /// comes for them waits too.
    ///
    /// # Errors
    /// [`Violation`] if a packet did not come from its parent in the tree of its group. Nothing was
    /// done then, and the job cannot go on.
    pub fn admit_early(&mut self, out: &mut impl Actions<B>) -> Result<(), Violation> {
        self.multicast.admit_early(&mut self.traffic, out)
    }

    /// Sends `size` bytes of `buffer` to all other members of `group` (thesis fig. 4.6). The
    /// buffer is the NI's until it is freed.
    ///
    /// # Panics
    /// If there is no such group or this rank is not a member: the packet would reach nobody.
    pub fn multicast(&mut self, group: GroupId, buffer: B, size: u16, out: &mut impl Actions<B>) {
        self.multicast_for(Protocol::PACKETS, group, buffer, size, out);
    }

    /// Sends as [`Self::multicast`] does, to the system `protocol` of the members.
    ///
    /// # Panics
    /// Those of [`Self::multicast`].
    pub fn multicast_for(
        &mut self,
        protocol: Protocol,
        group: GroupId,
        buffer: B,
        size: u16,
        out: &mut impl Actions<B>,
    ) {
        self.multicast.send((protocol, group), (buffer, size), &mut self.traffic, out);
    }

    /// The host passes a packet on before it looks at it (host-level forwarding).
    pub fn reinject(&mut self, delivery: &mut Delivery<B>, out: &mut impl Actions<B>) {
        self.multicast.reinject(delivery, &mut self.traffic, out);
    }

    /// Adds `amount` to `variable` of `home`; the value before comes through
    /// [`Actions::fetched`]. One request at a time: [`Self::is_fetching`] tells.
    pub fn fetch_and_add(
        &mut self,
        home: Rank,
        variable: u16,
        amount: u64,
        out: &mut impl Actions<B>,
    ) {
        assert!(!self.is_fetching(), "a rank has one fetch-and-add outstanding at a time");
        assert!(variable < VARIABLES, "there are {VARIABLES} fetch-and-add variables");
        let local = self.local();
        let Traffic { fetch_add, .. } = &mut self.traffic;
        if home == local {
            let value = fetch_add.add(variable, amount);
            out.fetched(value);
            return;
        }
        fetch_add.begin();
        let body = Body::FetchAdd { variable, amount };
        let departure = Departure::control(Tag::FaRequest, TreeId::unicast(local), body);
        self.traffic.credit_send(home, departure, Channel::NONE, out);
    }

    /// True if an answer is outstanding.
    pub fn is_fetching(&self) -> bool {
        self.traffic.fetch_add.is_fetching()
    }

    /// Has the next packet to `to` ask for an acknowledgement, whatever is free: somebody waits for
    /// it. Presets whose senders do not ask have their receivers' timers.
    pub fn ask_with_next(&mut self, to: Rank) {
        let flows = &mut self.traffic.flows;
        if flows.base.settings.preset.is_optimistic() {
            flows.flow(to).sending.ask_with_next = true;
        }
    }

    /// The receive buffers that `peer` may fill, or has filled: its window now.
    pub fn promised(&self, peer: Rank) -> u16 {
        let peers = &self.traffic.flows.peers;
        peers.get(peer).map_or(peers.first_credits(), |peer| peer.incoming.window())
    }

    /// Buffers of the pool that no sender has, and how many senders have the others; `None` where
    /// windows do not change.
    pub fn pool(&self) -> Option<(u32, usize)> {
        self.traffic.windows.pool().map(|pool| (pool.free(), pool.sharers()))
    }

    /// Owners of the recovery channels that have a packet or wait for a child here.
    pub fn channels(&self) -> impl Iterator<Item = Rank> + '_ {
        self.traffic.recoveries.channels()
    }

    /// This rank ends, in good order: its peers are told, where they would miss it. To be called
    /// once, after all else was sent; they know when [`Self::is_flushed`] says so.
    pub fn disconnect(&mut self, out: &mut impl Actions<B>) {
        self.traffic.disconnect(out);
    }

    /// Tells all peers that `lost` has ended, and the number of the cause: those never met, too,
    /// since they may wait for others that were. To be called by who has
    /// not [heard of it](Self::was_told_of_loss) from one of them.
    pub fn tell_loss(&mut self, lost: Rank, cause: u32, out: &mut impl Actions<B>) {
        self.traffic.flows.tell_loss(lost, cause, out);
    }

    /// True if a peer has said that a rank has ended.
    pub fn was_told_of_loss(&self) -> bool {
        self.told_of_loss
    }

    /// True if `peer` has ended, in good order: what is sent there reaches nobody.
    pub fn is_gone(&self, peer: Rank) -> bool {
        self.traffic.flows.peers.is_gone(peer)
    }

    /// Makes the mistake at its `opportunity`-th opportunity, the first being 0, and once.
    #[cfg(feature = "planted")]
    pub fn plant(&mut self, bug: Bug, opportunity: u32) {
        self.traffic.flows.base.planted = Some((bug, opportunity));
    }

    /// True if a planted mistake has been made.
    #[cfg(feature = "planted")]
    pub fn has_struck(&self) -> bool {
        self.traffic.flows.base.planted.is_none()
    }

    /// Counts a packet that [`Self::received_plain`] has accepted. True if
    /// [`Self::check_invariants`] must follow.
    #[inline(always)]
    pub fn count_plain(&mut self) -> bool {
        self.checks.count_plain()
    }

    /// Counts a packet that [`Self::received`] has accepted. True if [`Self::check_invariants`]
    /// must follow.
    #[inline(always)]
    pub fn is_check_due(&mut self) -> bool {
        self.checks.count_other()
    }

    /// Checks what must hold between two events.
    ///
    /// # Errors
    /// The invariant that does not hold. The job cannot go on.
    pub fn check_invariants(&mut self) -> Result<(), Broken> {
        self.checks.look(&self.traffic)
    }

    /// Checks what must hold between two events, at all peers.
    ///
    /// # Errors
    /// Those of [`Self::check_invariants`].
    pub fn check_all_invariants(&self) -> Result<(), Broken> {
        check_all(&self.traffic)
    }

    /// True if this NI runs timers, and must be told the time with [`Self::advance`] before it is
    /// told of events.
    #[inline]
    pub fn keeps_time(&self) -> bool {
        let Settings { preset, recovery, .. } = self.settings();
        preset.retransmits() || matches!(recovery, Recovery::After(_))
    }

    /// The time is now `now`. Runs out the timers that are due. Time does not go back: a point
    /// before the last one counts as that.
    #[inline]
    pub fn advance(&mut self, now: Nanoseconds, out: &mut impl Actions<B>) {
        if !self.traffic.passes(now) {
            self.traffic.advance_slowly(now, out);
        }
    }

    /// The time is now `now`, and timers that are due wait for the next [`Self::advance`]: for an
    /// NI whose timers its host runs.
    pub fn tell_time(&mut self, now: Nanoseconds) {
        self.traffic.flows.tell_time(now);
    }

    /// The time, as it was told last.
    pub fn now(&self) -> Nanoseconds {
        self.traffic.flows.base.now
    }

    /// The latest time at which [`Self::advance`] is to be called, and the reason; `None` while no
    /// timer runs. It may be too early, which costs a look, but is never too late.
    pub fn next_deadline(&self) -> Option<(Nanoseconds, Timer)> {
        let Traffic { flows, recoveries, .. } = &self.traffic;
        let suspicion = recoveries.deadline().map(|deadline| (deadline, Timer::Suspect));
        [flows.timers.earliest(), suspicion].into_iter().flatten().min()
    }
}

/// Checks that a request is for a variable that there is.
fn check_variable<B>(from: Rank, body: &Body<B>) -> Result<(), Violation> {
    match body {
        Body::FetchAdd { variable, .. } if *variable >= VARIABLES => {
            Err(Violation::Variable(from, *variable))
        }
        _ => Ok(()),
    }
}
