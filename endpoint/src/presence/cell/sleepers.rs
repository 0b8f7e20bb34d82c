//! Threads of the program that sleep, and packets in the hands of one of them.
//!
//! ```text
//!   who goes to sleep               who has something for it
//!   asleep += 1                     it is there
//!   heavy fence                     light fence
//!   is it there ? go on : sleep     asleep > 0 ? ring : go on
//! ```
//! One of the two sees the other. The sleeper pays for both fences, which costs a system call
//! before a sleep of tens of microseconds, and nothing in the calls of who has something.
//!
//! A packet in an upcall keeps others where they are, although a poll has moved them out of the
//! link, whose bell does not ring for them again. Such a poll is counted as *skipped*: its thread
//! does not sleep once the upcall is over, and the end of an upcall rings those who sleep already.

use super::Relaxed;
use crate::biased::Fences;
use std::hash::{Hash, Hasher};
use weft_link::sync::{AtomicBool, AtomicU32, Ordering};

/// Threads of one rank that sleep, or are about to.
pub struct Sleepers {
    /// `None` where these threads take turns, as coroutines do.
    fences: Option<Fences>,
    /// Threads that sleep, or are about to.
    asleep: AtomicU32,
    /// Those of them that wait for the bell, and look at once when they wake.
    at_bell: AtomicU32,
    /// True if a packet is in an upcall, or held by a system that sorts it: one. Set in the lock.
    in_upcall: AtomicBool,
    /// Polls that found such a packet, and so left others where they were.
    skipped: Relaxed<u32>,
}

impl Sleepers {
    /// Nobody, with fences of the node's lock.
    pub fn new(fences: Option<Fences>) -> Self {
        Sleepers {
            fences,
            asleep: AtomicU32::new(0),
            at_bell: AtomicU32::new(0),
            in_upcall: AtomicBool::new(false),
            skipped: Relaxed::new(0),
        }
    }

    /// True if these threads take turns, as coroutines do.
    pub fn take_turns(&self) -> bool {
        self.fences.is_none()
    }

    /// The calling thread is about to sleep: whoever has something for it from here on sees that,
    /// and what was there before this returns the thread sees when it looks.
    pub fn announce(&self) {
        self.asleep.fetch_add(1, Ordering::SeqCst);
        self.heavy_fence();
    }

    /// The calling thread does not sleep any more. True if the bell has to be rung: it has woken
    /// this one, which has disarmed it for all.
    pub fn leave(&self) -> bool {
        let others = self.asleep.fetch_sub(1, Ordering::SeqCst) - 1;
        others > 0 && !self.take_turns()
    }

    /// True if a thread sleeps, or is about to, and may have missed what was there before this
    /// call.
    #[inline(always)]
    pub fn are_any(&self) -> bool {
        if let Some(fences) = self.fences {
            fences.light();
        }
        self.are_any_inside()
    }

    /// Does what [`Self::are_any`] does, for who is inside the lock, and has changed nothing that
    /// is looked at without it.
    #[inline(always)]
    pub fn are_any_inside(&self) -> bool {
        self.asleep.load(Ordering::Relaxed) > 0
    }

    /// The calling thread waits for the bell from here on, or does not any more.
    pub fn wait_at_bell(&self, waits: bool) {
        match waits {
            true => self.at_bell.fetch_add(1, Ordering::SeqCst),
            false => self.at_bell.fetch_sub(1, Ordering::SeqCst),
        };
    }

    /// True if a thread waits for the bell.
    pub fn are_any_at_bell(&self) -> bool {
        self.at_bell.load(Ordering::SeqCst) > 0
    }

    /// A packet is in an upcall, or held by its system; inside the lock.
    #[inline(always)]
    pub fn begin_upcall(&self) {
        self.in_upcall.store(true, Ordering::Relaxed);
    }

    /// It is not any more, inside the lock. True if threads sleep whose polls may have skipped
    /// packets.
    #[inline(always)]
    pub fn end_upcall(&self) -> bool {
        self.in_upcall.store(false, Ordering::Relaxed);
        self.are_any_inside()
    }

    /// Does what [`Self::end_upcall`] does, outside the lock.
    #[inline(always)]
    pub fn end_upcall_outside(&self) -> bool {
        self.in_upcall.store(false, Ordering::Release);
        self.are_any()
    }

    /// True if a packet is in an upcall, or held by its system.
    #[inline(always)]
    pub fn is_in_upcall(&self) -> bool {
        self.in_upcall.load(Ordering::Acquire)
    }

    /// Does what [`Self::is_in_upcall`] does, for a thread that looks again before it decides.
    #[inline(always)]
    pub fn may_be_in_upcall(&self) -> bool {
        self.in_upcall.load(Ordering::Relaxed)
    }

    /// A poll leaves packets where they are, because one is in an upcall; inside the lock.
    #[inline]
    pub fn skip(&self) {
        self.skipped.set(self.skipped.get().wrapping_add(1));
    }

    /// Number of polls that have skipped packets.
    pub fn skipped(&self) -> u32 {
        self.skipped.get()
    }

    /// True if a poll has skipped packets since there were `before`, and the upcall is over. If it
    /// is not, its end rings: it sees that this thread sleeps.
    pub fn may_have_missed(&self, before: u32) -> bool {
        if self.take_turns() || self.skipped() == before {
            return false;
        }
        self.heavy_fence();
        !self.may_be_in_upcall()
    }

    fn heavy_fence(&self) {
        if let Some(fences) = self.fences {
            fences.heavy();
        }
    }
}

impl Clone for Sleepers {
    fn clone(&self) -> Self {
        Sleepers {
            fences: self.fences,
            asleep: AtomicU32::new(self.asleep.load(Ordering::Relaxed)),
            at_bell: AtomicU32::new(self.at_bell.load(Ordering::Relaxed)),
            in_upcall: AtomicBool::new(self.may_be_in_upcall()),
            skipped: self.skipped.clone(),
        }
    }
}

impl Hash for Sleepers {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.asleep.load(Ordering::Relaxed).hash(state);
        self.at_bell.load(Ordering::Relaxed).hash(state);
        self.may_be_in_upcall().hash(state);
        self.skipped.hash(state);
    }
}
