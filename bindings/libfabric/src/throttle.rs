//! Reads of a queue that do not poll, after a poll that found something.
//!
//! Programs read a queue until it is empty. So each message is followed by a look in vain, before
//! the program does anything with what the message brought. On a network such a look is a system
//! call or two, 0.3 to 0.6 us on the way of each answer. So a read at once after the one that ends
//! a wait says that the queue is empty, without a look. One that comes later looks: its program
//! reads seldom. While reads bring something again and again none rests: more may be there already.
//! Nor does one for which an entry waits: a program may count on that. It takes the entry without a
//! look, but for one of some.

use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

/// Longest time after the end of a wait in which a read comes at once.
const AT_ONCE: Duration = Duration::from_micros(2);

/// Reads of entries that wait of which one looks.
const ENTRIES_PER_LOOK: u32 = 8;

/// The last read brought nothing.
const WAITS: u8 = 0;
/// The last read ended a wait.
const ENDED: u8 = 1;
/// All reads since the end of a wait have brought something.
const BUSY: u8 = 2;

/// Polls that reads of a queue leave out. Threads that read at once may miss some.
#[derive(Default)]
pub(crate) struct PollThrottle {
    state: AtomicU8,
    /// Time of the last end of a wait, in nanoseconds.
    ended: AtomicU64,
    /// Reads of entries that wait.
    entries: AtomicU32,
}

impl PollThrottle {
    /// A read has looked, and brought something or nothing.
    #[inline]
    pub fn has_read(&self, any: bool, now: impl FnOnce() -> Duration) {
        if !any {
            self.state.store(WAITS, Ordering::Relaxed);
        } else if self.state.load(Ordering::Relaxed) == WAITS {
            self.ended.store(now().as_nanos() as u64, Ordering::Relaxed);
            self.state.store(ENDED, Ordering::Relaxed);
        }
    }

    /// True if a read for which an entry waits does not look before it takes that. One in
    /// [`ENTRIES_PER_LOOK`] does: a program that sends, and reads that it has sent, is to receive
    /// acknowledgements.
    #[inline]
    pub fn leaves_look(&self) -> bool {
        let entries = self.entries.load(Ordering::Relaxed).wrapping_add(1);
        self.entries.store(entries, Ordering::Relaxed);
        !entries.is_multiple_of(ENTRIES_PER_LOOK)
    }

    /// True if the read that begins need not look. The one after it does.
    #[inline]
    pub fn is_due(&self, now: impl FnOnce() -> Duration) -> bool {
        if self.state.load(Ordering::Relaxed) != ENDED {
            return false;
        }
        self.state.store(BUSY, Ordering::Relaxed);
        let ended = Duration::from_nanos(self.ended.load(Ordering::Relaxed));
        now().saturating_sub(ended) < AT_ONCE
    }
}

#[cfg(test)]
mod tests;
