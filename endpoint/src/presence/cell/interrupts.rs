//! Interrupts on and off: a count that the host keeps, and an agreement with the upcall thread.
//!
//! ```text
//!   host                          upcall thread
//!   off += 1                      running = true
//!   running ? wait : go on        off > 0 ? leave it : interrupt
//! ```
//! All of these are sequentially consistent, so one of the two sees the other: once
//! [`Interrupts::off`] has returned, no interrupt runs and none begins. The wait is short because
//! an interrupt looks at the count after each packet. (Loom gives accesses no such order, only
//! fences: it finds here what no machine does.)

use super::Relaxed;
use crate::biased::{NOBODY, this_thread};
use weft_link::sync::{AtomicBool, AtomicU32, AtomicUsize, Ordering, yield_now};

/// State of interrupts at a rank.
pub struct Interrupts {
    /// Number of guards that keep interrupts off.
    off: AtomicU32,
    /// True if an interrupt runs, or is about to unless they are off.
    running: AtomicBool,
    /// The upcall thread, which cannot wait for itself.
    thread: AtomicUsize,
    taken: Relaxed<u64>,
}

impl Default for Interrupts {
    fn default() -> Self {
        Interrupts {
            off: AtomicU32::new(0),
            running: AtomicBool::new(false),
            thread: AtomicUsize::new(NOBODY),
            taken: Relaxed::new(0),
        }
    }
}

impl Interrupts {
    /// Turns interrupts off until [`Self::on`], and waits for one that runs, unless this is it.
    pub fn off(&self) {
        self.off.fetch_add(1, Ordering::SeqCst);
        if self.running.load(Ordering::SeqCst) {
            self.wait_until_over();
        }
    }

    #[cold]
    fn wait_until_over(&self) {
        let on_upcall_thread = self.thread.load(Ordering::Relaxed) == this_thread();
        while !on_upcall_thread && self.running.load(Ordering::SeqCst) {
            yield_now();
        }
    }

    /// Undoes one [`Self::off`].
    pub fn on(&self) {
        self.off.fetch_sub(1, Ordering::SeqCst);
    }

    /// True if they are off.
    pub fn are_off(&self) -> bool {
        self.off.load(Ordering::SeqCst) > 0
    }

    /// Calls `interrupt`, on the upcall thread, unless they are off.
    pub fn run(&self, interrupt: impl FnOnce()) {
        self.thread.store(this_thread(), Ordering::Relaxed);
        self.running.store(true, Ordering::SeqCst);
        if !self.are_off() {
            self.count();
            interrupt();
        }
        self.running.store(false, Ordering::SeqCst);
    }

    /// Counts one; where the NI interrupts the host's processor, there is no thread to exclude.
    pub fn count(&self) {
        self.taken.set(self.taken.get() + 1);
    }

    /// Number of interrupts so far.
    pub fn taken(&self) -> u64 {
        self.taken.get()
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
