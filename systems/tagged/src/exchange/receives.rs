//! Receives whose messages come: in packets, or by being fetched or posted.
//!
//! Where a link can do that ([`TaggedNetwork::fetch`]) a long message takes one copy in place of
//! two, one system call for each piece, and nothing of its sender but the wait. A receive whose
//! bytes cannot be fetched, at any place of them, is granted in the ordinary way from the first
//! byte on, and nothing is fetched from that peer again.

use super::posted::{Posted, Receive};
use crate::format::{Head, TaggedPacket, more_head, part_head};
use crate::network::{Sink, TaggedNetwork};
use slotmap::{Key, KeyData, SlotMap, new_key_type};
use std::collections::VecDeque;
use weft_endpoint::Rank;

new_key_type! {
    pub(super) struct ReceiveKey;
}

/// The receives of a rank that have a message and not all of it.
#[derive(Debug)]
pub(super) struct Receives<D> {
    pub all: SlotMap<ReceiveKey, Receive<D>>,
    peers: Vec<Peer>,
    /// Those of each endpoint.
    unended: Box<[u32; 1 << u8::BITS]>,
    /// Those that are to be posted, before anything leaves.
    posting: Vec<(ReceiveKey, Begins)>,
    /// Those of messages that come without a copy.
    zero_copy: VecDeque<ReceiveKey>,
    /// Those whose bytes are fetched.
    fetching: VecDeque<ReceiveKey>,
}

/// State about one sender.
#[derive(Clone, Debug, Default)]
struct Peer {
    /// Receives of its messages.
    coming: u32,
    /// True if a fetch from it has failed.
    is_unfetchable: bool,
}

/// Way in which the bytes of a receive come that is to be posted.
#[derive(Clone, Copy, Debug)]
enum Begins {
    /// By further packets of the message with this number.
    Unasked(u64),
    /// Once the request with this number is granted.
    Granted(u64),
}

impl<D: Sink> Receives<D> {
    /// Those of a rank in a job of `ranks`.
    pub fn new(ranks: usize) -> Self {
        Receives {
            all: SlotMap::with_key(),
            peers: vec![Peer::default(); ranks],
            unended: Box::new([0; 1 << u8::BITS]),
            posting: Vec::new(),
            zero_copy: VecDeque::new(),
            fetching: VecDeque::new(),
        }
    }

    fn insert(&mut self, receive: Receive<D>) -> ReceiveKey {
        self.unended[usize::from(receive.to)] += 1;
        self.peers[receive.envelope.source.rank.index()].coming += 1;
        self.all.insert(receive)
    }

    pub fn remove(&mut self, key: ReceiveKey) -> Option<Receive<D>> {
        let receive = self.all.remove(key)?;
        self.unended[usize::from(receive.to)] -= 1;
        self.peers[receive.envelope.source.rank.index()].coming -= 1;
        Some(receive)
    }

    pub fn is_busy(&self, endpoint: u8) -> bool {
        self.unended[usize::from(endpoint)] > 0
    }

    /// The number of those that go on from each rank.
    pub fn coming(&self) -> impl Iterator<Item = u32> {
        self.peers.iter().map(|peer| peer.coming)
    }

    /// Begins one whose message began to come, with this number, and goes on to.
    pub fn begin<N: TaggedNetwork>(
        &mut self,
        network: &mut N,
        mut receive: Receive<D>,
        number: u64,
    ) -> ReceiveKey {
        receive.post(network, more_head(number));
        self.insert(receive)
    }

    /// Begins one whose message was stored until here, and goes on to come under this number.
    pub fn begin_later(&mut self, receive: Receive<D>, number: u64) -> ReceiveKey {
        let key = self.insert(receive);
        self.posting.push((key, Begins::Unasked(number)));
        key
    }

