//! A copy of an instance, and the continuations at it.
//!
//! Copies of one instance are given the same writes in the same order. Reads are given to one of
//! them, and change nothing, whether they block or not; so all copies execute all writes in the
//! same order, those that were blocked too.

use crate::operation::{Instance, Outcome};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Counters of a copy.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Statistics {
    /// Operations that read, and that may write, executed here.
    pub reads: u64,
    /// See above.
    pub writes: u64,
    /// Operations that found their guards false at first.
    pub blocked: u64,
    /// Times that a blocked one was evaluated again.
    pub evaluated: u64,
}

/// A copy; `R` is whom a result is for.
pub(crate) struct Copy<R> {
    instance: Box<dyn Instance>,
    blocked: VecDeque<Continuation<R>>,
    /// An operation panicked in the middle of it.
    is_broken: bool,
    pub statistics: Statistics,
}

/// Operation that waits for its guard.
struct Continuation<R> {
    operation: u16,
    arguments: Box<[u8]>,
    resume: R,
}

/// Reason why an operation has no result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fault {
    /// The type has none of that number.
    NoSuchOperation,
    /// An operation panicked, this one or one before it.
    Broken,
}

/// Operation that is over, and its result.
pub(crate) type Over<R> = (R, Result<Vec<u8>, Fault>);

impl<R> Copy<R> {
    pub fn new(instance: Box<dyn Instance>) -> Self {
        let statistics = Statistics::default();
        Copy { instance, blocked: VecDeque::new(), is_broken: false, statistics }
    }

    /// Executes an operation, and all blocked ones that it lets through; or it becomes one of them.
    pub fn invoke(&mut self, operation: u16, arguments: &[u8], resume: R, over: &mut Vec<Over<R>>) {
        let Some(writes) = self.instance.writes(operation) else {
            return over.push((resume, Err(Fault::NoSuchOperation)));
        };
        match self.execute(operation, arguments) {
            Ok(Some(result)) => {
                over.push((resume, Ok(result)));
                if writes {
                    self.wake(over);
                }
            }
            Ok(None) => {
                self.statistics.blocked += 1;
                let arguments = arguments.into();
                self.blocked.push_back(Continuation { operation, arguments, resume });
            }
            Err(fault) => {
                over.push((resume, Err(fault)));
                let blocked = self.blocked.drain(..);
                over.extend(blocked.map(|waiting| (waiting.resume, Err(fault))));
            }
        }
    }

    /// Evaluates all that are blocked, in their order, until none gets through.
    fn wake(&mut self, over: &mut Vec<Over<R>>) {
        let mut has_written = true;
        while std::mem::take(&mut has_written) {
            for _ in 0..self.blocked.len() {
                let Some(waiting) = self.blocked.pop_front() else { return };
                self.statistics.evaluated += 1;
                match self.execute(waiting.operation, &waiting.arguments) {
                    Ok(None) => self.blocked.push_back(waiting),
                    Ok(Some(result)) => {
                        has_written |= self.instance.writes(waiting.operation) == Some(true);
                        over.push((waiting.resume, Ok(result)));
                    }
                    Err(fault) => {
                        over.push((waiting.resume, Err(fault)));
                        let blocked = self.blocked.drain(..);
                        return over.extend(blocked.map(|other| (other.resume, Err(fault))));
                    }
                }
            }
        }
    }

    /// Result of an operation that there is; `None` if it is blocked.
    fn execute(&mut self, operation: u16, arguments: &[u8]) -> Result<Option<Vec<u8>>, Fault> {
        if self.is_broken {
            return Err(Fault::Broken);
        }
        let mut result = Vec::new();
        let run = || self.instance.execute(operation, arguments, &mut result);
        // What a panic leaves behind is not used any more.
        match catch_unwind(AssertUnwindSafe(run)) {
            Ok(Outcome::Blocked) => Ok(None),
            Ok(Outcome::Done) => {
                let writes = self.instance.writes(operation) == Some(true);
                self.statistics.writes += u64::from(writes);
                self.statistics.reads += u64::from(!writes);
                Ok(Some(result))
            }
            Err(_) => {
                self.is_broken = true;
                Err(Fault::Broken)
            }
        }
    }
}

#[cfg(test)]
mod tests;
