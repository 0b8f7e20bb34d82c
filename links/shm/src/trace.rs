//! Ring of what happened to a rank, in the part of its segment that only it writes.
//!
//! ```text
//! head (a line)  |  slots:  stamp | five words of an event
//! ```
//! Any thread of the rank takes the next number from the head, and with it a slot, which it writes.
//! The stamp says that it does, and afterwards which number the slot has. Nobody waits: what the
//! launcher has not taken when the ring has come round is lost, and counted. So is an event for
//! whose slot the ring has come round before the last one was written.

use crate::memory::View;
use weft_link::clock::{Clock, SystemClock};
use weft_link::sync::{AtomicU64, Ordering, fence};
use weft_trace::event::{EventWords, WORDS};
use weft_trace::{Event, Recorder, What};

/// Words before the first slot, and of each.
const HEAD_WORDS: usize = 8;
const SLOT_WORDS: usize = WORDS + 1;

/// Stamp of a slot that somebody writes. One that nobody ever wrote has 0.
const BUSY: u64 = 1;

/// Stamp of a slot with the event of this number.
const fn stamp_of(number: u64) -> u64 {
    number.wrapping_add(2)
}

/// Bytes of the ring of a trace of `events`.
pub(crate) const fn bytes_of(events: u32) -> usize {
    match events {
        0 => 0,
        _ => 8 * (HEAD_WORDS + events as usize * SLOT_WORDS),
    }
}

/// Ring with the trace of one rank.
pub struct TraceRing {
    words: View<AtomicU64>,
    slots: u64,
}

impl std::fmt::Debug for TraceRing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "TraceRing of {} events", self.slots)
    }
}

/// State of a slot, as who takes events from it finds it.
enum SlotState {
    /// The event with this number, whole.
    Event(EventWords),
    /// It is not written yet, or not whole.
    Unwritten,
    /// A later one has taken its place.
    Overwritten,
}

impl TraceRing {
    pub(crate) fn new(words: View<AtomicU64>) -> Self {
        let slots = ((words.len() - HEAD_WORDS) / SLOT_WORDS) as u64;
        TraceRing { words, slots }
    }

    /// Appends to `events` those from number `*next` on, and advances it. Returns how many of these
    /// numbers are lost. If the rank `has_ended`, nothing more is written: what is not whole is
    /// lost, too.
    pub fn take(&self, next: &mut u64, events: &mut Vec<EventWords>, has_ended: bool) -> u64 {
        let head = self.words[0].load(Ordering::Acquire);
        // A rank that writes nonsense there costs one time round, and no more.
        let first = (*next).max(head.saturating_sub(self.slots));
        let mut lost = first - (*next).min(first);
        *next = first;
        while *next < head {
            match self.slot(*next) {
                SlotState::Event(words) => events.push(words),
                SlotState::Overwritten => lost += 1,
                SlotState::Unwritten if has_ended => lost += 1,
                SlotState::Unwritten => break,
            }
            *next += 1;
        }
        lost
    }

    fn slot(&self, number: u64) -> SlotState {
        let slot = self.slot_words(number);
        let stamp = slot[0].load(Ordering::Acquire);
        if stamp != stamp_of(number) {
            return if stamp > stamp_of(number) {
                SlotState::Overwritten
            } else {
                SlotState::Unwritten
            };
        }
        let words = std::array::from_fn(|word| slot[1 + word].load(Ordering::Relaxed));
        fence(Ordering::Acquire);
        match slot[0].load(Ordering::Relaxed) == stamp {
            true => SlotState::Event(words),
            false => SlotState::Overwritten,
        }
    }

    #[inline]
    fn slot_words(&self, number: u64) -> &[AtomicU64] {
        let at = HEAD_WORDS + (number & (self.slots - 1)) as usize * SLOT_WORDS;
        &self.words[at..at + SLOT_WORDS]
    }
}

impl Recorder for TraceRing {
    #[inline]
    fn record(&self, what: &What) {
        let words = Event { time: SystemClock.now(), what: *what }.to_words();
        let number = self.words[0].fetch_add(1, Ordering::Relaxed);
        let slot = self.slot_words(number);
        let before = slot[0].load(Ordering::Relaxed);
        let claimed = slot[0].compare_exchange(before, BUSY, Ordering::Acquire, Ordering::Relaxed);
        if before == BUSY || claimed.is_err() {
            return;
        }
        fence(Ordering::Release);
        for (to, word) in slot[1..].iter().zip(words) {
            to.store(word, Ordering::Relaxed);
        }
        slot[0].store(stamp_of(number), Ordering::Release);
    }
}

#[cfg(test)]
mod tests;
