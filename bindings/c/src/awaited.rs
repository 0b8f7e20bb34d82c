//! Operations that were begun in one call of C's, and are waited for in another.

use crate::status::Failure;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use weft_messaging::{Engine, Result};

/// A future on its way, or its outcome.
pub(crate) struct Awaited<F: Future> {
    engine: Arc<Engine>,
    future: F,
    outcome: Option<F::Output>,
}

impl<T, F: Future<Output = Result<T>> + Unpin> Awaited<F> {
    /// Something that goes on while the rank of `engine` polls or waits.
    pub fn new(engine: &Arc<Engine>, future: F) -> Self {
        Awaited { engine: Arc::clone(engine), future, outcome: None }
    }

    /// True if it is over. Polls once, never blocks.
    pub fn is_done(&mut self) -> std::result::Result<bool, Failure> {
        if self.outcome.is_none() {
            self.engine.progress()?;
            let mut context = Context::from_waker(Waker::noop());
            if let Poll::Ready(outcome) = Pin::new(&mut self.future).poll(&mut context) {
                self.outcome = Some(outcome);
            }
        }
        Ok(self.outcome.is_some())
    }

    /// Waits until it is over, while callbacks run.
    pub fn wait(self) -> std::result::Result<T, Failure> {
        let what = || weft_endpoint::Awaited::of_unknown("what it has begun");
        match self.outcome {
            Some(outcome) => Ok(outcome?),
            None => Ok(self.engine.block_on_for(&what, self.future)??),
        }
    }
}
