//! Waits of programs that poll, and say only now and then that they have found nothing.

use crate::event::{Recorder, What};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Recorder with waits of programs that poll: they last from looks in vain to what is written down
/// next.
pub struct PollRecorder {
    inner: Arc<dyn Recorder>,
    is_waiting: AtomicBool,
}

impl PollRecorder {
    /// Writes down the waits, too, by `inner`.
    pub fn new(inner: Arc<dyn Recorder>) -> Self {
        PollRecorder { inner, is_waiting: AtomicBool::new(false) }
    }
}

impl Recorder for PollRecorder {
    fn record(&self, what: &What) {
        let is_activity = !matches!(what, What::Text { .. } | What::SleepBegins | What::SleepEnds);
        let ends = is_activity
            && self.is_waiting.load(Ordering::Relaxed)
            // Of several threads one ends it.
            && self.is_waiting.swap(false, Ordering::Relaxed);
        // A packet that ends a wait belongs to it.
        let (first, second) = match what {
            What::Received(_) => (what, &What::WaitEnds),
            _ => (&What::WaitEnds, what),
        };
        if ends {
            self.inner.record(first);
            self.inner.record(second);
        } else {
            self.inner.record(what);
        }
    }

    fn looked_in_vain(&self) {
        if !self.is_waiting.swap(true, Ordering::Relaxed) {
            self.inner.record(&What::WaitBegins);
        }
    }
}

#[cfg(test)]
mod tests;
