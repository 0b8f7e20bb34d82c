//! Events to come, the earliest first, and those of one time in the order in which they were added.
//!
//! A radix heap (Ahuja, Mehlhorn, Orlin and Tarjan, *Faster algorithms for the shortest path
//! problem*, 1990), or hierarchical timing wheel: time never goes back, so that an entry lies in
//! the bucket that is numbered by the highest digit in which its time differs from the latest time
//! taken, and by that digit's value. To find the next, only the first bucket that is not empty is
//! sorted into those before it.

use std::collections::VecDeque;
use weft_link::clock::Nanoseconds;

/// Bits of a digit.
const DIGIT: u32 = 6;
/// Values of a digit.
const VALUES: usize = 1 << DIGIT;
/// Digits of a time.
const DIGITS: usize = Nanoseconds::BITS.div_ceil(DIGIT) as usize;

/// A queue of entries by time.
pub(crate) struct Agenda<T> {
    /// The time of the entry taken last.
    latest: Nanoseconds,
    /// By digit, the lowest first, and its value.
    buckets: Box<[Bucket<T>]>,
    /// A bit for each value of a digit whose bucket is not empty.
    filled: [u64; DIGITS],
    /// A bit for each digit of which some are not.
    digits: u32,
}

/// Entries whose times agree with each other in one digit and all above it.
struct Bucket<T> {
    earliest: Nanoseconds,
    /// Entries in the order in which they were added, which is kept where they are moved.
    entries: VecDeque<(Nanoseconds, T)>,
}

impl<T> Default for Agenda<T> {
    fn default() -> Self {
        let empty = |_| Bucket { earliest: Nanoseconds::MAX, entries: VecDeque::new() };
        let buckets = (0..DIGITS * VALUES).map(empty).collect();
        Agenda { latest: 0, buckets, filled: [0; DIGITS], digits: 0 }
    }
}

impl<T> Agenda<T> {
    /// Adds an entry.
    ///
    /// # Panics
    /// If `time` is before that of the entry taken last.
    #[inline]
    pub fn add(&mut self, time: Nanoseconds, entry: T) {
        self.put((time, entry));
    }

    // As a whole, so that it is moved as a whole and not field by field.
    #[inline]
    fn put(&mut self, entry: (Nanoseconds, T)) {
        let time = entry.0;
        assert!(time >= self.latest, "an event of the past");
        let digit = ((time ^ self.latest) | 1).ilog2() / DIGIT;
        let value = (time >> (digit * DIGIT)) as usize % VALUES;
        let digit = digit as usize;
        let bucket = &mut self.buckets[digit * VALUES + value];
        bucket.earliest = bucket.earliest.min(time);
        bucket.entries.push_back(entry);
        self.filled[digit] |= 1 << value;
        self.digits |= 1 << digit;
    }

    /// The time of the next entry.
    #[inline]
    pub fn earliest(&self) -> Option<Nanoseconds> {
        self.first().map(|(digit, value)| self.buckets[digit * VALUES + value].earliest)
    }

    /// Takes the next entry, and its time.
    #[inline]
    pub fn take(&mut self) -> Option<(Nanoseconds, T)> {
        let (mut digit, mut value) = self.first()?;
        let bucket = &self.buckets[digit * VALUES + value];
        self.latest = bucket.earliest;
        if digit > 0 && bucket.entries.len() > 1 {
            self.spread(digit, value);
            // Those of the earliest time are in the first bucket of the lowest digit now.
            (digit, value) = (0, self.latest as usize % VALUES);
        }
        let bucket = &mut self.buckets[digit * VALUES + value];
        let next = bucket.entries.pop_front();
        if bucket.entries.is_empty() {
            self.empty(digit, value);
        }
        next
    }

    /// The digit and the value of the first bucket that is not empty.
    #[inline]
    fn first(&self) -> Option<(usize, usize)> {
        let digit = self.digits.trailing_zeros() as usize;
        let filled = self.filled.get(digit)?;
        Some((digit, filled.trailing_zeros() as usize))
    }

    /// Sorts a bucket into those before it, now that the latest time is the earliest in it.
    #[inline(never)]
    fn spread(&mut self, digit: usize, value: usize) {
        let at = digit * VALUES + value;
        let mut entries = std::mem::take(&mut self.buckets[at].entries);
        self.empty(digit, value);
        entries.drain(..).for_each(|entry| self.put(entry));
        // Its memory is used again.
        self.buckets[at].entries = entries;
    }

    fn empty(&mut self, digit: usize, value: usize) {
        self.buckets[digit * VALUES + value].earliest = Nanoseconds::MAX;
        self.filled[digit] &= !(1 << value);
        self.digits &= !(u32::from(self.filled[digit] == 0) << digit);
    }
}

#[cfg(test)]
mod tests;
