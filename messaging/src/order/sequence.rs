//! The message that is next, and those that came too early: no clock, no network, no lock.

use std::collections::VecDeque;

/// I10, one order: the messages of an order are handed over with consecutive numbers, from 0 on;
/// `next` is the number that is due.
pub(super) fn i10_one_order(next: u64, number: u64) {
    assert_eq!(number, next, "I10 one order: {number} was handed over in place of {next}");
}

/// I11, early messages are bounded: nobody has more of them here than it may have under way.
pub(super) fn i11_early_bounded(held: u64, limit: u64) {
    assert!(held <= limit, "I11 early messages: {held} of one member, who may have {limit}");
}

/// Fetch-and-add variables of each rank that count orders' messages.
pub const ORDERS_PER_RANK: usize = 8;

/// The fault in the number of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Disorder {
    /// It was handed over before.
    #[error("which was there before")]
    Late,
    /// Another message that waits here has it.
    #[error("which another message has")]
    Taken,
    /// So many cannot have been handed out.
    #[error("which is further ahead than all members together can be")]
    TooFar,
    /// Its sender has more messages under way than it may have.
    #[error("although it has as many broadcasts under way as it may")]
    TooMany,
    /// There is no number in it, or it is not from a member.
    #[error("which is no message of this order")]
    Foreign,
}

/// The order as one member sees it: items that have arrived, in the order of their numbers.
#[cfg_attr(test, derive(Clone, Hash, Debug))]
pub(super) struct Sequence<T> {
    next: u64,
    /// Early items by how far ahead of `next` they are; the last place has one.
    early: VecDeque<Option<Early<T>>>,
    /// Early items by member.
    held: Vec<u64>,
    /// Largest number of messages of one member under way.
    limit: u64,
}

#[cfg_attr(test, derive(Clone, Hash, Debug))]
struct Early<T> {
    number: u64,
    member: usize,
    item: T,
}

impl<T> Sequence<T> {
    /// Nothing has arrived of an order of so many members, each of which may have `limit` items
    /// under way: numbered, and not yet handed over by everybody.
    pub fn new(members: usize, limit: u64) -> Self {
        Sequence { next: 0, early: VecDeque::new(), held: vec![0; members], limit }
    }

    /// An item of `member` has arrived. If it is due and may `pass`, it is handed over at once and
    /// counts as taken; otherwise it waits for [`Self::take`].
    ///
    /// # Errors
    /// A number that it cannot have. Whatever has a number that is due or later is under way, so no
    /// number is further ahead than all that members may have under way together; that bounds what
    /// waits here, whatever a member claims.
    #[inline]
    pub fn arrive(
        &mut self,
        member: usize,
        number: u64,
        item: T,
        pass: bool,
    ) -> Result<Option<T>, (Disorder, T)> {
        if number == self.next && pass && self.is_missing(0) {
            self.advance();
            return Ok(Some(item));
        }
        match self.place(member, number) {
            Ok(ahead) => self.keep(ahead, Early { number, member, item }),
            Err(disorder) => return Err((disorder, item)),
        }
        Ok(None)
    }

    /// The item that is due, if it has arrived.
    #[inline]
    pub fn take(&mut self) -> Option<(u64, T)> {
        if self.is_missing(0) {
            return None;
        }
        let due = self.next;
        let Early { number, member, item } = self.advance()?;
        i10_one_order(due, number);
        self.held[member] -= 1;
        Some((number, item))
    }

    /// True if no item that is so far ahead has arrived.
    #[inline]
    fn is_missing(&self, ahead: usize) -> bool {
        !matches!(self.early.get(ahead), Some(Some(_)))
    }

    /// The next number is due. Returns what waited with the one that was.
    #[inline]
    fn advance(&mut self) -> Option<Early<T>> {
        self.next += 1;
        self.early.pop_front().flatten()
    }

    /// Place of an early item of `member`: how far ahead it is.
    fn place(&self, member: usize, number: u64) -> Result<usize, Disorder> {
        let ahead = number.checked_sub(self.next).ok_or(Disorder::Late)?;
        if ahead >= self.held.len() as u64 * self.limit {
            return Err(Disorder::TooFar);
        }
        if self.held[member] >= self.limit {
            return Err(Disorder::TooMany);
        }
        if self.is_missing(ahead as usize) { Ok(ahead as usize) } else { Err(Disorder::Taken) }
    }

    fn keep(&mut self, ahead: usize, early: Early<T>) {
        let member = early.member;
        while self.early.len() < ahead {
            self.early.push_back(None);
        }
        match self.early.get_mut(ahead) {
            Some(place) => *place = Some(early),
            None => self.early.push_back(Some(early)),
        }
        self.held[member] += 1;
        i11_early_bounded(self.held[member], self.limit);
    }

    /// Number of messages that were handed over: the number that is due.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Everything that waits, which will never be handed over.
    pub fn abandon(&mut self) -> impl Iterator<Item = T> + use<T> {
        self.abandon_numbered().map(|(_, item)| item)
    }

    /// Does what [`Self::abandon`] does; each item has its number, in their order.
    pub fn abandon_numbered(&mut self) -> impl Iterator<Item = (u64, T)> + use<T> {
        self.held.fill(0);
        let early = std::mem::take(&mut self.early).into_iter().flatten();
        early.map(|early| (early.number, early.item))
    }
}

#[cfg(test)]
mod tests;
