//! Receives whose parts the network reads where they belong.

use super::{Exchange, Receive};
use crate::format::part_head;
use crate::network::{Network, Sink, Source};
use slotmap::Key;

/// Bytes of a message from which on it is posted: a part or two are copied as fast.
const POSTED_FROM: u64 = 64 * 1024;

/// The network's share in placing the parts of a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum PartsPosted {
    /// It reads them where they belong.
    Now,
    /// It does not, or no more: so many bytes are there.
    Until(u64),
}

impl PartsPosted {
    pub const NEVER: Self = PartsPosted::Until(0);
}

impl<S: Source, D: Sink> Exchange<S, D> {
    /// Has the network place messages whose answers leave now, if they are worth it.
    pub(super) fn post_granted<N: Network>(&mut self, network: &mut N) {
        for key in self.granting.drain(..) {
            let Some(receive) = self.receives.get_mut(key) else { continue };
            let (from, head) = (receive.envelope.source.rank, part_head(key.data().as_ffi()));
            let length = receive.expected as usize;
            if receive.expected >= POSTED_FROM
                && from != self.rank
                && network.post(from, &head, &mut receive.into, length)
            {
                receive.posted = PartsPosted::Now;
            }
        }
    }

    /// Has the network write into no receive any more: nothing is taken from it from here on.
    pub fn call_off<N: Network>(&mut self, network: &mut N) {
        for (key, receive) in &mut self.receives {
            receive.end_posting(network, key.data().as_ffi());
        }
    }
}

impl<D: Sink> Receive<D> {
    /// Bytes that the network has read where they belong.
    pub(super) fn bytes_there<N: Network>(&self, network: &mut N, own: u64) -> u64 {
        match self.posted {
            PartsPosted::Now => network.posted(self.envelope.source.rank, &part_head(own)),
            PartsPosted::Until(there) => there,
        }
    }

    /// Has the network write no more of it. What it has read before counts still, because packets
    /// that it was read from may be on their way here.
    pub(super) fn end_posting<N: Network>(&mut self, network: &mut N, own: u64) {
        if self.posted == PartsPosted::Now {
            let there = network.unpost(self.envelope.source.rank, &part_head(own));
            self.posted = PartsPosted::Until(there);
        }
    }
}
