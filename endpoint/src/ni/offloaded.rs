//! The queues between a host and an NI apart from it (thesis 8.1.2).
//!
//! ```text
//!   host:  launch ─▶ requests       pending ─▶ upcalls     deferred ─▶ host's protocol (hrx)
//!   ─────────────────  │  ─────────────  ▲  ────────────────  ▲  ─────────────────
//!   NI:        protocol, transmit     copies ── to the host ──┘ ◀── deliver ◀── receive
//! ```
//!
//! On links whose NI is not apart nothing of this runs, and the compiler leaves it out.

use std::collections::VecDeque;
use weft_link::clock::{Nanoseconds, Work};
use weft_link::ni::SeparateNi;
use weft_link::{Buffer, Link, Payload};
use weft_protocol::watchdog::{HostStatus, Watchdog, WatchdogDecision};
use weft_protocol::{Deferred, Delivery, PacketBody};
use weft_wire::{Atomic, GroupId, Header, Protocol, Rank, Tag, TreeId};

/// Side that runs the protocol at the moment. Where the NI is not apart, the two are the same.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Host,
    Ni,
}

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
    Atomic {
        home: Rank,
        variable: u16,
        operation: Atomic,
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
pub(crate) fn payload_of(body: &PacketBody<Buffer>) -> Payload {
    match *body {
        PacketBody::Empty => Payload::Empty,
        PacketBody::Buffer(buffer) => Payload::Buffer(buffer),
        PacketBody::Atomic { variable, operation } => Payload::Words(operation.to_words(variable)),
        PacketBody::Unknown(first) => Payload::Words([first, 0, 0]),
        PacketBody::Fetched(value) => Payload::Words([value, 0, 0]),
    }
}

impl OffloadedNi {
    /// Has the watchdog interrupt a host that has not polled for `delay` after an arrival.
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

    /// The oldest request.
    pub fn next_request(&mut self) -> Option<Request> {
        let request = self.requests.pop_front()?;
        self.in_order -= usize::from(request.is_in_order());
        Some(request)
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
    pub fn start_copies<L: Link>(&mut self, link: &mut L) {
        while let Some(next) = self.waiting.front() {
            let (payload, size) = next.payload();
            let copied = L::NI.and_then(|ni| ni.copy_to_host(link, payload, size));
            let Some(at_host) = copied else { return };
            if let Some(next) = self.waiting.pop_front() {
                self.copying.push_back((next, at_host));
            }
        }
    }

    /// The packet whose copy, the oldest, is complete, and its payload at the host: to be shown to
    /// the host, as [`Self::show`] is told.
    pub fn next_copied(&mut self) -> Option<(PacketCopy, Payload)> {
        self.copying.pop_front()
    }

    /// Counts a packet that the host is shown.
    pub fn show(&mut self, now: Nanoseconds) {
        self.shown += 1;
        if let Some(watchdog) = &mut self.watchdog {
            watchdog.arrived(now);
        }
    }

    /// Packets that the host has been shown so far.
    pub fn shown(&self) -> u64 {
        self.shown
    }

    /// Sends this NI the request for an operation on a variable of its own. It needs no credit:
    /// there is one at a time, and it fills no buffer.
    pub fn loop_request_back<L: Link>(
        &mut self,
        local: Rank,
        variable: u16,
        operation: Atomic,
        link: &mut L,
    ) {
        let tree = TreeId::unicast(local);
        let header = Header::new(Tag::FaRequest, local, tree, operation.size());
        let words = Payload::Words(operation.to_words(variable));
        self.transmit(local, &header, words, Side::Ni, link);
    }

    /// Sends this NI the answer to that.
    pub fn loop_answer_back<L: Link>(&mut self, local: Rank, value: u64, link: &mut L) {
        let header = Header::new(Tag::FaReply, local, TreeId::unicast(local), 0);
        self.transmit(local, &header, Payload::Words([value, 0, 0]), Side::Ni, link);
    }

    /// Lets the polling watchdog look, if its time has come, at a host with `pending` packets that
    /// it was shown. True if it is to be interrupted.
    pub fn watch_host(&mut self, now: Nanoseconds, pending: usize, disabled: bool) -> bool {
        let Some(watchdog) = &mut self.watchdog else { return false };
        if watchdog.deadline().is_none_or(|deadline| deadline > now) {
            return false;
        }
        let packets_processed = self.shown.saturating_sub((pending + self.deferred.len()) as u64);
        // A host that waits has been woken, and leaves packets that it does not want now.
        let interrupts_disabled = disabled || self.host_waits;
        let host = HostStatus { packets_processed, interrupts_disabled };
        watchdog.timeout(now, self.shown, host) == WatchdogDecision::Interrupt
    }

    /// Sets the NI's timer to the earliest deadline of the watchdog and, where it is the NI's, the
    /// protocol.
    pub fn set_timer<L: Link>(&self, protocol: Option<Nanoseconds>, link: &mut L) {
        let watchdog = self.watchdog.as_ref().and_then(Watchdog::deadline);
        if let Some(ni) = L::NI {
            ni.wake_at(link, watchdog.into_iter().chain(protocol).min());
        }
    }
}
