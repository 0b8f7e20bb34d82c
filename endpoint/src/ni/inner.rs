//! The inside of the lock: the NI, its link, and the packets between it and the host.

use crate::ni::arrival::Arrival;
use crate::ni::backlog::Gates;
use crate::ni::copies::Copies;
use crate::ni::fetches::Fetches;
use crate::ni::offloaded::{OffloadedNi, PacketCopy, Request, Side, payload_of};
use crate::ni::paths::PathChecks;
use crate::ni::systems::Systems;
use crate::presence::coalescing::Coalescing;
use crate::{Error, Result};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use weft_link::bell::{Cause, Loss};
use weft_link::{Buffer, Link, Payload, Received};
use weft_protocol::invariants::i9_bounded;
use weft_protocol::{Actions, Deferred, Delivery, Forwarding, Ni, PacketBody, Reliability};
use weft_wire::atomic::Words;
use weft_wire::{Atomic, GroupId, Header, Protocol, Rank, Tag, TreeId};

/// Packets that one call drains or processes at most, so that it ends.
pub(crate) const BUDGET: usize = 64;

/// Packets that a host apart from its NI takes out of its receive buffers at most, while it cannot
/// process them.
const MOST_DETACHED: usize = 1 << 16;

pub(crate) struct Inner<L> {
    pub link: L,
    pub ni: Ni<Buffer>,
    /// Delivered by the NI, not yet processed by the host.
    pub pending: VecDeque<Delivery<Buffer>>,
    /// The systems that packets belong to.
    pub systems: Systems,
    /// Packets that were copied out of link memory.
    pub copies: Copies,
    /// The systems of other ranks that take no packets at the moment.
    pub gates: Gates<Buffer>,
    /// True if a notice is among the pending packets.
    pub has_notice: bool,
    /// True unless the next packet of the network may go the short way: packets are pending or wait
    /// for their systems, this rank cannot go on, or the link has no short way.
    pub is_busy: Arc<AtomicBool>,
    /// Drains that brought something: a sign that the host polls, also where it is sent nothing but
    /// credits.
    pub drained: Arc<AtomicU64>,
    /// The outstanding atomic operation.
    pub fetches: Fetches,
    /// Frames that the client has allocated and not launched.
    pub held: usize,
    pub drained_polls: u64,
    /// Time for which peers may keep silent, in tenths of a second.
    patience: u8,
    /// Packets that wait in the link for others.
    pub coalescing: Coalescing,
    pub path_checks: PathChecks,
    /// First error of a peer: all threads that wait here are to get it.
    pub failure: Option<Error>,
    /// Queues between host and NI, where these are apart.
    pub offloaded: OffloadedNi,
}

/// The link and the host as the protocol sees them.
pub(crate) struct Surroundings<'a, L> {
    link: &'a mut L,
    pending: &'a mut VecDeque<Delivery<Buffer>>,
    has_notice: &'a mut bool,
    is_busy: &'a AtomicBool,
    coalescing: &'a mut Coalescing,
    fetched: &'a mut Option<u64>,
    offloaded: &'a mut OffloadedNi,
    side: Side,
    /// Time for which peers may keep silent, in tenths of a second.
    patience: u8,
}

