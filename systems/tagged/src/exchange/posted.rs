//! Receives of which the network reads the bytes where they belong.

use super::{Answer, Exchange, Gives, Receive, ReceiveKey};
use crate::format::{Packet, more_head, part_head};
use crate::network::{Network, Sink, Source};
use slotmap::Key;
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

/// A receive that is to be posted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Posting {
    pub key: ReceiveKey,
    pub begins: Begins,
}

/// Way in which the bytes of such a receive come.
#[derive(Clone, Copy, Debug)]
pub(super) enum Begins {
    /// By further packets of the message with this number.
    Unasked(u64),
    /// Once the request with this number is granted.
    Granted(u64),
}

impl<S: Source, D: Sink> Exchange<S, D> {
    /// Posts messages that were received while they came, and those that are granted: their answers
    /// leave after that.
    pub(super) fn post_waiting<N: Network>(&mut self, network: &mut N) {
        for Posting { key, begins } in self.posting.drain(..) {
            let Some(receive) = self.receives.get_mut(key) else { continue };
            let number = match begins {
                Begins::Granted(number) => number,
                Begins::Unasked(number) => {
                    receive.post(network, more_head(number));
                    continue;
                }
            };
            let (own, length) = (key.data().as_ffi(), receive.expected);
            let zero_copy = receive.post_granted(network, part_head(own));
            if zero_copy {
                self.zero_copy.push_back(key);
            }
            let head = Packet::Grant { number, own, length, zero_copy }.head();
            let to = receive.envelope.source.rank;
            self.answers.push_back(Answer { to, head, gives: Gives::Request });
        }
    }

    /// True if messages are to come without a copy: of those no packet tells.
    #[inline]
    pub fn awaits_zero_copy(&self) -> bool {
        !self.zero_copy.is_empty()
    }

    /// True if messages are to come without a copy, or may have left so and not be gone.
    pub fn may_carry(&self) -> bool {
        self.awaits_zero_copy() || !self.lent.is_empty()
    }

    /// Ends receives of messages that have come without a copy. True if there were any.
    pub(super) fn end_zero_copy<N: Network>(&mut self, network: &mut N) -> bool {
        let before = self.zero_copy.len();
        for _ in 0..before {
            let Some(key) = self.zero_copy.pop_front() else { break };
            let Some(receive) = self.receives.get_mut(key) else { continue };
            // Its parts may come all the same.
            let Posted::ZeroCopy(head) = receive.posted else { continue };
            if network.posted(receive.envelope.source.rank, &head) < receive.expected {
                self.zero_copy.push_back(key);
                continue;
            }
            receive.received = receive.expected;
            receive.end_posting(network);
            self.end_receive(key);
        }
        self.zero_copy.len() < before
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

    /// Posts a message that is granted. True if it comes without a copy, if the network does that.
    fn post_granted<N: Network>(&mut self, network: &mut N, head: PostedHead) -> bool {
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
    pub(super) fn take<N: Network>(&mut self, network: &mut N, bytes: &[u8], end: u64) {
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
    fn end_posting<N: Network>(&mut self, network: &mut N) {
        if let Posted::Now(head) | Posted::ZeroCopy(head) = self.posted {
            self.posted = Posted::Until(network.unpost(self.envelope.source.rank, &head));
        }
    }
}
