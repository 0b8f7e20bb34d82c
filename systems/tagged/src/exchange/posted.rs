//! Receives of which the network reads the bytes where they belong.

use super::{Exchange, Receive, ReceiveKey};
use crate::format::more_head;
use crate::network::{Network, Sink, Source};
use weft_endpoint::PostedHead;

/// Bytes that are to come from which on they are posted: fewer are copied as fast.
const POSTED_FROM: u64 = 64 * 1024;

/// The network's share in placing the bytes of a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Posted {
    /// It reads those of packets that begin like this where they belong.
    Now(PostedHead),
    /// It does not, or no more: so many bytes are there.
    Until(u64),
}

impl Posted {
    pub const NEVER: Self = Posted::Until(0);
}

impl<S: Source, D: Sink> Exchange<S, D> {
    /// Posts messages whose answers leave now, and those that were received while they came.
    pub(super) fn post_waiting<N: Network>(&mut self, network: &mut N) {
        for (key, head) in self.posting.drain(..) {
            if let Some(receive) = self.receives.get_mut(key) {
                receive.post(network, head);
            }
        }
    }

    /// Posts a message that has begun to come, with this number.
    pub(super) fn post_begun<N: Network>(&mut self, network: &mut N, key: ReceiveKey, number: u64) {
        if let Some(receive) = self.receives.get_mut(key) {
            receive.post(network, more_head(number));
        }
    }

    /// Has the network write into no receive any more: nothing is taken from it from here on.
    pub fn call_off<N: Network>(&mut self, network: &mut N) {
        self.receives.values_mut().for_each(|receive| receive.end_posting(network));
    }
}

impl<D: Sink> Receive<D> {
    fn post<N: Network>(&mut self, network: &mut N, head: PostedHead) {
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

    /// Takes the next bytes of a message, up to `end`. Where the network has read them where they
    /// belong, the packet need not have them.
    pub(super) fn take<N: Network>(&mut self, network: &mut N, bytes: &[u8], end: u64) {
        let there = match &self.posted {
            Posted::Now(head) => network.posted(self.envelope.source.rank, head),
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
    fn end_posting<N: Network>(&mut self, network: &mut N) {
        if let Posted::Now(head) = self.posted {
            self.posted = Posted::Until(network.unpost(self.envelope.source.rank, &head));
        }
    }
}
