//! Cached handles: a thread keeps them from one call to the next.
//!
//! Every call holds its client, and every request its service's end. A thread that drops such a
//! handle keeps it for the next one, if its engine allows it, for the same reason as it keeps
//! the boxes of messages (`arrived`).

use crate::messages::Messages;
use std::cell::Cell;
use std::ops::Deref;
use std::sync::Arc;

/// An object to which threads keep handles.
pub(crate) trait Cache: Sized + 'static {
    /// The messages that say whether they may.
    fn messages(&self) -> &Messages;

    /// The handle that this thread has kept; `None` for a thread that ends.
    fn with_kept<R>(look: impl FnOnce(&Kept<Self>) -> R) -> Option<R>;
}

/// The handle that a thread keeps.
pub(crate) type Kept<T> = Cell<Option<Arc<T>>>;

/// Makes threads keep handles to a type. A thread that closes the engine [forgets](forget) its own.
macro_rules! cache {
    ($type:ty, $kept:ident, |$owner:ident| $messages:expr) => {
        thread_local!(
            static $kept: $crate::cached::Kept<$type> =
                const { $crate::cached::Kept::<$type>::new(None) }
        );

        impl $crate::cached::Cache for $type {
            #[inline]
            fn messages(&self) -> &$crate::messages::Messages {
                let $owner = self;
                $messages
            }

            #[inline]
            fn with_kept<R>(look: impl FnOnce(&$crate::cached::Kept<Self>) -> R) -> Option<R> {
                $kept.try_with(look).ok()
            }
        }
    };
}

pub(crate) use cache;

/// Drops the handle that this thread has kept.
pub(crate) fn forget<T: Cache>() {
    drop(T::with_kept(Cell::take));
}

/// A handle that its thread keeps when it is dropped.
pub(crate) struct Cached<T: Cache>(Option<Arc<T>>);

impl<T: Cache> Cached<T> {
    /// No handle.
    pub const NONE: Self = Cached(None);

    /// A handle to `owner`: the one that this thread has kept, or another.
    #[inline]
    pub fn new(owner: &Arc<T>) -> Self {
        let kept = T::with_kept(Cell::take).flatten();
        Cached(Some(
            kept.filter(|kept| Arc::ptr_eq(kept, owner)).unwrap_or_else(|| Arc::clone(owner)),
        ))
    }
}

impl<T: Cache> Deref for Cached<T> {
    type Target = Arc<T>;

    #[inline]
    fn deref(&self) -> &Arc<T> {
        match &self.0 {
            Some(handle) => handle,
            None => unreachable!("nobody looks at no handle"),
        }
    }
}

impl<T: Cache> Default for Cached<T> {
    fn default() -> Self {
        Self::NONE
    }
}

impl<T: Cache> Drop for Cached<T> {
    #[inline]
    fn drop(&mut self) {
        if let Some(handle) = self.0.take()
            && handle.messages().caches_handles()
        {
            // A thread that ends keeps nothing.
            T::with_kept(|kept| kept.set(Some(handle)));
        }
    }
}
