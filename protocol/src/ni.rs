//! The state of one NI, and the events that change it.

use crate::actions::Sharing;
use crate::credit::{Incoming, Outgoing, TooManyCredits, WindowExceeded};
use crate::fetch_add::{self, Fetching, VARIABLES};
use crate::multicast::Holders;
use crate::preset::{Forwarding, Reliability};
use crate::settings::Settings;
use crate::slab::{Key, Slab};
use crate::tree::{Group, GroupError};
use crate::watchdog::Nanoseconds;
use crate::{Actions, Body, Deferred, Delivery};
use weft_wire::{GroupId, Header, Rank, Tag, TreeId};

/// The NI half of the protocols for one rank. `B` names a packet buffer and is never looked into.
#[derive(Debug, Clone)]
pub struct Ni<B> {
    pub(crate) local: Rank,
    pub(crate) settings: Settings,
    pub(crate) peers: Vec<Peer<B>>,
    pub(crate) groups: Vec<Group>,
    pub(crate) holders: Slab<Holders<B>>,
    pub(crate) variables: Vec<u64>,
    pub(crate) fetching: Fetching,
    pub(crate) counters: Counters,
}

#[derive(Debug, Clone, Hash)]
pub(crate) struct Peer<B> {
    pub outgoing: Outgoing<Departure<B>>,
    pub incoming: Incoming,
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

/// What an NI has done since it was made.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub struct Counters {
    /// Data packets transmitted, forwards included.
    pub packets_sent: u64,
    /// User bytes in them.
    pub bytes_sent: u64,
    /// Data packets received.
    pub packets_received: u64,
    /// User bytes in them.
    pub bytes_received: u64,
    /// Packets delivered to the host.
    pub packets_delivered: u64,
    /// Transmissions that had to wait for a credit.
    pub blocked_sends: u64,
    /// Multicast packets passed on to a child, one for each child.
    pub forwards: u64,
    /// Credit packets sent, because nothing was there to piggyback on.
    pub explicit_credits: u64,
    /// Fetch-and-add requests served for others.
    pub fetch_adds_served: u64,
    /// Recoveries that this NI began (thesis 4.3).
    pub recoveries: u64,
    /// Packets that it sent on recovery channels, its own and those of others.
    pub recovery_packets: u64,
    /// Data packets transmitted again.
    pub retransmissions: u64,
    /// Packets that were not the next expected, and were dropped.
    pub out_of_sequence: u64,
    /// Packets dropped because no receive buffer was free.
    pub no_buffer: u64,
    /// Acknowledgements sent because there was nothing to piggyback on.
    pub explicit_acknowledgements: u64,
    /// Negative acknowledgements sent.
    pub nacks: u64,
}

/// Why an NI wants to be told of a point in time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord)]
pub enum Timer {
    /// A packet has been unacknowledged for too long.
    Retransmit,
    /// A packet was received and nothing has taken an acknowledgement back.
    Acknowledge,
    /// Packets have waited for credits for so long that it may be a deadlock.
    Suspect,
}

/// What a peer did that no correct peer does. Nothing of the packet was acted upon.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Violation {
    /// The source field names no other rank of the job.
    #[error("a packet claims to come from {0:?}, which is not a peer")]
    Source(Rank),
    /// More credits came back than packets were sent.
    #[error("{0:?} returned credits it was never sent packets for")]
    Credits(Rank),
    /// A data packet without a credit.
    #[error("{0:?} sent a packet without a credit")]
    Window(Rank),
    /// A tree of no group, or one on which the packet should not have come this way.
    #[error("{0:?} sent a packet on the {1:?}, on which it is not the parent here")]
    Tree(Rank, TreeId),
    /// A kind of packet whose body is of another kind.
    #[error("{0:?} sent a {1:?} packet with the wrong body")]
    Body(Rank, Tag),
    /// A fetch-and-add variable that does not exist.
    #[error("{0:?} asked for fetch-and-add variable {1}; there are {VARIABLES}")]
    Variable(Rank, u16),
    /// An answer to nothing, or to what somebody else was asked.
    #[error("{0:?} answered a fetch-and-add that it was not asked")]
    Unasked(Rank),
    /// A packet of a protocol that this preset does not run.
    #[error("{0:?} sent a {1:?} packet, which this preset does not use")]
    Unsupported(Rank, Tag),
}

impl<B: Copy> Ni<B> {
    /// The NI of rank `local`, which must be below `settings.ranks`, with the broadcast group.
    pub fn new(local: Rank, settings: Settings) -> Self {
        assert!(local.index() < usize::from(settings.ranks), "{local:?} is not in the job");
        assert!(settings.window_packets > 0, "a window needs at least one credit");
        let everyone: Vec<Rank> = (0..settings.ranks).map(Rank).collect();
        let ranks = everyone.len();
        let peer = Peer {
            outgoing: Outgoing::new(settings.window_packets),
            incoming: Incoming::new(settings.window_packets),
        };
        Ni {
            local,
            settings,
            peers: vec![peer; ranks],
            groups: Group::new(&everyone, settings.shape, ranks).into_iter().collect(),
            holders: Slab::new(),
            variables: vec![0; usize::from(VARIABLES)],
            fetching: Fetching::No,
            counters: Counters::default(),
        }
    }

