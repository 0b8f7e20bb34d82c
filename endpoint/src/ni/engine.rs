//! The NI half apart from the host: the queues between the two, and the NI's event loop (thesis
//! 8.1.2).
//!
//! ```text
//!   host:  launch ─▶ requests       pending ─▶ upcalls     deferred ─▶ host's protocol (hrx)
//!   ─────────────────  │  ─────────────  ▲  ────────────────  ▲  ─────────────────
//!   NI:        protocol, transmit     copies ── to the host ──┘ ◀── deliver ◀── receive
//! ```
//!
//! On links whose NI is not apart nothing of this runs, and the compiler leaves it out.

use crate::Result;
use crate::biased::Entered;
use crate::ni::inner::{Inner, Side};
use crate::ni::node::Node;
use std::collections::VecDeque;
use std::time::Duration;
use weft_link::bell::Waiter;
use weft_link::clock::{Clock, Nanoseconds, Work};
use weft_link::ni::{NiEvent, NiHalf, SeparateNi};
use weft_link::{Buffer, Link, Payload};
use weft_protocol::watchdog::{HostStatus, Verdict, Watchdog};
use weft_protocol::{Body, Deferred, Delivery, Reliability};
use weft_wire::{GroupId, Header, Protocol, Rank, Tag, TreeId};

/// Queues between an NI and its host.
#[derive(Default)]
pub(crate) struct OffloadedNi {
    /// Requests of the host to the NI, oldest first.
    pub requests: VecDeque<Request>,
    /// Transmissions and frees among them, behind which all later ones have to queue.
    in_order: usize,
    /// Packets for the host that wait for a host buffer.
    waiting: VecDeque<PacketCopy>,
    /// Packets that are being copied, with their payloads at the host.
    copying: VecDeque<(PacketCopy, Payload)>,
    /// Packets that the host's protocol has to handle.
    pub deferred: VecDeque<Deferred<Buffer>>,
    /// Number of these that the host has handled and not accounted for.
    pub handled: u32,
    /// True if it has accounted for the next one.
    pub accounted: bool,
    /// Sizes of the packets that the host has passed on and not accounted for.
    pub reinjected_bytes: Vec<u16>,
    /// Packets that the host has been shown so far.
    shown: u64,
    watchdog: Option<Watchdog>,
    /// True if the host waits, whatever for.
    pub host_waits: bool,
    /// True if the host waits until nothing is left to send.
    pub flushing: bool,
}

/// Request of a host to its NI.
pub(crate) enum Request {
    Unicast {
        tree: TreeId,
        to: Rank,
        frame: Buffer,
        size: u16,
    },
    Multicast {
        protocol: Protocol,
        group: GroupId,
        frame: Buffer,
        size: u16,
    },
    FetchAdd {
        home: Rank,
        variable: u16,
        amount: u64,
    },
    /// From a protocol that runs at the host.
    Transmit {
        to: Rank,
        header: Header,
        payload: Payload,
    },
    /// A buffer to free, after the transmissions before it.
    Free(Buffer),
    /// The host has a buffer again.
    BufferFreed,
    /// The host has created a group for which packets have arrived before.
    Admit,
}

impl Request {
    fn is_in_order(&self) -> bool {
        matches!(self, Request::Transmit { .. } | Request::Free(_))
    }
}

/// A packet on its way to the host.
pub(crate) enum PacketCopy {
    Delivery(Delivery<Buffer>),
    Deferred(Deferred<Buffer>),
}

impl PacketCopy {
    fn payload(&self) -> (Payload, u16) {
        match self {
            PacketCopy::Delivery(delivery) => (Payload::Buffer(delivery.buffer), delivery.size),
            PacketCopy::Deferred(deferred) => (payload_of(&deferred.body), deferred.header.size),
        }
    }
}

/// The payload of `body`, in the link's terms.
#[inline]
pub(crate) fn payload_of(body: &Body<Buffer>) -> Payload {
    match *body {
        Body::Empty => Payload::Empty,
        Body::Buffer(buffer) => Payload::Buffer(buffer),
        Body::FetchAdd { variable, amount } => Payload::Words([u64::from(variable), amount]),
        Body::Fetched(value) => Payload::Words([value, 0]),
    }
}

