//! Reports of systems: what they did, a line each, for who asked for statistics of the run.

use crate::engine::Engine;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// Lines that systems leave until their rank ends.
#[derive(Default)]
pub(crate) struct Reports {
    wanted: AtomicBool,
    lines: Mutex<Vec<String>>,
}

impl Engine {
    /// Has systems report from here on.
    pub fn want_reports(&self) {
        self.reports.wanted.store(true, Ordering::Relaxed);
    }

    /// True if somebody wants reports: a system need not make one otherwise.
    pub fn wants_reports(&self) -> bool {
        self.reports.wanted.load(Ordering::Relaxed)
    }

    /// Leaves a line about what a system of this rank did.
    pub fn add_report(&self, line: String) {
        let lines = self.reports.lines.lock();
        lines.unwrap_or_else(PoisonError::into_inner).push(line);
    }

    /// The lines that were left since the last time, in their order.
    pub fn take_reports(&self) -> Vec<String> {
        let lines = self.reports.lines.lock();
        std::mem::take(&mut *lines.unwrap_or_else(PoisonError::into_inner))
    }
}