    /// Creates the next multicast group; all ranks must create the same ones in the same order.
    ///
    /// # Errors
    /// [`GroupError`] if `members` is not a set of ranks of this job.
    ///
    /// # Panics
    /// After 65,534 groups: the next number stands for unicast trees.
    pub fn create_group(&mut self, members: &[Rank]) -> Result<GroupId, GroupError> {
        let group = Group::new(members, self.settings.shape, self.peers.len())?;
        let id = GroupId(self.groups.len() as u16);
        assert!(id.0 < u16::MAX, "a job has fewer than {} multicast groups", u16::MAX);
        self.groups.push(group);
        Ok(id)
    }

    /// The group `id`, if there is one.
    pub fn group(&self, id: GroupId) -> Option<&Group> {
        self.groups.get(usize::from(id.0))
    }

    /// Sends `size` bytes of `buffer` to `to` (thesis fig. 4.2). The buffer is the NI's until it
    /// is freed. Never blocks: without a credit the packet waits in the blocked-sends queue.
    #[inline]
    pub fn unicast(&mut self, to: Rank, buffer: B, size: u16, out: &mut impl Actions<B>) {
        let tree = TreeId::unicast(self.local);
        if to == self.local {
            self.counters.packets_delivered += 1;
            let parent = self.local;
            out.deliver(Delivery { buffer, size, tree, parent, sharing: Sharing::Alone });
            return;
        }
        let body = Body::Buffer(buffer);
        self.credit_send(to, Departure { tag: Tag::Ucast, tree, size, body, holders: None }, out);
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
        if from == self.local || from.index() >= self.peers.len() {
            return Err(Violation::Source(from));
        }
        self.check(header, &body)?;
        let Peer { outgoing, incoming } = &mut self.peers[from.index()];
        outgoing.accept(header.credits).map_err(|TooManyCredits| Violation::Credits(from))?;
        if header.tag.is_data() {
            if let Err(WindowExceeded) = incoming.fill() {
                outgoing.refuse(header.credits);
                return Err(Violation::Window(from));
            }
            self.counters.packets_received += 1;
            self.counters.bytes_received += u64::from(header.size);
        }
        self.dispatch(header, body, out);
        if header.credits > 0 {
            self.drain_blocked(from, out);
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
                self.return_credit(delivery.parent, out);
            }
            Sharing::Forwarded(key) => self.drop_holder(key, out),
            Sharing::Unforwarded => panic!("a packet was released before it was re-injected"),
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
            Sharing::Unforwarded => {
                sharing = Sharing::Unforwarded;
                out.free(delivery.buffer);
                self.return_credit(delivery.parent, out);
            }
            _ => self.released(delivery, out),
        }
        Delivery { buffer: copy, size, tree, parent, sharing }
    }

    /// The host gets to a packet that was left to it ([`Actions::defer`]).
    ///
    /// # Errors
    /// As [`Self::received`]; the caller still owns the body.
    pub fn host_received(
        &mut self,
        deferred: Deferred<B>,
        out: &mut impl Actions<B>,
    ) -> Result<(), Violation> {
        let Deferred { header, body } = deferred;
        self.received(&header, body, out)
    }

    /// Whether this NI runs timers, and must be told the time with [`Self::advance`] before it is
    /// told of events.
    #[inline]
    pub fn keeps_time(&self) -> bool {
        self.settings.preset.reliability() != Reliability::Careful
    }

    /// The time is now `now`, which never goes back. Runs out the timers that are due.
    pub fn advance(&mut self, now: Nanoseconds, out: &mut impl Actions<B>) {
        let _ = (now, out);
    }

    /// When [`Self::advance`] is to be called next, and why; `None` while no timer runs.
    pub fn next_deadline(&self) -> Option<(Nanoseconds, Timer)> {
        None
    }

    /// What this NI has done so far.
    pub fn counters(&self) -> &Counters {
        &self.counters
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
        let outgoing = &self.peers[peer.index()].outgoing;
        (outgoing.held(), outgoing.blocked())
    }

    /// The receive buffers that packets from `peer` fill, and the credits owed to it.
    pub fn incoming(&self, peer: Rank) -> (u16, u16) {
        let incoming = &self.peers[peer.index()].incoming;
        (incoming.buffered(), incoming.owed())
    }

    /// Transmissions that wait for a credit now, to whatever peer.
    pub fn blocked(&self) -> usize {
        self.peers.iter().map(|peer| peer.outgoing.blocked()).sum()
    }

    /// Buffers that have several destinations or owners now.
    pub fn shared_buffers(&self) -> usize {
        self.holders.len()
    }

    /// Whether nothing waits, is buffered, or is being asked for.
    pub fn is_quiet(&self) -> bool {
        !self.is_fetching()
            && self.holders.len() == 0
            && self.peers.iter().all(|p| p.outgoing.blocked() == 0 && p.incoming.buffered() == 0)
    }

    /// Refuses what no correct peer sends, whatever the credits.
    #[inline]
    fn check(&self, header: &Header, body: &Body<B>) -> Result<(), Violation> {
        let from = header.source;
        let right_body = matches!(
            (header.tag, body),
            (Tag::Ucast | Tag::Mcast, Body::Buffer(_))
                | (Tag::FaRequest, Body::FetchAdd { .. })
                | (Tag::FaReply, Body::Fetched(_))
                | (Tag::Credit | Tag::ChannelClear, Body::Empty)
        );
        if !right_body {
            return Err(Violation::Body(from, header.tag));
        }
        match header.tag {
            Tag::Ucast | Tag::FaRequest if header.tree != TreeId::unicast(from) => {
                return Err(Violation::Tree(from, header.tree));
            }
            Tag::Mcast => self.check_multicast(header)?,
            Tag::FaRequest => fetch_add::check(from, body)?,
            Tag::FaReply if self.fetching != Fetching::Asked(from) => {
                return Err(Violation::Unasked(from));
            }
            Tag::ChannelClear => return Err(Violation::Unsupported(from, header.tag)),
            _ => {}
        }
        Ok(())
    }

    #[inline]
    fn dispatch(&mut self, header: &Header, body: Body<B>, out: &mut impl Actions<B>) {
        match (header.tag, body) {
            (Tag::Ucast, Body::Buffer(buffer)) => {
                self.counters.packets_delivered += 1;
                out.deliver(Delivery {
                    buffer,
                    size: header.size,
                    tree: header.tree,
                    parent: header.source,
                    sharing: Sharing::Alone,
                });
            }
            (Tag::Mcast, Body::Buffer(buffer)) => self.multicast_received(header, buffer, out),
            (_, Body::FetchAdd { variable, amount }) => {
                self.serve_fetch_add(header.source, variable, amount, out);
            }
            (_, Body::Fetched(value)) => {
                self.fetching = Fetching::No;
                out.fetched(value);
            }
            _ => {}
        }
    }

    /// Transmits a data packet now if there is a credit, or else when one comes.
    #[inline]
    pub(crate) fn credit_send(
        &mut self,
        to: Rank,
        departure: Departure<B>,
        out: &mut impl Actions<B>,
    ) {
        let outgoing = &mut self.peers[to.index()].outgoing;
        if outgoing.spend() {
            self.depart(to, departure, out);
        } else {
            self.counters.blocked_sends += 1;
            outgoing.block(departure);
        }
    }

    fn drain_blocked(&mut self, to: Rank, out: &mut impl Actions<B>) {
        while let Some(departure) = self.peers[to.index()].outgoing.unblock() {
            self.depart(to, departure, out);
        }
    }

    /// Puts a data packet on the wire; its credit is spent.
    #[inline]
    fn depart(&mut self, to: Rank, departure: Departure<B>, out: &mut impl Actions<B>) {
        let mut header = Header::new(departure.tag, self.local, departure.tree, departure.size);
        header.credits = self.peers[to.index()].incoming.collect();
        out.transmit(to, &header, &departure.body);
        self.counters.packets_sent += 1;
        self.counters.bytes_sent += u64::from(departure.size);
        match (departure.holders, departure.body) {
            (Some(key), _) => self.drop_holder(key, out),
            (None, Body::Buffer(buffer)) => out.free(buffer),
            (None, Body::FetchAdd { .. }) => self.fetching = Fetching::Asked(to),
            _ => {}
        }
    }

    /// A control packet: no credit, no queue (invariant I5), and what is owed goes along.
    pub(crate) fn control(&mut self, to: Rank, tag: Tag, body: Body<B>, out: &mut impl Actions<B>) {
        debug_assert!(!tag.is_data(), "I5: {tag:?} is not a control packet");
        let mut header = Header::new(tag, self.local, TreeId::unicast(self.local), 0);
        header.credits = self.peers[to.index()].incoming.collect();
        out.transmit(to, &header, &body);
    }

    /// A receive buffer for `to` is free again.
    #[inline]
    pub(crate) fn return_credit(&mut self, to: Rank, out: &mut impl Actions<B>) {
        if to == self.local {
            return;
        }
        if let Some(credits) = self.peers[to.index()].incoming.release() {
            self.counters.explicit_credits += 1;
            let mut header = Header::new(Tag::Credit, self.local, TreeId::unicast(self.local), 0);
            header.credits = credits;
            out.transmit(to, &header, &Body::Empty);
        }
    }

    /// Who forwards multicast packets here.
    pub(crate) fn forwarding(&self) -> Forwarding {
        self.settings.preset.forwarding()
    }
}
