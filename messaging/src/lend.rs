//! A handle to the engine that a thread keeps from one message to the next.
//!
//! Every message holds its engine, and counting that up and down costs two atomic operations, a tenth of
//! what a short message takes. So a thread that drops a message keeps its handle for the next one, of an
//! engine that allows it: one whose owner says when it is done ([`Engine::close`]).

use crate::engine::Engine;
use std::cell::Cell;
use std::sync::Arc;

thread_local!(static KEPT: Cell<Option<Arc<Engine>>> = const { Cell::new(None) });

/// A handle to `engine`: the one that this thread has kept, or another.
#[inline]
pub(crate) fn borrow(engine: &Arc<Engine>) -> Arc<Engine> {
    match KEPT.try_with(Cell::take) {
        Ok(Some(kept)) if Arc::ptr_eq(&kept, engine) => kept,
        _ => Arc::clone(engine),
    }
}

/// Keeps `engine` for the next [`borrow`] on this thread.
#[inline]
pub(crate) fn give_back(engine: Arc<Engine>) {
    // A thread that ends keeps nothing.
    let _ = KEPT.try_with(|kept| kept.set(Some(engine)));
}

/// Drops what this thread has kept.
pub(crate) fn forget() {
    let _ = KEPT.try_with(Cell::take);
}
