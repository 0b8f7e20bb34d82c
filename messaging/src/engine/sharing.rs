//! Threads of a rank that are equal: each pays for ordinary locks, and none for a barrier.

use super::Engine;
use std::sync::{Arc, MutexGuard, PoisonError};

/// Threads of a rank: whether all are equal, and what is to be done when they become so.
#[derive(Default)]
pub(super) struct Sharing {
    is_shared: bool,
    hooks: Vec<Box<dyn FnOnce() + Send>>,
}

impl Engine {
    /// Makes all threads equal, for good: see [`Packets::share`]. For programs that send and
    /// receive in several threads (thesis 6.2.1).
    pub fn share(&self) {
        self.packets.share();
        self.state.share();
        self.seats.share();
        let mut sharing = self.sharing();
        sharing.is_shared = true;
        let hooks = std::mem::take(&mut sharing.hooks);
        drop(sharing);
        hooks.into_iter().for_each(|hook| hook());
    }

    /// Has `hook` called once when all threads are equal, or now if they are: for what has locks of
    /// its own, which it shares then.
    pub(crate) fn on_share<T: Send + Sync + 'static>(&self, of: &Arc<T>, hook: fn(&T)) {
        let of = Arc::downgrade(of);
        let hook = Box::new(move || of.upgrade().iter().for_each(|of| hook(of)));
        let mut sharing = self.sharing();
        if !sharing.is_shared {
            sharing.hooks.push(hook);
            return;
        }
        drop(sharing);
        hook();
    }

    fn sharing(&self) -> MutexGuard<'_, Sharing> {
        self.sharing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
