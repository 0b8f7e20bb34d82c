//! Messages that their receiver copies out of the memory of their sender.
//!
//! Where a link can do that ([`Network::fetch`]) a long message takes one copy in place of two, one
//! system call for each piece, and nothing of its sender but the wait. A receive whose bytes cannot
//! be fetched, at any place of them, is granted in the ordinary way from the first byte on, and
//! nothing is fetched from that peer again.

use super::posted::{Begins, Posting};
use super::{Asked, Exchange, ReceiveKey};
use crate::network::{Network, Sink, Source};

/// Bytes that are fetched before the next look at what has arrived: some 20 microseconds.
const AT_ONCE: u64 = 256 * 1024;

impl<S: Source, D: Sink> Exchange<S, D> {
    /// Fetches some of the messages that are fetched, in turn. True if there are any.
    pub(super) fn fetch<N: Network>(&mut self, network: &mut N) -> bool {
        let mut left = AT_ONCE;
        let any = !self.fetching.is_empty();
        while left > 0
            && let Some(key) = self.fetching.pop_front()
        {
            left -= self.fetch_piece(network, key, left);
        }
        any
    }

    /// Fetches up to `most` bytes. How many it were.
    fn fetch_piece<N: Network>(&mut self, network: &mut N, key: ReceiveKey, most: u64) -> u64 {
        let Some(receive) = self.receives.get_mut(key) else { return 0 };
        let Some(start) = receive.fetched_from else { return 0 };
        let from = receive.envelope.source.rank;
        let length = most.min(receive.expected - receive.received);
        let address = start.get() + receive.received;
        let room = receive.into.room(receive.received, length as usize);
        if !room.is_some_and(|room| network.fetch(from, address, room)) {
            self.grant_instead(key);
            return 0;
        }
        receive.received += length;
        if receive.received == receive.expected {
            self.end_receive(key);
        } else {
            self.fetching.push_back(key);
        }
        length
    }

    /// The bytes cannot be fetched: they are sent.
    fn grant_instead(&mut self, key: ReceiveKey) {
        let Some(receive) = self.receives.get_mut(key) else { return };
        (receive.received, receive.fetched_from) = (0, None);
        let from = receive.envelope.source.rank;
        self.peers[from.index()].is_unfetchable = true;
        if let Some(Asked { number, .. }) = receive.asked {
            self.posting.push(Posting { key, begins: Begins::Granted(number) });
        }
    }
}
