//! Active tuples: tuples that are computed while others work.

use crate::{Error, Result};
use std::thread::{Builder, JoinHandle};

/// An active tuple: a thread of this rank computes it, and then it is a tuple like any other. The
/// thread goes on if this is dropped; a rank waits for its active tuples before it leaves.
pub struct Active(JoinHandle<Result<()>>);

impl Active {
    pub(crate) fn start(put: impl FnOnce() -> Result<()> + Send + 'static) -> Result<Self> {
        let thread = Builder::new().name("active tuple".into()).spawn(put);
        thread.map(Active).map_err(|error| Error::NoThread(error.to_string()))
    }

    /// Waits until the tuple is in the space.
    ///
    /// # Errors
    /// Those of [`crate::Space::out`], or [`Error::Panicked`].
    pub fn wait(self) -> Result<()> {
        self.0.join().unwrap_or(Err(Error::Panicked))
    }
}
