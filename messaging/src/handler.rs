//! Handlers of messages: the upcall models of thesis table 6.2.
//!
//! | model | here | a handler may | order | costs |
//! |---|---|---|---|---|
//! | active messages | [`Port::new`](crate::Port::new) | not wait | kept | a call |
//! | single-threaded upcalls | [`Port::with_async`](crate::Port::with_async) | wait; its port waits too | kept | a call; a continuation if it waits |
//! | popup threads | [`Port::concurrent`](crate::Port::concurrent) | wait; others go on | given up | the same |
//! | | [`Port::popup`](crate::Port::popup) | block its thread | given up | two thread switches |
//!
//! An asynchronous handler is polled in place, on the stack of whoever polls the network. If it
//! ends there, it was a procedure call: its future lies in a box that the port keeps for the next
//! message. Only if it waits does the box become a continuation, and the port gets another: the
//! lazy thread creation of OpenThreads (thesis 6.2.3), with a future in the place of a stack.

use crate::machine::{Handling, PortRun};
use crate::tasks::{Continuation, Resume, Task, Tasks};
use std::any::Any;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use weft_endpoint::Rank;

/// Handler of the messages of a port, which are `M`.
pub(crate) struct Handler<M> {
    /// The port.
    pub port: PortRun,
    pub model: Model<M>,
}

/// Upcall model of a handler.
pub(crate) enum Model<M> {
    /// Runs to its end where the packet was polled.
    Plain(Box<dyn FnMut(M) + Send>),
    /// May wait; the next message of the port waits with it, unless they are concurrent.
    Async(Waiting<M>),
    /// Runs on a thread of its own.
    Popup(Arc<dyn Fn(M) + Send + Sync>),
}

/// A handler that may wait, and what its next run needs.
pub(crate) struct Waiting<M> {
    code: Box<dyn Begin<M>>,
    task: Arc<Task>,
    waker: Waker,
    pub concurrent: bool,
}

trait Begin<M>: Send {
    /// Runs the handler until it ends or waits.
    fn begin(&mut self, message: M, context: &mut Context<'_>) -> Option<Continuation>;
}

/// An asynchronous function, and a box for the next future that it returns.
struct InPlace<F, R> {
    function: F,
    spare: Option<Pin<Box<Option<R>>>>,
}

impl<M, F, R> Begin<M> for InPlace<F, R>
where
    F: FnMut(M) -> R + Send,
    R: Future<Output = ()> + Send + 'static,
{
    fn begin(&mut self, message: M, context: &mut Context<'_>) -> Option<Continuation> {
        let future = (self.function)(message);
        let mut place = self.spare.take().unwrap_or_else(|| Box::pin(None));
        place.as_mut().set(Some(future));
        match place.as_mut().resume(context) {
            Poll::Ready(()) => {
                self.spare = Some(place);
                None
            }
            Poll::Pending => Some(place),
        }
    }
}

impl<M> Handling for Box<Handler<M>> {
    #[inline]
    fn port(&self) -> PortRun {
        self.port
    }

    /// True if it waits on its stack, until the message that it reads is all here, for example. In
    /// the simulator, popup threads are none.
    fn may_block(&self) -> bool {
        !matches!(self.model, Model::Async(_))
    }

    fn stops_port(&self) -> bool {
        !matches!(self.model, Model::Async(Waiting { concurrent: true, .. }))
    }
}

impl<M> Waiting<M> {
    /// A handler of `port`.
    pub fn new<F, R>(tasks: &Arc<Tasks>, port: PortRun, concurrent: bool, function: F) -> Self
    where
        F: FnMut(M) -> R + Send + 'static,
        R: Future<Output = ()> + Send + 'static,
    {
        let task = Task::of_port(tasks, Some(port), concurrent);
        let waker = Waker::from(Arc::clone(&task));
        Waiting { code: Box::new(InPlace { function, spare: None }), task, waker, concurrent }
    }

    /// Runs it on `message`, which `from` has sent. False if it waits.
    pub fn run(&mut self, from: Rank, message: M) -> bool {
        self.task.begin();
        let mut context = Context::from_waker(&self.waker);
        let Some(continuation) = self.code.begin(message, &mut context) else { return true };
        let next = self.task.fresh();
        self.waker = Waker::from(Arc::clone(&next));
        std::mem::replace(&mut self.task, next).park_handler(from, continuation);
        false
    }
}

/// Calls `code`; if it panics, returns what it said.
pub(crate) fn guarded<T>(code: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(code)).map_err(panic_text)
}

/// Text of a panic. One that carries no text is none: a simulated rank is being stopped.
fn panic_text(payload: Box<dyn Any + Send>) -> String {
    match payload.downcast::<String>() {
        Ok(text) => *text,
        Err(payload) => match payload.downcast::<&'static str>() {
            Ok(text) => (*text).into(),
            Err(payload) => resume_unwind(payload),
        },
    }
}