impl OffloadedNi {
    pub fn watch(&mut self, delay: Nanoseconds) {
        self.watchdog = Some(Watchdog::new(delay));
    }

    pub fn request<L: Link>(&mut self, request: Request, link: &mut L) {
        self.in_order += usize::from(request.is_in_order());
        // A packet of the host's own protocol was not launched by the program.
        let work = match &request {
            Request::Transmit { header, .. } if !header.tag.is_data() => {
                Some(Work::Launch { bytes: 0 })
            }
            _ => None,
        };
        self.requests.push_back(request);
        if let Some(ni) = L::NI {
            ni.notify(link, work);
        }
    }

    /// Frees a buffer, after whatever the NI still has to transmit for the host: that may be its
    /// contents.
    pub fn free<L: Link>(&mut self, buffer: Buffer, link: &mut L) {
        if self.in_order > 0 {
            self.request(Request::Free(buffer), link);
            return;
        }
        link.free(buffer);
        self.made_room(link);
    }

    /// Tells the NI that the host may have buffers again.
    pub fn made_room<L: Link>(&mut self, link: &mut L) {
        if !self.waiting.is_empty() {
            self.request(Request::BufferFreed, link);
        }
    }

    /// Transmits a packet, after those that the host has queued: packets leave in the order in
    /// which they were numbered, no acknowledgement may overtake the forward that it waited for,
    /// and no credit the buffer that it stands for (I2).
    pub fn transmit<L: Link>(
        &mut self,
        to: Rank,
        header: &Header,
        payload: Payload,
        side: Side,
        link: &mut L,
    ) {
        if side == Side::Host || self.in_order > 0 {
            self.request(Request::Transmit { to, header: *header, payload }, link);
        } else {
            link.transmit(to, header, payload);
        }
    }

    /// Queues a packet for the host, to be copied into one of its buffers.
    pub fn copy<L: Link>(&mut self, what: PacketCopy, link: &mut L) {
        self.waiting.push_back(what);
        self.start_copies(link);
    }

    /// Starts the copies for which the host has buffers, in order.
    fn start_copies<L: Link>(&mut self, link: &mut L) {
        while let Some(next) = self.waiting.front() {
            let (payload, size) = next.payload();
            let copied = L::NI.and_then(|ni| ni.copy_to_host(link, payload, size));
            let Some(at_host) = copied else { return };
            if let Some(next) = self.waiting.pop_front() {
                self.copying.push_back((next, at_host));
            }
        }
    }
}

impl<L: Link> Inner<L> {
    /// True if the protocol is the host's (`hrx`), and the NI only moves packets.
    pub fn protocol_at_host(&self) -> bool {
        self.ni.settings().preset.reliability() == Reliability::Host
    }

    /// Processes one event at the NI. True if the host should look.
    fn step(&mut self, event: NiEvent, now: Nanoseconds) -> Result<bool> {
        let seen = (self.offloaded.shown, self.fetched, self.host_deadline());
        self.tell_time(now, Side::Ni);
        match event {
            NiEvent::Request => self.serve_request()?,
            NiEvent::Received => drop(self.receive_at(Side::Ni)?),
            NiEvent::Copied => self.finish_copy(now),
            NiEvent::Timeout => {}
        }
        let flushed = self.offloaded.flushing && self.is_flushed();
        self.offloaded.flushing &= !flushed;
        Ok(flushed || seen != (self.offloaded.shown, self.fetched, self.host_deadline()))
    }

    /// Next deadline of the host's own protocol.
    pub fn host_deadline(&self) -> Option<Nanoseconds> {
        if !self.protocol_at_host() {
            return None;
        }
        self.ni.next_deadline().map(|(deadline, _)| deadline)
    }

