//! Locks that a panic does not poison.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// A panic in an operation is caught before it gets here.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
