//! Interrupts on and off: a count that the host keeps, and an agreement with the upcall thread.
//!
//! ```text
//!   host                          upcall thread
//!   off += 1                      running = true
//!   running ? wait : go on        off > 0 ? leave it : interrupt
//! ```
//! All of these are sequentially consistent, so one of the two sees the other: once
//! [`Interrupts::off`] has returned, no interrupt runs and none begins. The wait is short because
//! an interrupt looks at the count after each packet.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::thread::ThreadId;

/// State of interrupts at a rank.
#[derive(Default)]
pub(crate) struct Interrupts {
    /// Number of guards that keep interrupts off.
    off: AtomicU32,
    /// True if an interrupt runs, or is about to unless they are off.
    running: AtomicBool,
    /// The upcall thread, which cannot wait for itself.
    thread: OnceLock<ThreadId>,
    taken: AtomicU64,
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
        let on_upcall_thread = self.thread.get() == Some(&std::thread::current().id());
        while !on_upcall_thread && self.running.load(Ordering::SeqCst) {
            std::thread::yield_now();
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
        self.thread.get_or_init(|| std::thread::current().id());
        self.running.store(true, Ordering::SeqCst);
        if !self.are_off() {
            self.count();
            interrupt();
        }
        self.running.store(false, Ordering::SeqCst);
    }

    /// Counts one; where the NI interrupts the host's processor, there is no thread to exclude.
    pub fn count(&self) {
        self.taken.fetch_add(1, Ordering::Relaxed);
    }

    /// Number of interrupts so far.
    pub fn taken(&self) -> u64 {
        self.taken.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests;
