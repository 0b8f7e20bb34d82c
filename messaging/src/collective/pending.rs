//! An operation that was begun.

use crate::engine::Engine;
use crate::{Completer, Completion, Result};
use std::any::Any;
use std::future::Future;
use std::panic::resume_unwind;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

/// Payload of a panic in the program's reduction.
pub(super) type Panic = Box<dyn Any + Send>;

/// Result of an operation, unless the program's reduction panics.
type Given<T> = std::result::Result<T, Panic>;

/// An operation that was begun and goes on by itself, whenever this rank polls, waits or is
/// interrupted. Wait for its outcome, look for it, or await it; dropping it only gives up on the
/// outcome.
#[must_use = "nobody waits for what was begun"]
pub struct Pending<T>(Completion<Given<T>>);

/// The end of an operation that gives the outcome.
pub(super) type Promise<T> = Completer<Given<T>>;

impl<T> Pending<T> {
    pub(super) fn new(engine: &Arc<Engine>) -> (Promise<T>, Self) {
        let (completer, completion) = Completion::new(engine);
        (completer, Pending(completion))
    }

    /// The outcome, if it is there. Never blocks and does not poll the network.
    ///
    /// # Errors
    /// Those of [`Self::wait`].
    ///
    /// # Panics
    /// Those of [`Self::wait`].
    pub fn try_take(&mut self) -> Result<Option<T>> {
        Ok(self.0.try_take()?.map(unwind))
    }

    /// Waits for the outcome; handlers run meanwhile.
    ///
    /// # Errors
    /// A lost rank, [`crate::Error::Disagreement`], or [`crate::Error::Panicked`] elsewhere.
    ///
    /// # Panics
    /// If the program's reduction panicked here: with what it panicked.
    pub fn wait(self) -> Result<T> {
        self.0.wait().map(unwind)
    }
}

impl<T> Future for Pending<T> {
    type Output = Result<T>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<T>> {
        Pin::new(&mut self.0).poll(context).map(|outcome| outcome.map(unwind))
    }
}

fn unwind<T>(given: Given<T>) -> T {
    given.unwrap_or_else(|panic| resume_unwind(panic))
}
