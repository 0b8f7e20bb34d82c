//! A receive whose message comes: the network may read the bytes where they belong.

use super::inbox::RendezvousRequest;
use crate::matching::MessageEnvelope;
use crate::network::{Sink, TaggedNetwork};
use std::num::NonZero;
use weft_endpoint::PostedHead;

/// Bytes that are to come from which on they are posted: fewer are copied as fast.
const POSTED_FROM: u64 = 64 * 1024;

/// The network's share in placing the bytes of a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Posted {
    /// It reads those of packets that begin like this where they belong.
    Now(PostedHead),
    /// All of them come at once, under this head.
    ZeroCopy(PostedHead),
    /// It does not, or no more: so many bytes are there.
    Until(u64),
}

impl Posted {
    pub const NEVER: Self = Posted::Until(0);
}

/// A receive whose message is not all here.
#[derive(Debug)]
pub(super) struct Receive<D> {
    /// The endpoint.
    pub to: u8,
    pub into: D,
    pub envelope: MessageEnvelope,
    /// Bytes that come.
    pub expected: u64,
    pub received: u64,
    /// The network's share in placing its bytes.
    pub posted: Posted,
    /// The sender's request, if there was one: it is answered at the end.
    pub asked: Option<RendezvousRequest>,
    /// Address of its bytes in the sender's process, if they are fetched.
    pub fetched_from: Option<NonZero<u64>>,
}

impl<D: Sink> Receive<D> {
    /// The receive of a message that nobody asked for, of which `received` bytes are there.
    pub fn unasked(to: u8, into: D, envelope: MessageEnvelope, received: u64) -> Self {
        let (expected, posted) = (envelope.length, Posted::NEVER);
        let (asked, fetched_from) = (None, None);
        Receive { to, into, envelope, expected, received, posted, asked, fetched_from }
    }

    pub fn post<N: TaggedNetwork>(&mut self, network: &mut N, head: PostedHead) {
        let Receive { envelope, into, expected, received, .. } = self;
        if *expected - *received >= POSTED_FROM
            && *expected <= into.capacity()
            && network.post(
                envelope.source.rank,
                &head,
                into,
                *received as usize..*expected as usize,
            )
        {
            self.posted = Posted::Now(head);
        }
    }

    /// Posts a message that is granted. True if it comes without a copy, if the network does that.
    pub fn post_granted<N: TaggedNetwork>(&mut self, network: &mut N, head: PostedHead) -> bool {
        let Receive { envelope, into, expected, .. } = self;
        let zero_copy = *expected >= POSTED_FROM
            && *expected <= into.capacity()
            && network.post_zero_copy(envelope.source.rank, &head, into, *expected as usize);
        match zero_copy {
            true => self.posted = Posted::ZeroCopy(head),
            false => self.post(network, head),
        }
        zero_copy
    }

    /// Takes the next bytes of a message, up to `end`. Where the network has read them where they
    /// belong, the packet need not have them.
    pub fn take<N: TaggedNetwork>(&mut self, network: &mut N, bytes: &[u8], end: u64) {
        let there = match &self.posted {
            Posted::Now(head) | Posted::ZeroCopy(head) => {
                network.posted(self.envelope.source.rank, head)
            }
            Posted::Until(there) => *there,
        };
        if there < end {
            self.end_posting(network);
            self.into.place(self.received, bytes);
        }
        self.received = end;
        if end == self.expected {
            self.end_posting(network);
        }
    }

    /// Has the network write no more of it. What it has read before counts still, because packets
    /// that it was read from may be on their way here.
    pub fn end_posting<N: TaggedNetwork>(&mut self, network: &mut N) {
        if let Posted::Now(head) | Posted::ZeroCopy(head) = self.posted {
            self.posted = Posted::Until(network.unpost(self.envelope.source.rank, &head));
        }
    }
}
