//! Reports of systems: what they did, a line each, for who asked for statistics of the run.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// Lines that systems leave until their rank ends.
#[derive(Default)]
pub struct Reports {
    wanted: AtomicBool,
    lines: Mutex<Vec<String>>,
}

impl Reports {
    /// Has systems report from here on.
    pub fn want(&self) {
        self.wanted.store(true, Ordering::Relaxed);
    }

    /// True if somebody wants reports: a system need not make one otherwise.
    pub fn are_wanted(&self) -> bool {
        self.wanted.load(Ordering::Relaxed)
    }

    /// Leaves a line about what a system of this rank did.
    pub fn add(&self, line: String) {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner).push(line);
    }

    /// The lines that were left since the last time, in their order.
    pub fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.lines.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
