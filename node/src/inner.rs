//! What is inside the lock: the NI, its link, and the packets between it and the host.

use crate::{Error, Result, Upcall};
use std::collections::VecDeque;
use weft_link::{Buffer, Link, Payload, Received};
use weft_protocol::invariants::i9_bounded;
use weft_protocol::{Actions, Body, Deferred, Delivery, Ni};
use weft_wire::{GroupId, Header, Rank, Tag};

/// Packets that one call drains or processes at most, so that it ends.
pub(crate) const BUDGET: usize = 64;

pub(crate) struct Inner<L> {
    pub link: L,
    pub ni: Ni<Buffer>,
    /// Delivered by the NI, not yet processed by the host.
    pub pending: VecDeque<Delivery<Buffer>>,
    /// The client's function; absent while it runs.
    pub upcall: Option<Upcall>,
    /// Whether an upcall is running, on whatever thread.
    pub in_upcall: bool,
    /// The answer to the outstanding fetch-and-add.
    pub fetched: Option<u64>,
    /// Frames that the client has allocated and not launched.
    pub held: usize,
    pub drained_polls: u64,
}

/// The link and the host as the protocol sees them.
struct Surroundings<'a, L> {
    link: &'a mut L,
    pending: &'a mut VecDeque<Delivery<Buffer>>,
    fetched: &'a mut Option<u64>,
}

impl<L: Link> Actions<Buffer> for Surroundings<'_, L> {
    #[inline]
    fn transmit(&mut self, to: Rank, header: &Header, body: &Body<Buffer>) {
        let payload = match *body {
            Body::Empty => Payload::Empty,
            Body::Buffer(buffer) => Payload::Buffer(buffer),
            Body::FetchAdd { variable, amount } => Payload::Words([u64::from(variable), amount]),
            Body::Fetched(value) => Payload::Words([value, 0]),
        };
        self.link.transmit(to, header, payload);
    }

    #[inline]
    fn deliver(&mut self, delivery: Delivery<Buffer>) {
        self.pending.push_back(delivery);
    }

    fn defer(&mut self, _: Deferred<Buffer>) {
        unreachable!("no preset that runs here leaves packets to the host");
    }

    #[inline]
    fn free(&mut self, buffer: Buffer) {
        self.link.free(buffer);
    }

    fn fetched(&mut self, value: u64) {
        *self.fetched = Some(value);
    }
}

/// Splits an [`Inner`] into the protocol and everything around it.
macro_rules! split {
    ($inner:expr) => {{
        let Inner { link, ni, pending, fetched, .. } = $inner;
        (ni, &mut Surroundings { link, pending, fetched })
    }};
}

impl<L: Link> Inner<L> {
    pub fn new(link: L, ni: Ni<Buffer>) -> Self {
        Inner {
            link,
            ni,
            pending: VecDeque::with_capacity(BUDGET),
            upcall: None,
            in_upcall: false,
            fetched: None,
            held: 0,
            drained_polls: 0,
        }
    }

    #[inline]
    pub fn unicast(&mut self, to: Rank, frame: Buffer, size: u16) {
        self.held -= 1;
        let (ni, out) = split!(self);
        ni.unicast(to, frame, size, out);
    }

    pub fn multicast(&mut self, group: GroupId, frame: Buffer, size: u16) -> Result<()> {
        let members = match self.ni.group(group) {
            Some(found) if found.contains(self.ni.local()) => found.members(),
            _ => return Err(Error::NotAMember),
        };
        self.held -= 1;
        self.link.share(frame, size, members);
        let (ni, out) = split!(self);
        ni.multicast(group, frame, size, out);
        Ok(())
    }

    pub fn fetch_and_add(&mut self, home: Rank, variable: u16, amount: u64) {
        let (ni, out) = split!(self);
        ni.fetch_and_add(home, variable, amount, out);
    }

    #[inline]
    pub fn release(&mut self, delivery: Delivery<Buffer>) {
        let (ni, out) = split!(self);
        ni.released(delivery, out);
    }

    pub fn reinject(&mut self, delivery: &mut Delivery<Buffer>) {
        let (ni, out) = split!(self);
        ni.reinject(delivery, out);
    }

    /// The next packet for the host: one that waits, or else one from the network.
    #[inline]
    pub fn next_delivery(&mut self) -> Result<Option<Delivery<Buffer>>> {
        for _ in 0..BUDGET {
            if let Some(delivery) = self.pending.pop_front() {
                return Ok(Some(delivery));
            }
            if !self.receive()? {
                return Ok(None);
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
        let settings = self.ni.settings();
        let bound = usize::from(settings.ranks) * usize::from(settings.window_packets)
            + self.link.capabilities().frames;
        i9_bounded("the queue of delivered packets", self.pending.len(), bound);
        Ok(any)
    }

    /// Takes the packets that wait for the host out of their senders' memory. For a host that can
    /// neither process them now nor go on: the senders may be in the same place.
    pub fn detach_pending(&mut self) {
        for delivery in self.pending.iter_mut().filter(|delivery| delivery.is_alone()) {
            delivery.buffer = self.link.detach(delivery.buffer, delivery.size);
        }
    }

    /// Takes one packet from the network, if there is one, and gives it to the NI.
    #[inline]
    fn receive(&mut self) -> Result<bool> {
        let Some(Received { header, payload }) = self.link.receive()? else { return Ok(false) };
        let body = match (header.tag, payload) {
            (Tag::FaRequest, Payload::Words([variable, amount])) => {
                Body::FetchAdd { variable: u16::try_from(variable).unwrap_or(u16::MAX), amount }
            }
            (Tag::FaReply, Payload::Words([value, _])) => Body::Fetched(value),
            (_, Payload::Buffer(buffer)) => Body::Buffer(buffer),
            _ => Body::Empty,
        };
        let (ni, out) = split!(self);
        if let Err(violation) = ni.received(&header, body, out) {
            // The NI took nothing, so what the packet filled is free again.
            if let Payload::Buffer(buffer) = payload {
                self.link.free(buffer);
            }
            return Err(violation.into());
        }
        Ok(true)
    }
}
