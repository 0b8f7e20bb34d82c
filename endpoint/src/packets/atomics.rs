//! Atomic operations that no thread blocks for, and their variables in shared memory.

use crate::handle::Handle;
use crate::variable::Variable;
use crate::{Atomic, Result, SharedWords};
use std::sync::Arc;

/// Atomic operations, as those have them who do not block for each
/// ([`crate::Packets::atomics`]).
#[derive(Clone, Copy)]
pub struct AtomicOperations<'a>(&'a Handle);

impl<'a> AtomicOperations<'a> {
    #[inline]
    pub(super) fn new(handle: &'a Handle) -> Self {
        AtomicOperations(handle)
    }

    /// Begins to do what [`crate::Packets::atomic`] does; [`Self::take`] gives the answer, once it
    /// has come and somebody has polled since. False, and nothing is done, if another that was
    /// begun has not been taken, or a thread blocks for one. Never blocks.
    ///
    /// # Errors
    /// [`crate::Error::NoSuchRank`].
    pub fn begin(self, variable: Variable, operation: Atomic) -> Result<bool> {
        self.0.check_rank(variable.home)?;
        Ok(self.0.node.begin_atomic(variable.home, variable.index, operation))
    }

    /// The answer to [`Self::begin`], once, if it has come. Neither blocks nor polls.
    pub fn take(self) -> Option<u64> {
        self.0.node.take_fetched()
    }

    /// The variables as shared memory, if the link has them there.
    pub fn shared_words(self) -> Option<&'a Arc<dyn SharedWords>> {
        self.0.node.attributes().services.words.as_ref()
    }
}
