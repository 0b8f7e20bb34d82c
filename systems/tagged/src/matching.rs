//! Posted receives and unexpected messages, in order.
//!
//! Both queues are in the order of posting and of arrival, and both are searched from the front: so of two messages of
//! one sender that a receive wants, the first is taken, and of two receives that want a message, the first gets it (MPI
//! 3.5, "non-overtaking"). A message is in one of the queues only if nothing in the other wants it.
//!
//! Where a queue is long, an index says where what matches stands (`matching/index.rs`), so that nobody looks through it.
//!
//! Whoever uses this finds first, and then takes what was found: a receive into which more messages fit stays where it is.

mod index;

use crate::{Address, Kind};
use index::Indexes;
use std::collections::VecDeque;

/// What is written on a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Envelope {
    /// Tagged or not.
    pub kind: Kind,
    /// Who sent it.
    pub source: Address,
    /// Its tag; 0 if it has none.
    pub tag: u64,
    /// What its sender says beside it.
    pub data: Option<u64>,
    /// Its bytes.
    pub length: u64,
}

/// Which messages a receive wants.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pattern {
    /// From whom; `None` for anybody.
    pub source: Option<Address>,
    /// With which tag.
    pub tag: u64,
    /// Bits of the tag that make no difference.
    pub ignore: u64,
}

impl Pattern {
    /// Whether it wants this message.
    #[inline]
    pub fn wants(&self, envelope: &Envelope) -> bool {
        (self.tag ^ envelope.tag) & !self.ignore == 0
            && self.source.is_none_or(|source| source == envelope.source)
    }
}

/// Where something is in a queue, until that queue is changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place(usize);

/// The receives `R` and the messages `M` of one kind at one endpoint.
#[derive(Debug)]
pub struct Matcher<R, M> {
    posted: Line<(Pattern, R)>,
    /// Of all posted receives, or of none.
    posted_by: Indexes,
    unexpected: Line<(Envelope, M)>,
    /// Of all unexpected messages, for each shape of receives that have asked.
    unexpected_by: Indexes,
}

/// A queue whose members leave from anywhere. Who leaves from the middle leaves a gap, so that leaving costs the same
/// everywhere; gaps are closed when they are most of the queue.
#[derive(Debug)]
struct Line<T> {
    members: VecDeque<Option<T>>,
    gaps: usize,
    /// How many have stood before the first member.
    before: u64,
}

/// A longer queue has an index.
const MANY: usize = 64;

/// So many gaps do not matter.
const FEW_GAPS: usize = 32;

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

impl<T> Default for Line<T> {
    fn default() -> Self {
        Line { members: VecDeque::new(), gaps: 0, before: 0 }
    }
}

impl<T> Line<T> {
    #[inline]
    fn find(&self, is_it: impl Fn(&T) -> bool) -> Option<Place> {
        self.members.iter().position(|member| member.as_ref().is_some_and(&is_it)).map(Place)
    }

    #[inline]
    fn take(&mut self, Place(place): Place) -> Option<T> {
        let taken = self.members.get_mut(place)?.take();
        self.gaps += usize::from(taken.is_some());
        while let Some(None) = self.members.front() {
            self.members.pop_front();
            self.gaps -= 1;
            self.before += 1;
        }
        taken
    }

    /// Closes the gaps if they are most of the line. Whether it did, so that members stand elsewhere now.
    #[inline]
    fn close_gaps(&mut self) -> bool {
        let close = self.gaps > self.members.len() / 2 + FEW_GAPS;
        if close {
            self.members.retain(Option::is_some);
            self.gaps = 0;
        }
        close
    }

    /// The number that the next member gets.
    fn next(&self) -> u64 {
        self.before + self.members.len() as u64
    }

    /// Where the member with this number stands, if it has not left.
    #[inline]
    fn place(&self, number: u64) -> Option<Place> {
        let place = number.checked_sub(self.before)? as usize;
        self.members.get(place)?.as_ref().map(|_| Place(place))
    }

