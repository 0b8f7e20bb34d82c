//! One value that somebody waits for: a thread that polls, a thread that is parked, or a task.

use crate::engine::Engine;
use crate::poll::Poller;
use crate::wait::Polls;
use crate::{Error, Result};
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use weft_endpoint::Awaited;

/// The value, once it is there, and the waker of the waiting task.
struct Shared<T> {
    value: Option<Result<T>>,
    waker: Option<Waker>,
}

/// The end that gives the value; dropped without one, the waiter gets [`Error::Abandoned`].
pub struct Completer<T> {
    shared: Arc<Mutex<Shared<T>>>,
    done: bool,
}

/// The end that waits: blocking with [`Completion::wait`], or as a future. Dropping it gives up on
/// the value.
#[must_use = "nobody waits for what was begun"]
pub struct Completion<T> {
    engine: Arc<Engine>,
    shared: Arc<Mutex<Shared<T>>>,
}

impl<T> Completion<T> {
    /// Both ends.
    pub fn new(engine: &Arc<Engine>) -> (Completer<T>, Self) {
        let shared = Arc::new(Mutex::new(Shared { value: None, waker: None }));
        let completer = Completer { shared: Arc::clone(&shared), done: false };
        (completer, Completion { engine: Arc::clone(engine), shared })
    }

    /// The value, if it is there. Never blocks and does not poll the network.
    ///
    /// # Errors
    /// What the other end completed with.
    pub fn try_take(&mut self) -> Result<Option<T>> {
        lock(&self.shared).value.take().transpose()
    }

    /// The engine by which it waits.
    pub(crate) fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }

    /// Waits for the value; handlers run meanwhile.
    ///
    /// # Errors
    /// What the other end completed with, or a lost rank.
    pub fn wait(self) -> Result<T> {
        self.wait_for(&|| Awaited::of_unknown("what it has begun"))
    }

    /// Does what [`Self::wait`] does, and lets others know `what` this rank waits for.
    ///
    /// # Errors
    /// Those of [`Self::wait`].
    pub fn wait_for(self, what: &dyn Fn() -> Awaited) -> Result<T> {
        let shared = Arc::clone(&self.shared);
        let poller = Poller::new(&self.engine.messages);
        poller.wait_for(what, |waker| look(&shared, waker).transpose())
    }
}

impl<T> Completer<T> {
    /// Gives the value.
    pub fn complete(mut self, value: Result<T>) {
        self.give(value);
    }

    fn give(&mut self, value: Result<T>) {
        if std::mem::replace(&mut self.done, true) {
            return;
        }
        let mut shared = lock(&self.shared);
        shared.value = Some(value);
        let waker = shared.waker.take();
        drop(shared);
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl<T> Drop for Completer<T> {
    fn drop(&mut self) {
        self.give(Err(Error::Abandoned));
    }
}

impl<T> Future for Completion<T> {
    type Output = Result<T>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<T>> {
        match look(&self.shared, Some(context.waker())) {
            Some(value) => Poll::Ready(value),
            None => {
                self.engine.messages.somebody_waits();
                Poll::Pending
            }
        }
    }
}

/// The value if it is there; else leaves `waker` to be woken.
fn look<T>(shared: &Mutex<Shared<T>>, waker: Option<&Waker>) -> Option<Result<T>> {
    let mut shared = lock(shared);
    let value = shared.value.take();
    if value.is_none() {
        shared.waker = waker.cloned();
    }
    value
}

fn lock<T>(shared: &Mutex<Shared<T>>) -> MutexGuard<'_, Shared<T>> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
