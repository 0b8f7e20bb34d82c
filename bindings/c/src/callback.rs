//! Functions of C's that Weft calls.

use crate::handle::given;
use crate::job::JobState;
use crate::memory::User;
use crate::status::Failure;
use crate::waiters::Waiters;
use std::sync::{Arc, PoisonError, RwLock};

/// A function of C's and what it is given back. Clones are handles to the same.
pub(crate) struct Callback<F> {
    shared: Arc<Shared<F>>,
}

struct Shared<F> {
    /// Held by whoever calls it; `None` once it was taken away.
    function: RwLock<Option<(F, User)>>,
    waiters: Arc<Waiters>,
}

impl<F> Clone for Callback<F> {
    fn clone(&self) -> Self {
        Callback { shared: Arc::clone(&self.shared) }
    }
}

impl<F: Copy> Callback<F> {
    /// A function that runs in a job.
    pub fn new(job: &JobState, function: Option<F>, user: User) -> Result<Self, Failure> {
        let function = RwLock::new(Some((given(function, "the callback")?, user)));
        let waiters = Arc::clone(job.waiters());
        Ok(Callback { shared: Arc::new(Shared { function, waiters }) })
    }

    /// Lets `call` call it, unless it was taken away, and those look who wait for what it does.
    #[inline]
    pub fn run(&self, call: impl FnOnce(F, User)) {
        let function = self.shared.function.read().unwrap_or_else(PoisonError::into_inner);
        if let Some((function, user)) = *function {
            call(function, user);
        }
        drop(function);
        self.shared.waiters.callback_ran();
    }

    /// Takes it away: waits for calls that other threads make, and there are none afterwards.
    pub fn end(&self) {
        *self.shared.function.write().unwrap_or_else(PoisonError::into_inner) = None;
    }
}
