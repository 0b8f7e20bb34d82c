//! Work besides packets, and the time at which somebody has to look.

use super::Relaxed;
use weft_link::clock::Nanoseconds;
use weft_link::sync::{AtomicU32, AtomicU64, Ordering};

/// Work of a rank's systems besides packets, and its alarm. Who adds to it rings the upcall thread
/// afterwards, which draws its ticket before it looks here.
pub struct PendingWork {
    /// Systems that have work, and no waiting thread to do it, a bit each.
    pending: AtomicU32,
    /// Time at which a sleeping thread has to look again at the latest; [`u64::MAX`] is never.
    alarm: AtomicU64,
    /// True if the program waits without polling: arrivals are then the upcall thread's at once.
    pub is_eager: Relaxed<bool>,
}

impl Default for PendingWork {
    fn default() -> Self {
        let is_eager = Relaxed::new(false);
        PendingWork { pending: AtomicU32::new(0), alarm: AtomicU64::new(u64::MAX), is_eager }
    }
}

impl PendingWork {
    /// Sets or clears the mark of the systems of these bits. True if that is new.
    pub fn change(&self, bits: u32, there: bool) -> bool {
        let before = match there {
            true => self.pending.fetch_or(bits, Ordering::SeqCst),
            false => self.pending.fetch_and(!bits, Ordering::SeqCst),
        };
        (before & bits != 0) != there
    }

    /// Sets the alarm. True if it is earlier than before: threads that sleep are to be rung.
    pub fn set_alarm(&self, time: Nanoseconds) -> bool {
        time < self.alarm.swap(time, Ordering::SeqCst)
    }

    /// Time of the alarm; `None` without one.
    pub fn alarm(&self) -> Option<Nanoseconds> {
        Some(self.alarm.load(Ordering::SeqCst)).filter(|alarm| *alarm != u64::MAX)
    }

    /// True if there is something to do besides packets: pending work, or an alarm that is due.
    pub fn is_there(&self, now: impl FnOnce() -> Nanoseconds) -> bool {
        self.pending.load(Ordering::SeqCst) != 0 || self.alarm().is_some_and(|alarm| alarm <= now())
    }
}