    fn serve_request(&mut self) -> Result<()> {
        let Some(request) = self.offloaded.requests.pop_front() else { return Ok(()) };
        self.offloaded.in_order -= usize::from(request.is_in_order());
        match request {
            Request::Unicast { tree, to, frame, size } => {
                let (ni, mut out) = self.split(Side::Ni);
                ni.unicast_on(tree, to, frame, size, &mut out);
            }
            Request::Multicast { protocol, group, frame, size } => {
                let (ni, mut out) = self.split(Side::Ni);
                ni.multicast_for(protocol, group, frame, size, &mut out);
            }
            Request::FetchAdd { home, variable, amount }
                if home == self.ni.local() && self.loops_back() =>
            {
                self.loop_back(Tag::FaRequest, [u64::from(variable), amount]);
            }
            Request::FetchAdd { home, variable, amount } => {
                let (ni, mut out) = self.split(Side::Ni);
                ni.fetch_and_add(home, variable, amount, &mut out);
            }
            Request::Transmit { to, header, payload } => {
                self.link.transmit(to, &header, payload);
            }
            Request::Free(buffer) => {
                self.link.free(buffer);
                self.offloaded.start_copies(&mut self.link);
            }
            Request::BufferFreed => self.offloaded.start_copies(&mut self.link),
            Request::Admit => {
                let (ni, mut out) = self.split(Side::Ni);
                ni.admit_early(&mut out)?;
            }
        }
        Ok(())
    }

    /// True if a fetch-and-add on a variable of this NI's own goes to the switch and back.
    fn loops_back(&self) -> bool {
        L::NI.is_some_and(|ni| ni.control_program(&self.link).loops_back)
    }

    /// Sends this NI a packet of a fetch-and-add on a variable of its own. It needs no credit:
    /// there is one at a time, and it fills no buffer.
    fn loop_back(&mut self, tag: Tag, words: [u64; 2]) {
        let local = self.ni.local();
        let header = Header::new(tag, local, TreeId::unicast(local), 0);
        self.offloaded.transmit(local, &header, Payload::Words(words), Side::Ni, &mut self.link);
    }

    /// Handles such a packet, which has returned.
    pub fn receive_looped(&mut self, tag: Tag, words: [u64; 2]) {
        if tag == Tag::FaReply {
            self.fetched = Some(words[0]);
            return;
        }
        let (variable, amount) = (u16::try_from(words[0]).unwrap_or(u16::MAX), words[1]);
        let (ni, mut out) = self.split(Side::Ni);
        let local = ni.local();
        ni.fetch_and_add(local, variable, amount, &mut out);
        let value = self.fetched.take().unwrap_or_default();
        self.loop_back(Tag::FaReply, [value, 0]);
    }

    /// Shows the host the packet whose copy, the oldest, is complete.
    fn finish_copy(&mut self, now: Nanoseconds) {
        let Some((what, at_host)) = self.offloaded.copying.pop_front() else { return };
        match (what, at_host) {
            (PacketCopy::Delivery(delivery), Payload::Buffer(copy)) => {
                let (ni, mut out) = self.split(Side::Ni);
                let delivery = ni.copied(delivery, copy, &mut out);
                self.has_notice |= delivery.tree.protocol == Protocol::ENDPOINT;
                self.pending.push_back(delivery);
            }
            (PacketCopy::Deferred(deferred), Payload::Buffer(copy)) => {
                let (ni, mut out) = self.split(Side::Ni);
                let deferred = ni.copied_deferred(deferred, copy, &mut out);
                self.offloaded.deferred.push_back(deferred);
            }
            (PacketCopy::Deferred(deferred), _) => self.offloaded.deferred.push_back(deferred),
            (PacketCopy::Delivery(_), _) => unreachable!("a link copies a buffer into a buffer"),
        }
        self.offloaded.shown += 1;
        if let Some(watchdog) = &mut self.offloaded.watchdog {
            watchdog.arrived(now);
        }
    }

    /// Runs the host's protocol on the next packet that was left to it, if there is one.
    pub fn receive_deferred(&mut self) -> Result<bool> {
        self.check_failure()?;
        let Some(deferred) = self.offloaded.deferred.pop_front() else { return Ok(false) };
        self.offloaded.handled += u32::from(!std::mem::take(&mut self.offloaded.accounted));
        let (ni, mut out) = self.split(Side::Host);
        ni.host_received(deferred, &mut out)?;
        Ok(true)
    }

    /// Tells the protocol the time, if it wants to know. Its timers run out on the side that runs
    /// the protocol.
    pub fn tell_time(&mut self, now: Nanoseconds, side: Side) {
        if !self.ni.keeps_time() {
            return;
        }
        let owner = if self.protocol_at_host() { Side::Host } else { Side::Ni };
        if L::NI.is_none() || side == owner {
            let (ni, mut out) = self.split(side);
            ni.advance(now, &mut out);
        } else {
            self.ni.tell_time(now);
        }
    }

