//! Status of a rank, in the part of its segment that only it writes.
//!
//! It is guarded by a sequence number, as seqlocks are: odd while it is written. A reader that sees
//! another number afterwards reads again. Nobody who writes waits: of two threads that write at one
//! time one gives way.

use crate::memory::View;
use rustix::thread::gettid;
use std::time::Duration;
use weft_link::clock::{Clock, SystemClock};
use weft_link::status::{Awaited, RECORD_BYTES, RankStatus, StatusNotice};
use weft_link::sync::{AtomicU64, Ordering, fence};

/// Words of a page: the number, the time, the length, the thread, the time of the last look, 1 if
/// nobody wakes who waits, the wait.
pub(crate) const WORDS: usize = HEAD + RECORD_BYTES / 8;
/// Words before the wait.
const HEAD: usize = 6;
/// Word of the last look.
const LOOK: usize = 4;
/// Word that says whether the waiting thread polls.
const POLLS: usize = 5;
/// Times that a reader begins again before it takes the page for one that changes all the time.
const READS: usize = 100;

/// Page with the status of one rank.
pub(crate) struct StatusPage(pub View<AtomicU64>);

impl StatusPage {
    /// The status of the rank, by the clock of this host; `None` if it has not said any.
    pub fn read(&self) -> Option<RankStatus> {
        (0..READS).find_map(|_| self.try_read()).flatten()
    }

    /// `None` if it was written meanwhile.
    fn try_read(&self) -> Option<Option<RankStatus>> {
        let number = self.0[0].load(Ordering::Acquire);
        let words: [u64; WORDS] = std::array::from_fn(|i| self.0[i].load(Ordering::Relaxed));
        fence(Ordering::Acquire);
        if number % 2 == 1 || self.0[0].load(Ordering::Relaxed) != number {
            return None;
        }
        let (head, awaited) = words.split_at(HEAD);
        Some(status_of(head, awaited))
    }

    /// Writes the status from now on: a wait, or none of zero bytes.
    fn write(&self, awaited: &[u8]) {
        let number = self.0[0].load(Ordering::Relaxed);
        let begun = self.0[0].compare_exchange(
            number & !1,
            number | 1,
            Ordering::Acquire,
            Ordering::Relaxed,
        );
        // Another thread of this rank writes.
        if begun.is_err() {
            return;
        }
        fence(Ordering::Release);
        // 0 stands for no status.
        let now = SystemClock.now().max(1);
        self.0[1].store(now, Ordering::Relaxed);
        self.0[2].store(awaited.len() as u64, Ordering::Relaxed);
        self.0[3].store(gettid().as_raw_pid().cast_unsigned().into(), Ordering::Relaxed);
        self.0[LOOK].store(now, Ordering::Relaxed);
        self.0[POLLS].store(0, Ordering::Relaxed);
        for (word, bytes) in self.0[HEAD..].iter().zip(awaited.chunks(8)) {
            let mut padded = [0; 8];
            padded[..bytes.len()].copy_from_slice(bytes);
            word.store(u64::from_le_bytes(padded), Ordering::Relaxed);
        }
        self.0[0].store((number | 1).wrapping_add(1), Ordering::Release);
    }
}

impl StatusNotice for StatusPage {
    fn waits(&self, awaited: &Awaited) {
        self.write(&awaited.emit());
    }

    fn looks(&self) {
        self.sleeps();
        self.0[POLLS].store(1, Ordering::Relaxed);
    }

    fn sleeps(&self) {
        self.0[LOOK].store(SystemClock.now(), Ordering::Relaxed);
    }

    fn goes_on(&self) {
        self.write(&[]);
    }
}

/// The status that these words say, which another process wrote.
fn status_of(head: &[u64], awaited: &[u64]) -> Option<RankStatus> {
    let &[_, since, length, thread, look, polls] = head else { return None };
    if since == 0 {
        return None;
    }
    let bytes: Vec<u8> = awaited.iter().flat_map(|word| word.to_le_bytes()).collect();
    let length = usize::try_from(length).unwrap_or(usize::MAX).min(bytes.len());
    let awaited = if length == 0 { None } else { Some(Awaited::parse(&bytes[..length])?) };
    let now = SystemClock.now();
    let age = |time: u64| Duration::from_nanos(now.saturating_sub(time));
    let thread = u32::try_from(thread).unwrap_or_default();
    let (begun, polls) = (since, polls != 0);
    Some(RankStatus { since: age(since), begun, thread, looked: age(look), polls, awaited })
}

#[cfg(test)]
mod tests;
