//! The message that is next, and those that came too early: no clock, no network, no lock.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

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
    early: BTreeMap<u64, Early<T>>,
    /// Early items by member.
    held: Vec<u64>,
    /// Largest number of messages of one member under way.
    limit: u64,
}

#[cfg_attr(test, derive(Clone, Hash, Debug))]
struct Early<T> {
    member: usize,
    item: T,
}

impl<T> Sequence<T> {
    /// Nothing has arrived of an order of so many members, each of which may have `limit` items
    /// under way: numbered, and not yet handed over by everybody.
    pub fn new(members: usize, limit: u64) -> Self {
        Sequence { next: 0, early: BTreeMap::new(), held: vec![0; members], limit }
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
        if number == self.next && pass {
            self.next += 1;
            return Ok(Some(item));
        }
        let ahead = match number.checked_sub(self.next) {
            None => return Err((Disorder::Late, item)),
            Some(ahead) => ahead,
        };
        if ahead >= self.held.len() as u64 * self.limit {
            return Err((Disorder::TooFar, item));
        }
        if self.held[member] >= self.limit {
            return Err((Disorder::TooMany, item));
        }
        match self.early.entry(number) {
            Entry::Occupied(_) => return Err((Disorder::Taken, item)),
            Entry::Vacant(place) => place.insert(Early { member, item }),
        };
        self.held[member] += 1;
        i11_early_bounded(self.held[member], self.limit);
        Ok(None)
    }

    /// The item that is due, if it has arrived.
    #[inline]
    pub fn take(&mut self) -> Option<(u64, T)> {
        let first = self.early.first_entry()?;
        if *first.key() != self.next {
            return None;
        }
        let (number, Early { member, item }) = first.remove_entry();
        i10_one_order(self.next, number);
        self.held[member] -= 1;
        self.next += 1;
        Some((number, item))
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
        let early = std::mem::take(&mut self.early).into_iter();
        early.map(|(number, early)| (number, early.item))
    }
}

#[cfg(test)]
mod tests;
