//! A program that does not wait in a call, but polls again and again, such as an MPI library.
//!
//! ```text
//!   poll in vain, and again ──▶ pause ──▶ spin, yield (gives the core away), or sleep for 1 ms
//!        ▲   counted down         │ returns the polls until the next
//!        └────────────────────────┘
//! ```
//! It sleeps only if its polls follow one another closely, because it may compute between two of
//! them; and for a moment only, because it may wait for something besides packets.

use super::backoff::{Pace, patience};
use super::cell::Relaxed;
use super::constants::{
    AT_ONCE, ENTRIES_PER_LOOK, LONGEST_POLL, PAUSE_WITHIN, POLLS_PER_PAUSE,
    POLLS_PER_PAUSE_ON_SHARED_CORE, PROBE_EVERY, REFRESHED, UNTOLD, YIELD_ALONE_FOR,
};
use super::contention::Core;
use std::time::Duration;

/// Empty polls of a program that polls again and again; times are nanoseconds from the start.
#[derive(Default)]
pub struct Polls {
    /// Begin of the wait.
    since: Relaxed<u64>,
    /// End of the last yield, and of the last pause.
    yielded: Relaxed<u64>,
    paused: Relaxed<u64>,
    /// Polls from that on until the next pause.
    count: Relaxed<u32>,
}

impl Polls {
    /// The next action, after as many polls in vain as the last pause said.
    pub fn pace(&self, now: Duration, begins: bool, core: Core) -> Pace {
        let polls = self.count.get();
        let ago = |time: &Relaxed<u64>| now.saturating_sub(Duration::from_nanos(time.get()));
        // A program that does other things between its polls is left alone.
        if begins || ago(&self.paused) > LONGEST_POLL * polls {
            self.since.set(now.as_nanos() as u64);
        }
        match core {
            _ if ago(&self.since) >= patience_of_polls(core) => Pace::Sleep,
            Core::Own if ago(&self.yielded) < PROBE_EVERY => Pace::Spin { pauses: false },
            Core::Busy => Pace::Spin { pauses: false },
            _ => Pace::Yield,
        }
    }

    /// The core was given away until `now`.
    pub fn yielded(&self, now: Duration) {
        self.yielded.set(now.as_nanos() as u64);
    }

    /// A pause that began `now` is over. Returns the polls until the next one: fewer where those
    /// since the last one took long.
    pub fn paused(&self, now: Duration, after: Duration, begins: bool, core: Core) -> u32 {
        let polls = self.until_next(now, begins, polls_per_pause(core));
        self.paused.set(after.as_nanos() as u64);
        self.count.set(polls);
        polls
    }

    fn until_next(&self, now: Duration, begins: bool, most: u32) -> u32 {
        if begins {
            return most;
        }
        let took = now.saturating_sub(Duration::from_nanos(self.paused.get()));
        let polls = f64::from(self.count.get()) * PAUSE_WITHIN.div_duration_f64(took);
        // Those that take no time are as many as may be.
        (polls as u32).clamp(1, most)
    }
}

fn polls_per_pause(core: Core) -> u32 {
    match core {
        Core::Own => POLLS_PER_PAUSE,
        Core::Shared => POLLS_PER_PAUSE_ON_SHARED_CORE,
        Core::Busy | Core::Rationed => 1,
    }
}

/// Time of polls in vain before the first sleep. Sleeps are short there, so that there are more of
/// them, and others that yield as well give the core back at once.
fn patience_of_polls(core: Core) -> Duration {
    match core {
        Core::Own | Core::Shared => YIELD_ALONE_FOR,
        core => patience(core),
    }
}

/// Empty polls until the next pause. Threads that poll at once may miss some.
#[derive(Default)]
pub struct Countdown {
    left: Relaxed<u32>,
    /// Those between two pauses, but for the one that pauses.
    in_row: Relaxed<u32>,
}

impl Countdown {
    /// Counts an empty poll; true if a pause is due.
    #[inline(always)]
    pub fn is_pause_due(&self) -> bool {
        let left = self.left.get();
        self.left.set(left.saturating_sub(1));
        left == 0
    }