impl<L: Link> Actions<Buffer> for Surroundings<'_, L> {
    #[inline]
    fn transmit(&mut self, to: Rank, header: &Header, body: &PacketBody<Buffer>) {
        let payload = payload_of(body);
        if L::NI.is_some() {
            self.offloaded.transmit(to, header, payload, self.side, self.link);
        } else {
            self.link.transmit(to, header, payload);
        }
    }

    #[cold]
    fn is_under_way(&mut self, to: Rank) -> bool {
        self.link.paths().is_some_and(|paths| paths.is_under_way(to))
    }

    #[inline]
    fn deliver(&mut self, delivery: Delivery<Buffer>) {
        if L::NI.is_some() && self.side == Side::Ni {
            self.offloaded.copy(PacketCopy::Delivery(delivery), self.link);
        } else {
            if L::NETWORK.is_some() {
                self.coalescing.heard(delivery.origin());
            }
            *self.has_notice |= delivery.tree.protocol == Protocol::ENDPOINT;
            self.is_busy.store(true, Ordering::Relaxed);
            self.pending.push_back(delivery);
        }
    }

    fn defer(&mut self, deferred: Deferred<Buffer>) {
        assert!(self.side == Side::Ni, "the host leaves nothing to itself");
        if L::NI.is_some() {
            self.offloaded.copy(PacketCopy::Deferred(deferred), self.link);
        } else {
            self.offloaded.deferred.push_back(deferred);
        }
    }

    #[inline]
    fn free(&mut self, buffer: Buffer) {
        if L::NI.is_some() {
            self.offloaded.free(buffer, self.link);
        } else {
            self.link.free(buffer);
        }
    }

    fn fetched(&mut self, value: u64) {
        *self.fetched = Some(value);
    }

    #[cold]
    fn unreachable(&mut self, peer: Rank) {
        self.link.bells().announce(Loss { rank: peer, cause: Cause::Unreachable(self.patience) });
    }

    #[cold]
    fn lost(&mut self, rank: Rank, cause: u32) {
        let cause = Cause::from_bits(cause).unwrap_or(Cause::Ended);
        self.link.bells().announce(Loss { rank, cause });
    }

    #[cold]
    fn mtu_exceeded(&mut self, peer: Rank, size: u16) {
        let cause = Cause::MtuExceeded { bytes: size };
        self.link.bells().announce(Loss { rank: peer, cause });
    }
}

impl<L: Link> Inner<L> {
    pub fn new(link: L, ni: Ni<Buffer>) -> Self {
        let lost_after = ni.settings().silence.map_or(0, |silence| silence.lost_after);
        let patience = u8::try_from(lost_after / 100_000_000).unwrap_or(u8::MAX);
        Inner {
            link,
            ni,
            pending: VecDeque::with_capacity(BUDGET),
            systems: Systems::default(),
            copies: Copies::default(),
            gates: Gates::default(),
            has_notice: false,
            is_busy: Arc::new(AtomicBool::new(true)),
            drained: Arc::new(AtomicU64::new(0)),
            fetches: Fetches::default(),
            held: 0,
            drained_polls: 0,
            patience,
            coalescing: Coalescing::default(),
            path_checks: PathChecks::default(),
            failure: None,
            offloaded: OffloadedNi::default(),
        }
    }

    /// The protocol, and everything around it.
    #[inline]
    pub fn split(&mut self, side: Side) -> (&mut Ni<Buffer>, Surroundings<'_, L>) {
        let Inner { link, ni, pending, has_notice, is_busy, offloaded, .. } = self;
        let (coalescing, patience) = (&mut self.coalescing, self.patience);
        (
            ni,
            Surroundings {
                link,
                pending,
                has_notice,
                is_busy,
                coalescing,
                fetched: &mut self.fetches.fetched,
                offloaded,
                side,
                patience,
            },
        )
    }

    /// True if the host's packets go to an NI that runs the protocol by itself.
    #[inline]
    fn asks_ni(&self) -> bool {
        L::NI.is_some() && !self.ni.settings().preset.runs_at_host()
    }

    #[inline]
    pub fn unicast(&mut self, protocol: Protocol, to: Rank, frame: Buffer, size: u16) {
        let tree = TreeId::unicast(self.ni.local()).of(protocol);
        self.held -= 1;
        if self.asks_ni() {
            self.offloaded.request(Request::Unicast { tree, to, frame, size }, &mut self.link);
            return;
        }
        let (ni, mut out) = self.split(Side::Host);
        ni.unicast(tree, to, frame, size, &mut out);
    }

