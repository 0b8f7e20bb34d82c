//! Posted receives and unexpected messages, in order.
//!
//! Both queues are in the order of posting and of arrival, and both are searched from the front: so
//! of two messages of one sender that a receive wants, the first is taken, and of two receives that
//! want a message, the first gets it (MPI 3.5, "non-overtaking"). A message is in one of the queues
//! only if nothing in the other wants it.
//!
//! Where a queue is long, an index says where what matches stands (`matching/index.rs`), so that
//! nobody looks through it.
//!
//! A caller first finds a receive, and then takes it: a receive into which more messages
//! fit stays where it is.

mod index;
mod line;

use crate::{Address, Tagging};
use index::Indexes;
use line::Line;

/// Facts about a message by which it is matched.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MessageEnvelope {
    /// Tagged or not.
    pub kind: Tagging,
    /// Its sender.
    pub source: Address,
    /// Its tag; 0 if it has none.
    pub tag: u64,
    /// Its sender's data, beside the bytes.
    pub data: Option<u64>,
    /// Its bytes.
    pub length: u64,
}

/// Pattern of the messages that a receive wants.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReceivePattern {
    /// From whom; `None` for anybody.
    pub source: Option<Address>,
    /// With which tag.
    pub tag: u64,
    /// Bits of the tag that make no difference.
    pub ignore: u64,
}

impl ReceivePattern {
    /// True if it wants this message.
    #[inline]
    pub fn wants(&self, envelope: &MessageEnvelope) -> bool {
        (self.tag ^ envelope.tag) & !self.ignore == 0
            && self.source.is_none_or(|source| source == envelope.source)
    }
}

/// Position of an entry of a queue, until that queue is changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Position(u64);

/// The receives `R` and the messages `M` of one kind at one endpoint.
#[derive(Debug)]
pub struct Matcher<R, M> {
    posted: Line<(ReceivePattern, R)>,
    /// Of all posted receives, or of none.
    posted_by: Indexes,
    unexpected: Line<(MessageEnvelope, M)>,
    /// Of all unexpected messages, for each shape of receives that have asked.
    unexpected_by: Indexes,
}

/// A longer queue has an index.
const MANY: usize = 64;

impl<R, M> Default for Matcher<R, M> {
    fn default() -> Self {
        Matcher {
            posted: Line::default(),
            posted_by: Indexes::default(),
            unexpected: Line::default(),
            unexpected_by: Indexes::default(),
        }
    }
}

impl<R, M> Matcher<R, M> {
    /// The first posted receive, where it lies. A caller that takes it calls
    /// [`Self::first_posted_left`].
    #[inline(always)]
    pub fn first_posted(&mut self) -> Option<&mut Option<(ReceivePattern, R)>> {
        self.posted.first_mut()
    }

    /// The first posted receive has left.
    #[inline(always)]
    pub fn first_posted_left(&mut self) {
        self.posted.first_left();
        if self.posted.has_gaps() || !self.posted_by.is_empty() {
            self.posted_left();
        }
    }

    /// The first receive that wants this message, where it lies.
    pub fn find_posted(&mut self, envelope: &MessageEnvelope) -> Option<(Position, &mut R)> {
        let number = if self.posted_by.is_empty() {
            self.posted.numbered().find(|(_, it)| it.0.wants(envelope))?.0
        } else {
            self.posted_by.first_that_wants(envelope, &self.posted)?
        };
        let (_, receive) = self.posted.get_mut(number)?;
        Some((Position(number), receive))
    }

    /// Takes the receive that was found.
    pub fn take_posted(&mut self, position: Position) -> Option<R> {
        let (_, taken) = self.posted.take(position.0)?;
        self.posted_left();
        Some(taken)
    }

    /// Drops the receive that was found.
    pub fn drop_posted(&mut self, position: Position) {
        drop(self.take_posted(position));
    }

    /// A receive has left.
    #[inline(never)]
    fn posted_left(&mut self) {
        if self.posted.close_gaps() || self.posted.count() == 0 {
            self.posted_by.renew(&self.posted);
        }
    }