    /// The program has paused, and does so again after so many polls in vain in a row, of which
    /// there is one at least.
    pub fn paused(&self, polls: u32) {
        self.in_row.set(polls - 1);
        self.begin();
    }

    /// Polls in vain are counted from here on: the program has got what it waited for, and has
    /// something to do. Counted all together, a program that finds its next message at each second
    /// poll would give its core away in the middle of them, and those that wait for it would get
    /// them one by one.
    #[inline]
    pub fn begin(&self) {
        self.left.set(self.in_row.get());
    }
}

/// The last read of a queue brought nothing.
const WAITS: u32 = 0;
/// It ended a wait.
const ENDED: u32 = 1;
/// All reads since the end of a wait have brought something.
const BUSY: u32 = 2;

/// Reads of a queue, where a look is a system call or two, 0.3 to 0.6 us on the way of each answer.
/// Threads that read at once may miss some.
///
/// Programs read a queue until it is empty. So each message is followed by a look in vain, before
/// the program does anything with what the message brought. A read at once after the one that ends
/// a wait says therefore that the queue is empty, without a look. One that comes later looks: its
/// program reads seldom. While reads bring something again and again all look: more may be there
/// already. So does one for which an entry waits, once in [`ENTRIES_PER_LOOK`].
#[derive(Default)]
pub struct Reads {
    state: Relaxed<u32>,
    /// Time of the last end of a wait, in nanoseconds.
    ended: Relaxed<u64>,
    /// Reads of entries that wait.
    entries: Relaxed<u32>,
}

impl Reads {
    /// A read has looked, and brought something or nothing.
    #[inline]
    pub fn has_read(&self, any: bool, now: impl FnOnce() -> Duration) {
        if !any {
            self.state.set(WAITS);
        } else if self.state.get() == WAITS {
            self.ended.set(now().as_nanos() as u64);
            self.state.set(ENDED);
        }
    }

    /// True if a read for which an entry waits does not look before it takes that. One in
    /// [`ENTRIES_PER_LOOK`] does: a program that sends, and reads that it has sent, is to receive
    /// acknowledgements.
    #[inline]
    pub fn leaves_look(&self) -> bool {
        let entries = self.entries.get().wrapping_add(1);
        self.entries.set(entries);
        !entries.is_multiple_of(ENTRIES_PER_LOOK)
    }

    /// True if the read that begins need not look. The one after it does.
    #[inline]
    pub fn is_due(&self, now: impl FnOnce() -> Duration) -> bool {
        if self.state.get() != ENDED {
            return false;
        }
        self.state.set(BUSY);
        now().saturating_sub(Duration::from_nanos(self.ended.get())) < AT_ONCE
    }
}

/// Change of the published wait of a program whose polls are empty.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PollNotice {
    /// Nothing yet.
    None,
    /// That it has looked again.
    Looks,
    /// Object of its wait, and that it has looked.
    What,
}

/// Wait of a program whose polls are empty, as it is published.
#[derive(Default)]
pub struct Untold {
    /// Time of the first poll, in nanoseconds.
    since: Relaxed<u64>,
    /// Time at which others were told last what it waits for; 0 if they were not.
    told_at: Relaxed<u64>,
}

impl Untold {
    /// The program pauses after polls in vain, for the first time if they begin.
    pub fn pauses(&self, begins: bool, now: Duration) -> PollNotice {
        let now = now.as_nanos() as u64;
        if begins {
            self.since.set(now);
        }
        let ago = |time: u64| Duration::from_nanos(now.saturating_sub(time));
        let told_at = self.told_at.get();
        if ago(self.since.get()) < UNTOLD {
            return PollNotice::None;
        }
        if told_at > 0 && ago(told_at) < REFRESHED {
            return PollNotice::Looks;
        }
        self.told_at.set(now.max(1));
        PollNotice::What
    }

    /// True if others were told something, which is over.
    #[inline(always)]
    pub fn is_told(&self) -> bool {
        self.told_at.get() > 0
    }

    /// Others were told that it is over.
    pub fn ended(&self) {
        self.told_at.set(0);
    }
}

#[cfg(test)]
mod tests;
