//! An operation that was begun.

use crate::engine::Engine;
use crate::{Completer, Completion, Result};
use std::any::Any;
use std::future::Future;
use std::panic::resume_unwind;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use weft_collective::{Members, Signature, TeamId, awaited};
use weft_endpoint::{Awaited, Protocol};

/// Payload of a panic in the program's reduction.
pub(super) type Panic = Box<dyn Any + Send>;

/// Result of an operation, unless the program's reduction panics.
type Given<T> = std::result::Result<T, Panic>;

/// An operation that was begun and goes on by itself, whenever this rank polls, waits or is
/// interrupted. Wait for its outcome, look for it, or await it; dropping it only gives up on the
/// outcome.
#[must_use = "nobody waits for what was begun"]
pub struct Pending<T> {
    outcome: Completion<Given<T>>,
    /// The operation, as others may learn of it.
    begun: Begun,
}

/// The end of an operation that gives the outcome.
pub(super) type Promise<T> = Completer<Given<T>>;

/// Operation that this member has begun.
pub(super) struct Begun {
    pub team: TeamId,
    pub members: Option<Arc<Members>>,
    pub number: u32,
    pub signature: Signature,
}

impl Begun {
    /// Object of the wait for its end.
    pub fn awaited(&self, engine: &Engine) -> Awaited {
        let is = (self.number, self.signature);
        let mut awaited = match &self.members {
            Some(members) => awaited(Protocol::MESSAGES, self.team, members, is),
            None => Awaited::of_unknown(self.signature.to_string()),
        };
        if engine.is_leaving() {
            awaited.what = format!("all others to end ({})", awaited.what);
        }
        awaited
    }
}

impl<T> Pending<T> {
    pub(super) fn new(engine: &Arc<Engine>, begun: Begun) -> (Promise<T>, Self) {
        let (completer, outcome) = Completion::new(engine);
        (completer, Pending { outcome, begun })
    }

    pub(super) fn set_number(&mut self, number: u32) {
        self.begun.number = number;
    }

    /// The outcome, if it is there. Never blocks and does not poll the network.
    ///
    /// # Errors
    /// Those of [`Self::wait`].
    ///
    /// # Panics
    /// Those of [`Self::wait`].
    pub fn try_take(&mut self) -> Result<Option<T>> {
        Ok(self.outcome.try_take()?.map(unwind))
    }

    /// Waits for the outcome; handlers run meanwhile.
    ///
    /// # Errors
    /// A lost rank, [`crate::Error::Disagreement`], or [`crate::Error::Panicked`] elsewhere.
    ///
    /// # Panics
    /// If the program's reduction panicked here: with what it panicked.
    pub fn wait(self) -> Result<T> {
        let begun = self.begun;
        let engine = Arc::clone(self.outcome.engine());
        let _span = engine.packets().trace().span_of(|| begun.signature.operation.to_string());
        self.outcome.wait_for(&|| begun.awaited(&engine)).map(unwind)
    }
}

impl<T> Future for Pending<T> {
    type Output = Result<T>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<T>> {
        Pin::new(&mut self.outcome).poll(context).map(|outcome| outcome.map(unwind))
    }
}

fn unwind<T>(given: Given<T>) -> T {
    given.unwrap_or_else(|panic| resume_unwind(panic))
}
