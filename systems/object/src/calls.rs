//! Invocations of this rank that a copy here will answer: those that were broadcast, and those at
//! an only copy.
//!
//! The thread that broadcasts a write mostly executes it here itself, before the broadcast returns.
//! So a result is left in a slot, and is there when it is asked for; only who comes before it makes
//! something to wait for.

use crate::copy::Fault;
use crate::error::Result;
use crate::lock::lock;
use slab::Slab;
use std::sync::{Arc, Mutex};
use weft_endpoint::Awaited;
use weft_messaging::{Completer, Completion, Engine};

/// End of an invocation: its result, or why it has none.
pub(crate) type Answer = std::result::Result<Vec<u8>, Fault>;

/// Invocations of a rank that have not ended, or whose results nobody has taken.
#[derive(Default)]
pub(crate) struct Calls(Mutex<Slab<Call>>);

/// An invocation.
struct Call {
    /// Number by which a process waits for it; 0 if none does.
    number: u32,
    state: CallState,
}

enum CallState {
    /// It has not ended, and nobody waits yet.
    Expected,
    /// Somebody waits.
    Awaited(Completer<Answer>),
    /// It has ended.
    Over(Answer),
}

impl Calls {
    /// Key of a new invocation. It is answered once, and asked for once.
    #[inline]
    pub fn expect(&self, number: u32) -> u64 {
        lock(&self.0).insert(Call { number, state: CallState::Expected }) as u64
    }

    /// An invocation has not begun after all.
    pub fn forget(&self, key: u64) {
        lock(&self.0).try_remove(key as usize);
    }

    /// An invocation has ended.
    #[inline]
    pub fn complete(&self, key: u64, answer: Answer) {
        let mut calls = lock(&self.0);
        // What was forgotten is no more among them.
        let Some(call) = calls.get_mut(key as usize) else { return };
        if let CallState::Expected = call.state {
            call.state = CallState::Over(answer);
            return;
        }
        let call = calls.remove(key as usize);
        drop(calls);
        if let CallState::Awaited(completer) = call.state {
            completer.complete(Ok(answer));
        }
    }

    /// Waits for the result of an invocation; handlers run meanwhile.
    ///
    /// # Errors
    /// A lost rank.
    #[inline]
    pub fn wait(
        &self,
        key: u64,
        engine: &Arc<Engine>,
        what: &dyn Fn() -> Awaited,
    ) -> Result<Answer> {
        let mut calls = lock(&self.0);
        if let CallState::Over(_) = calls[key as usize].state
            && let CallState::Over(answer) = calls.remove(key as usize).state
        {
            return Ok(answer);
        }
        drop(calls);
        Ok(self.completion(key, engine).wait_for(what)?)
    }

    /// Completion with the result of an invocation.
    pub fn completion(&self, key: u64, engine: &Arc<Engine>) -> Completion<Answer> {
        let (completer, completion) = Completion::new(engine);
        let mut calls = lock(&self.0);
        match std::mem::replace(&mut calls[key as usize].state, CallState::Awaited(completer)) {
            CallState::Expected => {}
            CallState::Over(answer) => {
                let call = calls.remove(key as usize);
                drop(calls);
                if let CallState::Awaited(completer) = call.state {
                    completer.complete(Ok(answer));
                }
            }
            CallState::Awaited(_) => unreachable!("an invocation was asked for twice"),
        }
        completion
    }

    /// True if there are any that no process waits for.
    pub fn has_others(&self) -> bool {
        lock(&self.0).iter().any(|(_, call)| call.number == 0)
    }
}
