//! A lock that is waited for instead of blocked on.

use super::{Permit, Semaphore};
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::PoisonError;

/// A value that one holder at a time may use, across awaits too.
///
/// [`Mutex::lock`] is a future: for asynchronous handlers and tasks; threads do
/// `weft.block_on(mutex.lock())`, which polls meanwhile. A plain handler should not wait, but may
/// [`Mutex::try_lock`]. A panic of its holder unlocks it.
pub struct Mutex<T: ?Sized> {
    turn: Semaphore,
    /// The value, unless somebody holds it. Only who has the turn gets here, so that nobody ever
    /// waits for this inner lock.
    value: std::sync::Mutex<Option<Box<T>>>,
}

/// The right to use the value; unlocks when it is dropped. May move between threads.
#[must_use = "the lock is free again as soon as the guard is dropped"]
pub struct MutexGuard<'a, T: ?Sized> {
    pub(super) mutex: &'a Mutex<T>,
    value: Option<Box<T>>,
    // Dropped last: the value is back when the next one's turn comes.
    _turn: Permit<'a>,
}

impl<T> Mutex<T> {
    /// A lock around `value`.
    pub fn new(value: T) -> Self {
        Mutex { turn: Semaphore::new(1), value: std::sync::Mutex::new(Some(Box::new(value))) }
    }
}

impl<T: ?Sized> Mutex<T> {
    /// The value, once it is this caller's turn.
    pub async fn lock(&self) -> MutexGuard<'_, T> {
        self.enter(self.turn.acquire().await)
    }

    /// The value, if nobody holds it or waits for it. Never waits.
    pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        self.turn.try_acquire().map(|turn| self.enter(turn))
    }

    fn enter<'a>(&'a self, turn: Permit<'a>) -> MutexGuard<'a, T> {
        let value = self.value.lock().unwrap_or_else(PoisonError::into_inner).take();
        MutexGuard { mutex: self, value, _turn: turn }
    }
}

impl<T: ?Sized> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.value.as_deref().expect("a guard has the value until it is dropped")
    }
}

impl<T: ?Sized> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.value.as_deref_mut().expect("a guard has the value until it is dropped")
    }
}

impl<T: ?Sized> Drop for MutexGuard<'_, T> {
    fn drop(&mut self) {
        let value = self.value.take();
        *self.mutex.value.lock().unwrap_or_else(PoisonError::into_inner) = value;
    }
}

impl<T: Default> Default for Mutex<T> {
    fn default() -> Self {
        Mutex::new(T::default())
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mutex").field("value", &self.value).finish_non_exhaustive()
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
