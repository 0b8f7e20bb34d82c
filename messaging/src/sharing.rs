//! Threads of a rank that are equal: each pays for ordinary locks, and none for a barrier.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Sharing of a rank's locks: whether all threads are equal, and what is to be done when they
/// become so.
#[derive(Default)]
pub(crate) struct Sharing(Mutex<State>);

#[derive(Default)]
struct State {
    is_shared: bool,
    hooks: Vec<Box<dyn FnOnce() + Send>>,
}

impl Sharing {
    /// All threads are equal from here on.
    pub fn share(&self) {
        let mut state = self.lock();
        state.is_shared = true;
        let hooks = std::mem::take(&mut state.hooks);
        drop(state);
        hooks.into_iter().for_each(|hook| hook());
    }

    /// Has `hook` called once when all threads are equal, or now if they are: for what has locks of
    /// its own, which it shares then.
    pub fn on_share<T: Send + Sync + 'static>(&self, of: &Arc<T>, hook: fn(&T)) {
        let of = Arc::downgrade(of);
        let hook = Box::new(move || of.upgrade().iter().for_each(|of| hook(of)));
        let mut state = self.lock();
        if !state.is_shared {
            state.hooks.push(hook);
            return;
        }
        drop(state);
        hook();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