    /// Lets the polling watchdog look, if its time has come. True if the host is to be interrupted.
    fn watch_host(&mut self, now: Nanoseconds, interrupts_disabled: bool) -> bool {
        let offloaded = &mut self.offloaded;
        let Some(watchdog) = &mut offloaded.watchdog else { return false };
        if watchdog.deadline().is_none_or(|deadline| deadline > now) {
            return false;
        }
        let left = (self.pending.len() + offloaded.deferred.len()) as u64;
        let packets_processed = offloaded.shown.saturating_sub(left);
        // A host that waits has been woken, and leaves packets that it does not want now.
        let interrupts_disabled = interrupts_disabled || offloaded.host_waits;
        let host = HostStatus { packets_processed, interrupts_disabled };
        watchdog.timeout(now, offloaded.shown, host) == Verdict::Interrupt
    }

    /// Sets the timer to the earliest deadline of watchdog and protocol.
    fn set_timer(&mut self) {
        let watchdog = self.offloaded.watchdog.as_ref().and_then(Watchdog::deadline);
        let protocol = match self.protocol_at_host() {
            true => None,
            false => self.ni.next_deadline().map(|(deadline, _)| deadline),
        };
        if let Some(ni) = L::NI {
            ni.wake_at(&mut self.link, watchdog.into_iter().chain(protocol).min());
        }
    }
}

impl<L: Link> Node<L> {
    /// Has the NI, where it is apart, interrupt a host that has not polled for `delay` after an
    /// arrival. Elsewhere a [`crate::WatchThread`] does so.
    pub fn watch(&self, delay: Duration) {
        self.inner.enter().offloaded.watch(delay.as_nanos() as Nanoseconds);
    }

    /// Has the NI make a mistake at its `opportunity`-th opportunity.
    #[cfg(feature = "planted")]
    pub fn plant(&self, bug: weft_protocol::Bug, opportunity: u32) {
        self.inner.enter().ni.plant(bug, opportunity);
    }
}

/// Charges to the host for its work for the protocol.
impl<L: Link> Node<L> {
    /// Charges for the next packet of the host's own protocol: handling takes time before the
    /// answer.
    #[inline(always)]
    pub(crate) fn account_before_receiving(&self) {
        if L::NI.is_some() {
            self.account_for_next();
        }
    }

    fn account_for_next(&self) {
        let mut inner = self.inner.enter();
        if inner.offloaded.accounted {
            return;
        }
        let Some(next) = inner.offloaded.deferred.front() else { return };
        let is_fetch_add = matches!(next.header.tag, Tag::FaRequest | Tag::FaReply);
        inner.offloaded.accounted = true;
        drop(inner);
        self.clock.charge(Work::Deferred { packets: 1 });
        if is_fetch_add {
            // No upcall accepts it, but the host does.
            self.clock.charge(Work::Process { bytes: 0 });
        }
    }

    /// Unlocks the node after a poll that `found` something, or did not, and accounts for the
    /// packets on which the host ran the protocol.
    #[inline(always)]
    pub(crate) fn exit_after_poll(&self, mut inner: Entered<'_, Inner<L>>, found: bool) {
        if L::NI.is_some() {
            let packets = std::mem::take(&mut inner.offloaded.handled);
            let reinjected = std::mem::take(&mut inner.offloaded.reinjected_bytes);
            drop(inner);
            for bytes in reinjected {
                self.clock.charge(Work::Reinject { bytes });
            }
            if packets > 0 {
                self.clock.charge(Work::Deferred { packets });
            }
        } else {
            self.exit_after_look(inner, found);
        }
    }
}

impl<L: Link> NiHalf for Node<L> {
    fn step(&self, event: NiEvent) {
        let mut inner = self.inner.enter();
        let host_should_look = inner.step(event, self.clock.now()).unwrap_or_else(|error| {
            inner.fail_with(error);
            true
        });
        if inner.watch_host(self.clock.now(), self.host_status().interrupts_disabled) {
            self.attendance.interrupts.count();
            if let Some(ni) = L::NI {
                ni.interrupt(&mut inner.link);
            }
        }
        inner.set_timer();
        drop(inner);
        if host_should_look {
            self.attendance.bells.ring(Waiter::Host);
        }
    }
}
