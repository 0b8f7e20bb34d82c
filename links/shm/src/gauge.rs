//! Counts of a rank, in the part of its segment that only it writes, and who wants to see them.
//!
//! They are guarded by a sequence number, odd while they are written. Only the upcall thread of the
//! rank writes them, when the launcher has asked a moment ago, and rung its bell.

use crate::control::Control;
use crate::doorbell::ring;
use crate::memory::View;
use std::time::Duration;
use weft_link::bell::Waiter;
use weft_link::clock::{Clock, SystemClock};
use weft_link::gauge::{self, Counts, Gauge};
use weft_link::sync::{AtomicU64, Ordering, fence};

/// Words of a page: the number, the counts.
pub(crate) const WORDS: usize = 1 + gauge::WORDS;
/// Time for which counters are published after one request.
const WANTED_FOR: Duration = Duration::from_secs(3);
/// Times that a reader begins again before it goes without.
const READS: usize = 100;

/// Page with the counts of one rank.
pub(crate) struct GaugePage {
    pub words: View<AtomicU64>,
    pub control: Control,
}

impl GaugePage {
    /// Asks the rank to show its counts, for the next seconds.
    pub fn ask(&self) {
        let until = SystemClock.now().saturating_add(WANTED_FOR.as_nanos() as u64);
        self.control.wanted.store(until, Ordering::SeqCst);
        ring(&self.control.bells, Waiter::Upcall);
    }

    /// Counts that it has shown last, and a number that changes whenever it shows some; `None` if
    /// it never has.
    pub fn read(&self) -> Option<(u64, Counts)> {
        (0..READS).find_map(|_| {
            let number = self.words[0].load(Ordering::Acquire);
            let words = std::array::from_fn(|word| self.words[1 + word].load(Ordering::Relaxed));
            fence(Ordering::Acquire);
            let is_same = self.words[0].load(Ordering::Relaxed) == number;
            let is_whole = number.is_multiple_of(2) && is_same && number > 0;
            is_whole.then(|| (number, Counts::of_words(words)))
        })
    }
}

impl Gauge for GaugePage {
    #[inline]
    fn is_wanted(&self) -> bool {
        let until = self.control.wanted.load(Ordering::Relaxed);
        until > 0 && until > SystemClock.now()
    }

    fn show(&self, counts: &Counts) {
        let number = self.words[0].load(Ordering::Relaxed) & !1;
        self.words[0].store(number + 1, Ordering::Relaxed);
        fence(Ordering::Release);
        for (to, word) in self.words[1..].iter().zip(counts.to_words()) {
            to.store(word, Ordering::Relaxed);
        }
        self.words[0].store(number + 2, Ordering::Release);
    }
}

#[cfg(test)]
mod tests;