    /// Members and their numbers.
    fn numbered(&self) -> impl Iterator<Item = (u64, &T)> {
        let members = (self.before..).zip(&self.members);
        members.filter_map(|(number, member)| Some((number, member.as_ref()?)))
    }

    fn count(&self) -> usize {
        self.members.len() - self.gaps
    }
}

impl<R, M> Matcher<R, M> {
    /// The first receive that wants this message.
    #[inline]
    pub fn find_posted(&mut self, envelope: &Envelope) -> Option<Place> {
        if self.posted_by.is_empty() {
            return self.posted.find(|(pattern, _)| pattern.wants(envelope));
        }
        self.posted_by.first_that_wants(envelope, &self.posted)
    }

    /// The receive that was found.
    #[inline]
    pub fn posted_mut(&mut self, Place(place): Place) -> Option<&mut R> {
        self.posted.members.get_mut(place)?.as_mut().map(|(_, receive)| receive)
    }

    /// Takes the receive that was found.
    #[inline]
    pub fn take_posted(&mut self, place: Place) -> Option<R> {
        let taken = self.posted.take(place);
        if self.posted.close_gaps() || self.posted.count() == 0 {
            self.posted_by.renew(&self.posted);
        }
        taken.map(|(_, receive)| receive)
    }

    /// The first message that the receive wants.
    #[inline]
    pub fn find_unexpected(&mut self, pattern: &Pattern) -> Option<Place> {
        if self.unexpected.count() <= MANY {
            return self.unexpected.find(|(envelope, _)| pattern.wants(envelope));
        }
        self.unexpected_by.first_wanted(pattern, &self.unexpected)
    }

    /// What is written on the message that was found.
    #[inline]
    pub fn unexpected(&self, Place(place): Place) -> Option<&Envelope> {
        self.unexpected.members.get(place)?.as_ref().map(|(envelope, _)| envelope)
    }

    /// Takes the message that was found.
    #[inline]
    pub fn take_unexpected(&mut self, place: Place) -> Option<(Envelope, M)> {
        let taken = self.unexpected.take(place);
        if self.unexpected.close_gaps() || self.unexpected.count() == 0 {
            self.unexpected_by.clear();
        }
        taken
    }

    /// Posts a receive that wants none of the messages that are here.
    #[inline]
    pub fn post(&mut self, pattern: Pattern, receive: R) {
        let number = self.posted.next();
        self.posted.members.push_back(Some((pattern, receive)));
        if self.posted.count() > MANY || !self.posted_by.is_empty() {
            self.posted_by.post(&pattern, number, &self.posted);
        }
    }

    /// Stores a message that no posted receive wants.
    #[inline]
    pub fn store(&mut self, envelope: Envelope, message: M) {
        let number = self.unexpected.next();
        self.unexpected.members.push_back(Some((envelope, message)));
        if !self.unexpected_by.is_empty() {
            self.unexpected_by.store(&envelope, number, self.unexpected.count());
        }
    }

    /// Takes the first posted receive of which `is_it` says so.
    pub fn cancel(&mut self, is_it: impl Fn(&R) -> bool) -> Option<R> {
        let place = self.posted.find(|(_, receive)| is_it(receive))?;
        self.take_posted(place)
    }

    /// Takes all posted receives.
    pub fn clear_posted(&mut self) -> impl Iterator<Item = R> + use<R, M> {
        self.posted_by.clear();
        let Line { members, .. } = std::mem::take(&mut self.posted);
        members.into_iter().flatten().map(|(_, receive)| receive)
    }

    /// How many receives are posted.
    pub fn posted_count(&self) -> usize {
        self.posted.count()
    }

    /// How many messages are unexpected.
    pub fn unexpected_count(&self) -> usize {
        self.unexpected.count()
    }
}

#[cfg(test)]
mod tests;
