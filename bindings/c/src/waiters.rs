//! Threads that wait for a condition which callbacks make true.

use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::task::{Poll, Waker};

/// Threads that wait.
#[derive(Default)]
pub(crate) struct Waiters {
    any: AtomicBool,
    wakers: Mutex<Vec<Waker>>,
}

impl Waiters {
    /// Resolves once `done` says so; looks again whenever a callback has run.
    pub async fn until(&self, mut done: impl FnMut() -> bool) {
        poll_fn(|context| {
            if done() {
                return Poll::Ready(());
            }
            self.wakers().push(context.waker().clone());
            self.any.swap(true, Ordering::AcqRel);
            // A callback that did not see the waker has made its changes before that: look for
            // them.
            if done() { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }

    /// A callback has run, and may have made a condition true.
    #[inline]
    pub fn callback_ran(&self) {
        if self.any.swap(false, Ordering::AcqRel) {
            let wakers = std::mem::take(&mut *self.wakers());
            wakers.into_iter().for_each(Waker::wake);
        }
    }

    fn wakers(&self) -> std::sync::MutexGuard<'_, Vec<Waker>> {
        self.wakers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
