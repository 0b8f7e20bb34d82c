//! Coroutines with stacks of their own: a rank's program runs until it waits, wherever that is.
#![allow(unsafe_code)]

use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult, Yielder};
use std::cell::Cell;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use weft_link::threads::CoroutineWords;

thread_local! {
    /// The coroutine that runs on this thread now.
    static CURRENT: Cell<*const Yielder<(), ()>> = const { Cell::new(ptr::null()) };
}

/// Memory for a coroutine, with a page below it that stops it from growing out of it.
pub(crate) struct Stack(DefaultStack);

impl Stack {
    /// A stack of `bytes`; pages that nobody touches take no memory.
    ///
    /// # Errors
    /// The system has no room for it.
    pub fn new(bytes: usize) -> io::Result<Self> {
        Ok(Stack(DefaultStack::new(bytes)?))
    }
}

/// Payload of a panic in a body.
pub(crate) type Panic = Box<dyn std::any::Any + Send>;

/// A coroutine. It has to end before it is dropped: whoever owns it makes its body return or unwind
/// (`SimulatedNetwork`'s drop does).
pub(crate) struct Strand {
    coroutine: Coroutine<(), (), Result<(), Panic>, DefaultStack>,
    /// Its words while it does not run, and those of whoever resumed it while it does.
    words: CoroutineWords,
}

impl Strand {
    /// A coroutine that runs `body` on `stack`. It has this number among those of its rank, and the
    /// words of the running one.
    pub fn new(number: u32, stack: Stack, body: impl FnOnce() + 'static) -> Self {
        let coroutine = Coroutine::with_stack(stack.0, move |yielder: &Yielder<(), ()>, ()| {
            CURRENT.set(yielder);
            catch_unwind(AssertUnwindSafe(body))
        });
        Strand { coroutine, words: CoroutineWords::inherited(number.into()) }
    }

    /// Runs it until it suspends, and then returns `None`, or ends.
    pub fn resume(&mut self) -> Option<Result<(), Panic>> {
        let outer = CURRENT.replace(ptr::null());
        self.words.exchange();
        let result = self.coroutine.resume(());
        self.words.exchange();
        CURRENT.set(outer);
        match result {
            CoroutineResult::Yield(()) => None,
            CoroutineResult::Return(outcome) => Some(outcome),
        }
    }

    /// True if it has run at all, and not to its end.
    pub fn is_suspended(&self) -> bool {
        self.coroutine.started() && !self.coroutine.done()
    }
}

/// True if a coroutine runs on this thread.
pub(crate) fn is_inside() -> bool {
    !CURRENT.get().is_null()
}

/// Suspends the coroutine that runs on this thread, until it is resumed.
///
/// # Panics
/// If none does.
pub(crate) fn suspend() {
    let current = CURRENT.get();
    assert!(!current.is_null(), "only a simulated rank can wait in virtual time");
    // SAFETY: `CURRENT` is set by the coroutine itself, to its own yielder, which lives at the
    // bottom of its stack for as long as it runs; `resume` puts the outer value back whenever this
    // coroutine stops running. So what is found here is the yielder of the running coroutine.
    unsafe { (*current).suspend(()) };
    CURRENT.set(current);
}

#[cfg(test)]
mod tests;
