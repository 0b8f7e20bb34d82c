//! Invocations of this rank that a copy here will answer: those that were broadcast, and those at
//! an only copy.
//!
//! The thread that broadcasts a write mostly executes it here itself, before the broadcast returns.
//! So a result is left in a slot, and is there when it is asked for; only who comes before it makes
//! something to wait for.

use crate::Result;
use crate::copy::Fault;
use crate::shared::lock;
use slab::Slab;
use std::sync::{Arc, Mutex};
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
    state: State,
}

enum State {
    /// It has not ended, and nobody waits yet.
    Expected,
    /// Somebody waits.
    Awaited(Completer<Answer>),
    /// It has ended.
    Over(Answer),
}

/// A result that is there, or something to wait for.
pub(crate) enum Outcome {
    Over(Answer),
    Completes(Completion<Answer>),
}

impl Calls {
    /// Key of a new invocation. It is answered once, and asked for once.
    #[inline]
    pub fn expect(&self, number: u32) -> u64 {
        lock(&self.0).insert(Call { number, state: State::Expected }) as u64
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
        if let State::Expected = call.state {
            call.state = State::Over(answer);
            return;
        }
        let call = calls.remove(key as usize);
        drop(calls);
        if let State::Awaited(completer) = call.state {
            completer.complete(Ok(answer));
        }
    }

    /// The result of an invocation, or something to wait for.
    #[inline]
    pub fn outcome(&self, key: u64, engine: &Arc<Engine>) -> Outcome {
        let mut calls = lock(&self.0);
        let call = &mut calls[key as usize];
        if let State::Expected = call.state {
            let (completer, completion) = Completion::new(engine);
            call.state = State::Awaited(completer);
            return Outcome::Completes(completion);
        }
        match calls.remove(key as usize).state {
            State::Over(answer) => Outcome::Over(answer),
            _ => unreachable!("an invocation was asked for twice"),
        }
    }

    /// True if there are any that no process waits for.
    pub fn has_others(&self) -> bool {
        lock(&self.0).iter().any(|(_, call)| call.number == 0)
    }
}

impl Outcome {
    /// Waits for the result; handlers run meanwhile.
    ///
    /// # Errors
    /// A lost rank.
    #[inline]
    pub fn wait(self) -> Result<Answer> {
        match self {
            Outcome::Over(answer) => Ok(answer),
            Outcome::Completes(completion) => Ok(completion.wait()?),
        }
    }
}