    pub fn multicast(
        &mut self,
        protocol: Protocol,
        group: GroupId,
        frame: Buffer,
        size: u16,
    ) -> Result<()> {
        let members = match self.ni.group(group) {
            Some(found) if found.contains(self.ni.local()) => found.members(),
            _ => return Err(Error::NotAMember),
        };
        self.held -= 1;
        if let Some(frames) = self.link.shared_frames() {
            frames.share(frame, size, members);
        }
        if self.asks_ni() {
            let request = Request::Multicast { protocol, group, frame, size };
            self.offloaded.request(request, &mut self.link);
            return Ok(());
        }
        let (ni, mut out) = self.split(Side::Host);
        ni.multicast(protocol, group, frame, size, &mut out);
        Ok(())
    }

    pub fn atomic(&mut self, home: Rank, variable: u16, operation: Atomic) {
        if self.asks_ni() {
            self.offloaded.request(Request::Atomic { home, variable, operation }, &mut self.link);
            return;
        }
        let (ni, mut out) = self.split(Side::Host);
        ni.atomic(home, variable, operation, &mut out);
    }

    /// Handles packets that have arrived for a group before it was created here, now that it is.
    pub fn admit_early(&mut self) -> Result<()> {
        let preset = self.ni.settings().preset;
        let side = match (preset.reliability(), preset.forwarding()) {
            (Reliability::Host, Forwarding::Host) => Side::Host,
            _ => Side::Ni,
        };
        if L::NI.is_some() && side == Side::Ni {
            self.offloaded.request(Request::Admit, &mut self.link);
            return Ok(());
        }
        let (ni, mut out) = self.split(side);
        let admitted = ni.admit_early(&mut out).map_err(Error::from);
        let admitted = admitted.and_then(|()| self.receive_all_deferred());
        if let Err(failure) = &admitted {
            self.fail_with(failure.clone());
        }
        admitted
    }

    /// True if everything launched here has left for good.
    pub fn is_flushed(&self) -> bool {
        (L::NI.is_none() || self.offloaded.requests.is_empty())
            && self.gates.is_flushed()
            && self.ni.is_flushed()
    }

    #[inline]
    pub fn release(&mut self, delivery: Delivery<Buffer>) {
        if delivery.buffer == Buffer::NONE {
            return self.release_plain(delivery.origin());
        }
        if Copies::has(delivery.buffer) {
            return self.copies.remove(delivery.buffer);
        }
        let (ni, mut out) = self.split(Side::Host);
        ni.released(delivery, &mut out);
    }

    /// A packet as its system gets it.
    #[inline]
    pub fn arrival(&self, delivery: Delivery<Buffer>) -> Arrival {
        let start = match Copies::has(delivery.buffer) {
            true => self.copies.start(delivery.buffer),
            false => self.link.bytes(delivery.buffer),
        };
        Arrival::in_link(delivery, start)
    }

    pub fn reinject(&mut self, delivery: &mut Delivery<Buffer>) {
        let (ni, mut out) = self.split(Side::Host);
        ni.reinject(delivery, &mut out);
    }

    /// The next packet for the host: one that waits, or else one from the network.
    #[inline(always)]
    pub fn next_delivery(&mut self) -> Result<Option<Delivery<Buffer>>> {
        for _ in 0..BUDGET {
            if let Some(delivery) = self.pending.pop_front() {
                return Ok(Some(delivery));
            }
            self.has_notice = false;
            // Most polls find nothing, and this is the cheapest way to know.
            let is_quiet = L::NETWORK.is_none() && L::NI.is_none() && !self.link.has_arrivals();
            if is_quiet || !self.receive()? {
                return self.check_failure().map(|()| None);
            }
        }
        Ok(None)
    }

