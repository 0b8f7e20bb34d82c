//! A condition variable for [`Mutex`](super::Mutex).

use super::{MutexGuard, Semaphore};
use std::future::{Future, poll_fn};
use std::pin::pin;

/// A condition that the holders of a lock wait for until another holder has made it true: a job in
/// a queue, say (thesis fig. 6.9, which a single-threaded upcall could not do). 6.9, which a
/// single-threaded upcall could not do).
///
/// ```
/// # use weft_messaging::sync::{Condition, Mutex};
/// # async fn next_job(jobs: &Mutex<Vec<u32>>, filled: &Condition) -> u32 {
/// let mut jobs = jobs.lock().await;
/// loop {
///     match jobs.pop() {
///         Some(job) => return job,
///         None => jobs = filled.wait(jobs).await,
///     }
/// }
/// # }
/// ```
#[derive(Debug)]
pub struct Condition {
    turns: Semaphore,
}

impl Condition {
    /// Nobody waits yet.
    pub fn new() -> Self {
        Condition { turns: Semaphore::forgetful() }
    }

    /// Unlocks, waits to be notified, and locks again. Nobody is notified who does not wait yet,
    /// and nobody wakes without having been notified; another holder may have come first, though,
    /// and what was waited for be gone again.
    ///
    /// If this future is dropped after it was notified, the next one is in its place.
    pub async fn wait<'a, T: ?Sized>(&self, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
        let mutex = guard.mutex;
        let mut turn = pin!(self.turns.acquire());
        let mut guard = Some(guard);
        let notified = poll_fn(|context| {
            let notified = turn.as_mut().poll(context);
            // Only now that this one waits: a notification between the two would be lost.
            guard = None;
            notified
        })
        .await;
        let locked = mutex.lock().await;
        notified.forget();
        locked
    }

    /// Wakes the one that has waited longest, if anybody waits. True if anybody did.
    pub fn notify_one(&self) -> bool {
        self.turns.release()
    }

    /// Wakes all that wait now; they go on in the order in which they came.
    pub fn notify_all(&self) {
        self.turns.release_waiting();
    }
}

impl Default for Condition {
    fn default() -> Self {
        Condition::new()
    }
}