    /// True if there is any message.
    #[inline(always)]
    pub fn has_unexpected(&self) -> bool {
        !self.unexpected.is_empty()
    }

    /// The first message that the receive wants.
    pub fn find_unexpected(&mut self, pattern: &ReceivePattern) -> Option<Position> {
        let found = if self.unexpected.count() <= MANY {
            self.unexpected.numbered().find(|(_, it)| pattern.wants(&it.0)).map(|it| it.0)
        } else {
            self.unexpected_by.first_wanted(pattern, &self.unexpected)
        };
        found.map(Position)
    }

    /// Envelope of the message that was found.
    #[inline]
    pub fn unexpected(&self, Position(position): Position) -> Option<&MessageEnvelope> {
        self.unexpected.get(position).map(|(envelope, _)| envelope)
    }

    /// Takes the message that was found.
    #[inline]
    pub fn take_unexpected(&mut self, position: Position) -> Option<(MessageEnvelope, M)> {
        let taken = self.unexpected.take(position.0);
        if self.unexpected.close_gaps() || self.unexpected.count() == 0 {
            self.unexpected_by.clear();
        }
        taken
    }

    /// Posts a receive. It wants none of the messages that are here, or is [taken
    /// back](Self::take_back) at once.
    #[inline(always)]
    pub fn post(&mut self, pattern: ReceivePattern, receive: R) -> Position {
        let number = self.posted.push((pattern, receive));
        if self.posted.count() > MANY || !self.posted_by.is_empty() {
            self.index_posted(number);
        }
        Position(number)
    }

    /// Takes back the receive that was posted last.
    pub fn take_back(&mut self, position: Position) -> Option<(ReceivePattern, R)> {
        if self.posted_by.is_empty() {
            return self.posted.pop();
        }
        let taken = self.posted.take(position.0);
        self.posted_left();
        taken
    }

    #[inline(never)]
    fn index_posted(&mut self, number: u64) {
        if let Some((pattern, _)) = self.posted.get(number) {
            self.posted_by.post(pattern, number, &self.posted);
        }
    }

    /// Stores a message that no posted receive wants.
    #[inline]
    pub fn store(&mut self, envelope: MessageEnvelope, message: M) {
        let number = self.unexpected.push((envelope, message));
        if !self.unexpected_by.is_empty() {
            self.unexpected_by.store(&envelope, number, self.unexpected.count());
        }
    }

    /// Takes the first posted receive of which `is_it` says so.
    pub fn cancel(&mut self, is_it: impl Fn(&R) -> bool) -> Option<R> {
        let (number, _) = self.posted.numbered().find(|(_, it)| is_it(&it.1))?;
        self.take_posted(Position(number))
    }

    /// Takes all posted receives.
    pub fn clear_posted(&mut self) -> impl Iterator<Item = R> + use<R, M> {
        self.posted_by.clear();
        std::mem::take(&mut self.posted).into_members().map(|(_, receive)| receive)
    }

    /// Takes all unexpected messages.
    pub fn clear_unexpected(&mut self) -> impl Iterator<Item = (MessageEnvelope, M)> + use<R, M> {
        self.unexpected_by.clear();
        std::mem::take(&mut self.unexpected).into_members()
    }

    /// Patterns of the receives that are posted, in order.
    pub fn posted(&self) -> impl Iterator<Item = &ReceivePattern> {
        self.posted.numbered().map(|(_, (pattern, _))| pattern)
    }

    /// Envelopes of the messages that are unexpected, in order.
    pub fn unexpected_messages(&self) -> impl Iterator<Item = &MessageEnvelope> {
        self.unexpected.numbered().map(|(_, (envelope, _))| envelope)
    }

    /// Number of receives that are posted.
    pub fn posted_count(&self) -> usize {
        self.posted.count()
    }

    /// Number of messages that are unexpected.
    pub fn unexpected_count(&self) -> usize {
        self.unexpected.count()
    }
}

#[cfg(test)]
mod tests;
