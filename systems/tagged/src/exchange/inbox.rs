//! Posted receives, and messages that came before theirs, of all endpoints of a rank.

use super::sends::SendKey;
use crate::Tagging;
use crate::matching::{Matcher, MessageEnvelope, ReceivePattern};
use crate::network::Sink;
use slotmap::{SlotMap, new_key_type};
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZero;

new_key_type! {
    pub(super) struct StoredKey;
}

/// The matchers of all endpoints that there may be, two of each. All are there from the start, so
/// that any number that a peer names has its own.
type Matchers<D> = Box<[[Matcher<D, StoredKey>; 2]; 1 << u8::BITS]>;

/// Receives without messages, and messages without receives.
#[derive(Debug)]
pub(super) struct Inbox<D> {
    /// By endpoint; of each for tagged messages, then for untagged ones.
    matchers: Matchers<D>,
    stored: SlotMap<StoredKey, Stored>,
    /// Messages that were claimed, by what their claimers call them.
    claimed: BTreeMap<(u8, u64), (MessageEnvelope, StoredKey)>,
    /// Endpoints that are closed: what comes for them nobody receives.
    closed: BTreeSet<u8>,
}

/// An unexpected message.
#[derive(Debug)]
pub(super) enum Stored {
    /// These bytes have come, all of them or some; what the sender wants to hear when they are
    /// placed.
    Bytes { bytes: Vec<u8>, registered: Option<NonZero<u64>> },
    /// Its sender asked.
    Rendezvous(RendezvousRequest),
    /// It is this rank's own.
    Own(SendKey),
}

/// A request of a sender.
#[derive(Clone, Copy, Debug)]
pub(super) struct RendezvousRequest {
    pub number: u64,
    /// Address of its bytes in its process, if they can be fetched.
    pub lies_at: Option<NonZero<u64>>,
    pub wants_done: bool,
}

impl<D: Sink> Inbox<D> {
    pub fn new() -> Self {
        Inbox {
            matchers: Box::new(std::array::from_fn(|_| Default::default())),
            stored: SlotMap::with_key(),
            claimed: BTreeMap::new(),
            closed: BTreeSet::new(),
        }
    }

    #[inline(always)]
    pub fn matcher(&mut self, endpoint: u8, kind: Tagging) -> &mut Matcher<D, StoredKey> {
        &mut self.matchers[usize::from(endpoint)][usize::from(kind == Tagging::Untagged)]
    }

    /// The receive that was posted for this message.
    pub fn wanted(&mut self, to: u8, envelope: &MessageEnvelope) -> Option<D> {
        let matcher = self.matcher(to, envelope.kind);
        let (position, into) = matcher.find_posted(envelope)?;
        match into.split(envelope.length) {
            None => matcher.take_posted(position),
            Some((part, is_last)) => {
                if is_last {
                    matcher.drop_posted(position);
                }
                Some(part)
            }
        }
    }

    /// Stores a message that no receive wants.
    pub fn store(&mut self, to: u8, envelope: MessageEnvelope, stored: Stored) -> StoredKey {
        let key = self.stored.insert(stored);
        self.matcher(to, envelope.kind).store(envelope, key);
        key
    }

    /// Stores more bytes of a message.
    pub fn append(&mut self, key: StoredKey, more: &[u8]) {
        if let Some(Stored::Bytes { bytes, .. }) = self.stored.get_mut(key) {
            bytes.extend_from_slice(more);
        }
    }

    /// Takes what is stored of a message.
    pub fn take(&mut self, key: StoredKey) -> Option<Stored> {
        self.stored.remove(key)
    }

    /// The first message that such a receive would get; it stays where it is.
    pub fn peek(
        &mut self,
        endpoint: u8,
        kind: Tagging,
        pattern: &ReceivePattern,
    ) -> Option<MessageEnvelope> {
        let matcher = self.matcher(endpoint, kind);
        let position = matcher.find_unexpected(pattern)?;
        matcher.unexpected(position).copied()
    }

    /// Does what [`Self::peek`] does, and takes the message.
    pub fn take_first(
        &mut self,
        endpoint: u8,
        kind: Tagging,
        pattern: &ReceivePattern,
    ) -> Option<(MessageEnvelope, StoredKey)> {
        let matcher = self.matcher(endpoint, kind);
        let position = matcher.find_unexpected(pattern)?;
        matcher.take_unexpected(position)
    }

    /// Puts a message by under this number, which is of no message claimed already.
    pub fn claim(&mut self, endpoint: u8, number: u64, message: (MessageEnvelope, StoredKey)) {
        self.claimed.insert((endpoint, number), message);
    }

    pub fn has_claimed(&self, endpoint: u8, number: u64) -> bool {
        self.claimed.contains_key(&(endpoint, number))
    }

    pub fn take_claimed(
        &mut self,
        endpoint: u8,
        number: u64,
    ) -> Option<(MessageEnvelope, StoredKey)> {
        self.claimed.remove(&(endpoint, number))
    }

    /// Takes the first posted receive of which `is_it` says so.
    pub fn cancel(&mut self, endpoint: u8, is_it: impl Fn(&D) -> bool) -> Option<D> {
        self.matchers[usize::from(endpoint)].iter_mut().find_map(|matcher| matcher.cancel(&is_it))
    }

    /// Closes an endpoint. Returns its posted receives, and the messages that are here for it.
    pub fn close(&mut self, endpoint: u8) -> (Vec<D>, Vec<(MessageEnvelope, StoredKey)>) {
        self.closed.insert(endpoint);
        let matchers = &mut self.matchers[usize::from(endpoint)];
        let unexpected: Vec<_> = matchers.iter_mut().flat_map(Matcher::clear_unexpected).collect();
        let posted = matchers.iter_mut().flat_map(Matcher::clear_posted).collect();
        let keys = self.claimed.range((endpoint, 0)..=(endpoint, u64::MAX)).map(|(key, _)| *key);
        let keys: Vec<_> = keys.collect();
        let claimed = keys.iter().filter_map(|key| self.claimed.remove(key));
        let messages = unexpected.into_iter().chain(claimed).collect();
        (posted, messages)
    }

    pub fn open(&mut self, endpoint: u8) {
        self.closed.remove(&endpoint);
    }

    /// True if nothing is received at this endpoint any more.
    pub fn is_closed(&self, endpoint: u8) -> bool {
        self.closed.contains(&endpoint)
    }

    /// Messages that are here.
    #[inline(always)]
    pub fn count(&self) -> usize {
        self.stored.len()
    }

    /// Bytes that are stored of them.
    pub fn bytes(&self) -> usize {
        let bytes = |stored: &Stored| match stored {
            Stored::Bytes { bytes, .. } => bytes.len(),
            _ => 0,
        };
        self.stored.values().map(bytes).sum()
    }

    /// The matchers of all endpoints.
    pub fn matchers(&self) -> impl Iterator<Item = &Matcher<D, StoredKey>> {
        self.matchers.iter().flatten()
    }
}
