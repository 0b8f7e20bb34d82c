//! Ends: of sends and receives, of an endpoint, and of this rank's part or another one's.

use super::{Event, Exchange, Gives, Receive, ReceiveKey, Send, SendKey, Until};
use crate::format::Packet;
use crate::matching::Matcher;
use crate::network::{Sink, Source};
use weft_endpoint::Rank;

impl<S: Source, D: Sink> Exchange<S, D> {
    /// Nothing is received at an endpoint any more: takes back its posted receives, and drops the
    /// messages for it that are here and those that come, until it is [opened](Self::open). Their
    /// senders are answered as if they had been received. What has begun goes on.
    pub fn close(&mut self, endpoint: u8) -> Vec<D> {
        self.closed.insert(endpoint);
        let matchers = &mut self.matchers[usize::from(endpoint)];
        let unexpected: Vec<_> = matchers.iter_mut().flat_map(Matcher::clear_unexpected).collect();
        let posted = matchers.iter_mut().flat_map(Matcher::clear_posted).collect();
        let keys = self.claimed.range((endpoint, 0)..=(endpoint, u64::MAX)).map(|(key, _)| *key);
        let keys: Vec<_> = keys.collect();
        let claimed: Vec<_> = keys.iter().filter_map(|key| self.claimed.remove(key)).collect();
        for (envelope, key) in unexpected.into_iter().chain(claimed) {
            self.discard_stored(&envelope, key);
        }
        posted
    }

    /// Has what comes for an endpoint from now on wait there for its receive, as at all those that
    /// were never closed.
    pub fn open(&mut self, endpoint: u8) {
        self.closed.remove(&endpoint);
    }

    /// True if nothing is received at this endpoint any more.
    pub(super) fn is_closed(&self, endpoint: u8) -> bool {
        self.closed.contains(&endpoint)
    }

    /// True if sends and receives of an endpoint go on that have begun: they use the program's
    /// memory.
    pub fn is_busy(&self, endpoint: u8) -> bool {
        self.unended[usize::from(endpoint)] > 0
    }

    /// True if everything that was begun here has been sent: sends that wait for their receivers
    /// have not.
    pub fn is_idle(&self) -> bool {
        self.answers.is_empty()
            && self.posting.is_empty()
            && self.leaving.is_empty()
            && self.sends.is_empty()
            && self.fetching.is_empty()
    }

    /// This rank leaves the job: says so to `others`, but for those that have left before. To be
    /// called when everything that was begun has ended.
    pub fn leave(&mut self, others: impl IntoIterator<Item = Rank>) {
        for other in others {
            if other != self.rank && !self.has_left(other) {
                self.answer(other, Packet::Left, Gives::Nothing);
            }
        }
    }

    /// True if it is known of a rank that it has left the job.
    pub fn has_left(&self, rank: Rank) -> bool {
        self.peers[rank.index()].has_left
    }

    /// Ends all sends to a rank that has left the job, because nobody receives them, and drops what
    /// it was to hear.
    pub fn give_up(&mut self, on: Rank) {
        if std::mem::replace(&mut self.peers[on.index()].has_left, true) {
            return;
        }
        self.answers.retain(|answer| answer.to != on);
        self.end_leaving(on);
        let is_over = |send: &Send<S>| send.to == on && send.waits != Until::Back;
        let over = self.sends.iter().filter(|(_, send)| is_over(send));
        for key in over.map(|(key, _)| key).collect::<Vec<_>>() {
            self.end_sent(key);
        }
    }

    /// Ends the message that goes to a rank in several packets, if there is one, or has it wait for
    /// its bytes.
    pub(super) fn end_leaving(&mut self, to: Rank) {
        let Some(leaving) = self.peers[to.index()].leaving.take() else { return };
        self.unended[usize::from(leaving.from)] -= 1;
        match leaving.is_lent {
            true => self.wait_for_lent(to, leaving),
            false => self.events.push_back(Event::Sent(leaving.source)),
        }
    }

    pub(super) fn insert_send(&mut self, send: Send<S>) -> SendKey {
        self.unended[usize::from(send.from)] += 1;
        self.peers[send.to.index()].sending += 1;
        self.sends.insert(send)
    }

    pub(super) fn remove_send(&mut self, key: SendKey) -> Option<Send<S>> {
        let send = self.sends.remove(key)?;
        self.unended[usize::from(send.from)] -= 1;
        self.peers[send.to.index()].sending -= 1;
        Some(send)
    }

    pub(super) fn insert_receive(&mut self, receive: Receive<D>) -> ReceiveKey {
        self.unended[usize::from(receive.to)] += 1;
        self.peers[receive.envelope.source.rank.index()].coming += 1;
        self.receives.insert(receive)
    }

    pub(super) fn remove_receive(&mut self, key: ReceiveKey) -> Option<Receive<D>> {
        let receive = self.receives.remove(key)?;
        self.unended[usize::from(receive.to)] -= 1;
        self.peers[receive.envelope.source.rank.index()].coming -= 1;
        Some(receive)
    }
}