    /// Begins one that was asked for: fetches its bytes, if they can be fetched, or has its answer
    /// leave.
    pub fn begin_asked(&mut self, mut receive: Receive<D>) {
        let Some(asked) = receive.asked else { return };
        let is_unfetchable = self.peers[receive.envelope.source.rank.index()].is_unfetchable;
        let length = receive.expected as usize;
        let can_fetch = !is_unfetchable && receive.into.room(0, length).is_some();
        receive.fetched_from = asked.lies_at.filter(|_| can_fetch);
        let fetches = receive.fetched_from.is_some();
        let key = self.insert(receive);
        match fetches {
            true => self.fetching.push_back(key),
            false => self.posting.push((key, Begins::Granted(asked.number))),
        }
    }

    /// The one to which a part goes that `from` sends under this number.
    pub fn granted(&mut self, from: Rank, number: u64) -> Option<(ReceiveKey, &mut Receive<D>)> {
        let key: ReceiveKey = KeyData::from_ffi(number).into();
        let receive = self.all.get_mut(key)?;
        let is_its = receive.envelope.source.rank == from
            && receive.asked.is_some()
            && receive.fetched_from.is_none();
        is_its.then_some((key, receive))
    }

    /// Posts messages that were received while they came, and those that are granted: their answers
    /// leave after that, by `grant`.
    pub fn post_waiting<N: TaggedNetwork>(
        &mut self,
        network: &mut N,
        mut grant: impl FnMut(Rank, Head),
    ) {
        for (key, begins) in self.posting.drain(..) {
            let Some(receive) = self.all.get_mut(key) else { continue };
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
            let grant_of = TaggedPacket::Grant { number, own, length, zero_copy };
            grant(receive.envelope.source.rank, grant_of.head());
        }
    }

    /// True if messages are to come without a copy: of those no packet tells.
    #[inline]
    pub fn awaits_zero_copy(&self) -> bool {
        !self.zero_copy.is_empty()
    }

    /// Those of messages that have come without a copy.
    pub fn came_without_copy<N: TaggedNetwork>(&mut self, network: &mut N) -> Vec<ReceiveKey> {
        let mut came = Vec::new();
        for _ in 0..self.zero_copy.len() {
            let Some(key) = self.zero_copy.pop_front() else { break };
            let Some(receive) = self.all.get_mut(key) else { continue };
            // Its parts may come all the same.
            let Posted::ZeroCopy(head) = receive.posted else { continue };
            if network.posted(receive.envelope.source.rank, &head) < receive.expected {
                self.zero_copy.push_back(key);
                continue;
            }
            receive.received = receive.expected;
            receive.end_posting(network);
            came.push(key);
        }
        came
    }

    /// Has the network write into none of them any more: nothing is taken from it from here on.
    pub fn call_off<N: TaggedNetwork>(&mut self, network: &mut N) {
        self.all.values_mut().for_each(|receive| receive.end_posting(network));
    }

    /// More than 0 if some wait to be posted or fetched.
    #[inline]
    pub fn waiting(&self) -> usize {
        self.posting.len() | self.fetching.len()
    }

    /// Fetches up to `most` bytes of the next that is fetched; `None` if there is none. How many it
    /// were, and the receive if it has all.
    pub fn fetch<N: TaggedNetwork>(
        &mut self,
        network: &mut N,
        most: u64,
    ) -> Option<(u64, Option<ReceiveKey>)> {
        let key = self.fetching.pop_front()?;
        let Some(receive) = self.all.get_mut(key) else { return Some((0, None)) };
        let Some(start) = receive.fetched_from else { return Some((0, None)) };
        let from = receive.envelope.source.rank;
        let length = most.min(receive.expected - receive.received);
        let address = start.get() + receive.received;
        let room = receive.into.room(receive.received, length as usize);
        if !room.is_some_and(|room| network.fetch(from, address, room)) {
            // The bytes are sent, then.
            (receive.received, receive.fetched_from) = (0, None);
            self.peers[from.index()].is_unfetchable = true;
            if let Some(asked) = receive.asked {
                self.posting.push((key, Begins::Granted(asked.number)));
            }
            return Some((0, None));
        }
        receive.received += length;
        if receive.received == receive.expected {
            return Some((length, Some(key)));
        }
        self.fetching.push_back(key);
        Some((length, None))
    }
}