    /// Moves packets from the network to this host, without any upcall.
    pub fn drain(&mut self) -> Result<bool> {
        self.drained_polls += 1;
        let mut any = false;
        for _ in 0..BUDGET {
            if !self.receive()? {
                break;
            }
            any = true;
        }
        if any {
            // Inside the lock, so that no other count is lost.
            self.drained.store(self.drained.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        }
        if self.has_notice {
            self.handle_notices();
        }
        self.reinject_pending();
        if L::NI.is_some() {
            // Packets that the host does not want now may take up all its buffers, and the one that
            // it waits for may be behind them.
            let host_frames = self.link.capabilities().host_frames;
            if (host_frames..MOST_DETACHED).contains(&self.pending.len()) {
                self.detach_pending();
            }
        }
        let settings = self.ni.settings();
        let bound = match L::NI.is_some() {
            // The host's buffers, and the packets that were taken out of them.
            true => self.link.capabilities().host_frames + MOST_DETACHED,
            false => {
                let windows = usize::from(settings.ranks) * usize::from(settings.window_packets);
                let buffers = usize::from(settings.ranks) * settings.primary_buffers();
                let lossy =
                    if L::NETWORK.is_some() { settings.receive_buffers + buffers } else { 0 };
                windows + lossy + self.link.capabilities().frames
            }
        };
        i9_bounded("the queue of delivered packets", self.pending.len(), bound);
        self.check_failure().map(|()| any)
    }

    /// Forwards the packets that this host has to forward, before it has looked at them, because
    /// others must not wait for that: under ACK-forward they could not send it anything else
    /// meanwhile, not even what it waits for.
    fn reinject_pending(&mut self) {
        let mut waiting = std::mem::take(&mut self.pending);
        for delivery in waiting.iter_mut().filter(|delivery| delivery.wants_reinjection()) {
            if L::NI.is_some() {
                self.offloaded.reinjected_bytes.push(delivery.size);
            }
            self.reinject(delivery);
        }
        debug_assert!(self.pending.is_empty(), "forwarding delivers nothing here");
        self.pending = waiting;
    }

    /// Takes one packet, if there is one, up to the host's part of the protocol.
    #[inline]
    fn receive(&mut self) -> Result<bool> {
        if L::NI.is_some() {
            return self.receive_deferred();
        }
        let received = match L::NETWORK.is_some() {
            true => {
                self.receive_at(Side::Ni).and_then(|any| self.receive_all_deferred().map(|()| any))
            }
            false => self.receive_at(Side::Ni),
        };
        if let Err(failure) = &received {
            self.fail_with(failure.clone());
        }
        received
    }

    /// The error that was found before, if any: the call that found it may have had no way to
    /// return it.
    #[inline]
    pub fn check_failure(&self) -> Result<()> {
        match &self.failure {
            None => Ok(()),
            Some(failure) => fail_again(failure),
        }
    }

    /// Records that this rank cannot go on; returns the first reason.
    #[cold]
    pub fn fail_with(&mut self, error: Error) -> Error {
        self.is_busy.store(true, Ordering::Relaxed);
        self.failure.get_or_insert(error).clone()
    }

    /// Takes one packet from the network, if there is one, and gives it to the NI.
    #[inline]
    pub fn receive_at(&mut self, side: Side) -> Result<bool> {
        let Some(Received { header, payload }) = self.link.receive()? else { return Ok(false) };
        if L::NI.is_some()
            && header.source == self.ni.local()
            && let Payload::Words(words) = payload
        {
            self.receive_looped(header.tag, words);
            return Ok(true);
        }
        let body = match (header.tag, payload) {
            (Tag::FaRequest, Payload::Words(words)) => request_of(words),
            (Tag::FaReply, Payload::Words([value, ..])) => PacketBody::Fetched(value),
            (_, Payload::Buffer(buffer)) => PacketBody::Buffer(buffer),
            _ => PacketBody::Empty,
        };
        let (ni, mut out) = self.split(side);
        if let Err(violation) = ni.received(&header, body, &mut out) {
            // The NI took nothing, so the packet's buffer is free again.
            if let Payload::Buffer(buffer) = payload {
                self.link.free(buffer);
            }
            return Err(violation.into());
        }
        if self.ni.is_check_due() {
            self.ni.check_invariants()?;
        }
        Ok(true)
    }
}

/// Body of a request with these words.
fn request_of(words: Words) -> PacketBody<Buffer> {
    match Atomic::parse(words) {
        Ok((variable, operation)) => PacketBody::Atomic { variable, operation },
        Err(first) => PacketBody::Unknown(first),
    }
}

#[cold]
fn fail_again(failure: &Error) -> Result<()> {
    Err(failure.clone())
}
