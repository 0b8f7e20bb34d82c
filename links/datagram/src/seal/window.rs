//! Window of the sequence numbers that were received; it moves with the highest (RFC 6479).
//!
//! One word more than the window is wide, so that moving on clears whole words and shifts nothing.

/// Numbers this far below the highest are refused, whether they came or not.
pub(crate) const WINDOW: u64 = 2048;
const BITS: u64 = u64::BITS as u64;
const WORDS: u64 = WINDOW / BITS + 1;

/// The numbers that have come from one sender.
pub(crate) struct Window {
    highest: u64,
    seen: [u64; WORDS as usize],
}

impl Window {
    /// Nothing has come. Numbers begin at 1.
    pub fn new() -> Self {
        let mut window = Window { highest: 0, seen: [0; WORDS as usize] };
        window.mark(0);
        window
    }

    /// True if `number` is below all that are remembered.
    #[inline]
    pub fn is_old(&self, number: u64) -> bool {
        number <= self.highest && self.highest - number >= WINDOW
    }

    /// True if `number` may have been received already.
    #[inline]
    pub fn has(&self, number: u64) -> bool {
        number <= self.highest
            && (self.is_old(number) || self.seen[word(number)] & bit(number) != 0)
    }

    /// `number` has come.
    #[inline]
    pub fn mark(&mut self, number: u64) {
        if self.is_old(number) {
            return;
        }
        if number > self.highest {
            let (from, to) = (self.highest / BITS, number / BITS);
            for skipped in (from + 1..=to).take(WORDS as usize) {
                self.seen[(skipped % WORDS) as usize] = 0;
            }
            self.highest = number;
        }
        self.seen[word(number)] |= bit(number);
    }
}

#[inline]
fn word(number: u64) -> usize {
    (number / BITS % WORDS) as usize
}

#[inline]
fn bit(number: u64) -> u64 {
    1 << (number % BITS)
}

#[cfg(test)]
mod tests;
