//! A copy of an instance, and the continuations at it; or the place for one.
//!
//! Copies of one instance are given the same writes in the same order. Reads are given to one of
//! them, and change nothing, whether they block or not; so all copies execute all writes in the
//! same order, those that were blocked too.

use crate::operation::{Executable, Outcome};
use smallvec::SmallVec;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Counters of a copy.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Statistics {
    /// Operations that read, executed here.
    pub reads: u64,
    /// Operations that may write, executed here.
    pub writes: u64,
    /// Operations that found their guards false at first.
    pub blocked: u64,
    /// Evaluations of operations that were blocked.
    pub evaluated: u64,
}

/// Part of a copy in the placement of its object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Role {
    /// The object is elsewhere.
    Absent,
    /// It is the only copy.
    Only,
    /// It was the only copy, and its state is on its way: what comes is kept, to be told later
    /// where the object is.
    Frozen,
    /// There is one like it at every rank.
    Replica,
    /// The object is no more.
    Deleted,
}

/// Way of an invocation to a copy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Way {
    /// By a thread here, which only reads.
    Read,
    /// By a thread here or by call, to a copy that is the only one.
    Home,
    /// By the order, to all copies.
    Ordered,
}

/// A copy of a `T`; `R` is whom a result is for.
pub(crate) struct Copy<T, R> {
    /// Empty if it is absent, frozen or broken, or could not be made.
    instance: Option<T>,
    /// The instance of a copy that is frozen or broken.
    frozen: Option<T>,
    role: Role,
    blocked: VecDeque<Continuation<R>>,
    /// An operation panicked in the middle of it.
    is_broken: bool,
    /// Fault of whoever would be blocked.
    ending: Option<Fault>,
    pub statistics: Statistics,
}

/// Operation that waits for its guard.
struct Continuation<R> {
    operation: u16,
    arguments: Box<[u8]>,
    resume: R,
}

/// Reason why an operation has no result.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Fault {
    /// The type has none of that number.
    NoSuchOperation,
    /// The bytes are no arguments of the operation.
    Malformed,
    /// An operation panicked, this one or one before it.
    Broken,
    /// The rank that should have a copy has none.
    NoCopy,
    /// Its guards were false, and its program has failed.
    Ended,
    /// The object is no more.
    Deleted,
    /// The object is elsewhere, or will be; nothing was executed. The arguments come back. Whoever
    /// invoked starts again; users never hear of it.
    Moved(Vec<u8>),
}

/// An operation panicked, just now.
#[derive(PartialEq, Eq, Debug)]
pub(crate) struct Broken;

impl From<Broken> for Fault {
    fn from(_: Broken) -> Self {
        Fault::Broken
    }
}

/// Operation that is over, and its result.
pub(crate) type Over<R> = (R, Result<Vec<u8>, Fault>);

/// Operations that are over: mostly one.
pub(crate) type Overs<R> = SmallVec<[Over<R>; 2]>;

impl<T: Executable, R> Copy<T, R> {
    /// A copy with this role.
    pub fn new(instance: Option<T>, role: Role) -> Self {
        Copy {
            instance,
            frozen: None,
            role,
            blocked: VecDeque::new(),
            is_broken: false,
            ending: None,
            statistics: Statistics::default(),
        }
    }

    /// Role of the copy.
    pub fn role(&self) -> Role {
        self.role
    }

    /// Destinations of what is blocked.
    pub fn blocked(&self) -> impl Iterator<Item = &R> {
        self.blocked.iter().map(|waiting| &waiting.resume)
    }

    /// State of the only copy, which is frozen from here on, if `accepts` takes it; `None` if it
    /// does not, or the object is broken. (A copy that is late is a bug, which tests plant.)
    pub fn freeze(
        &mut self,
        accepts: impl FnOnce(&[u8]) -> bool,
        is_late: bool,
    ) -> Option<Vec<u8>> {
        if self.role != Role::Only {
            return None;
        }
        let instance = self.instance.as_ref()?;
        // A panic changes nothing: then the object stays where it is.
        let capture = || {
            let state = instance.capture();
            accepts(&state).then_some(state)
        };
        let state = catch_unwind(AssertUnwindSafe(capture)).ok()??;
        if !is_late {
            self.frozen = self.instance.take();
            self.role = Role::Frozen;
        }
        Some(state)
    }

    /// The copy has this role from here on, with another instance if there is one to take; adds all
    /// that was kept, whose object has moved.
    pub fn settle(&mut self, role: Role, fresh: Option<Option<T>>, over: &mut Overs<R>) {
        let kept = self.blocked.drain(..);
        over.extend(kept.map(|waiting| {
            let fault = Fault::Moved(waiting.arguments.into_vec());
            (waiting.resume, Err(fault))
        }));
        self.role = role;
        match fresh {
            None if role != Role::Absent => {}
            fresh => {
                (self.instance, self.frozen) = (fresh.flatten(), None);
                self.is_broken = false;
            }
        }
    }

    /// The object is no more: ends all that is blocked or kept.
    pub fn delete(&mut self, over: &mut Overs<R>) {
        self.role = Role::Deleted;
        (self.instance, self.frozen) = (None, None);
        let blocked = std::mem::take(&mut self.blocked);
        over.extend(blocked.into_iter().map(|waiting| (waiting.resume, Err(Fault::Deleted))));
    }

    /// The instance, to be moved into another copy.
    pub fn take_instance(&mut self) -> Option<T> {
        self.instance.take()
    }

    /// Ends all that is blocked, and what would be, by this fault from here on, or no longer.
    pub fn set_ending(&mut self, ending: Option<Fault>, over: &mut Overs<R>) {
        self.ending.clone_from(&ending);
        if let Some(fault) = ending {
            let blocked = self.blocked.drain(..);
            over.extend(blocked.map(|waiting| (waiting.resume, Err(fault.clone()))));
        }
    }

    /// Executes an operation that came this way, and all blocked ones that it lets through; or it
    /// becomes one of them.
    pub fn invoke(
        &mut self,
        way: Way,
        operation: u16,
        arguments: &[u8],
        resume: R,
        over: &mut Overs<R>,
    ) {
        match (self.role, way) {
            (Role::Frozen, Way::Read | Way::Home) => self.keep(operation, arguments, resume),
            (Role::Only, Way::Read | Way::Home) | (Role::Replica, Way::Read | Way::Ordered) => {
                self.invoke_here(operation, arguments, resume, over);
            }
            (Role::Deleted, _) => over.push((resume, Err(Fault::Deleted))),
            _ => over.push((resume, Err(Fault::Moved(arguments.into())))),
        }
    }

    fn invoke_here(&mut self, operation: u16, arguments: &[u8], resume: R, over: &mut Overs<R>) {
        match self.execute(operation, arguments) {
            Ok(Some((result, has_written))) => {
                over.push((resume, Ok(result)));
                if has_written {
                    self.wake(over);
                }
            }
            Ok(None) => {
                self.statistics.blocked += 1;
                match self.ending.clone() {
                    Some(fault) => over.push((resume, Err(fault))),
                    None => self.keep(operation, arguments, resume),
                }
            }
            Err(fault) => {
                over.push((resume, Err(fault)));
                self.fail_blocked(over);
            }
        }
    }

    fn keep(&mut self, operation: u16, arguments: &[u8], resume: R) {
        self.blocked.push_back(Continuation { operation, arguments: arguments.into(), resume });
    }

    /// Result of those alternatives of an operation that read; `None` if there are none, or their
    /// guards are false.
    pub fn read(&mut self, operation: u16, arguments: &[u8]) -> Result<Option<Vec<u8>>, Fault> {
        match self.role {
            Role::Absent | Role::Frozen => return Err(Fault::Moved(arguments.into())),
            Role::Deleted => return Err(Fault::Deleted),
            Role::Only | Role::Replica => {}
        }
        let mut result = Vec::new();
        let Some(instance) = &self.instance else { return Err(self.missing()) };
        let run = AssertUnwindSafe(|| instance.read(operation, arguments, &mut result));
        let Ok(outcome) = catch_unwind(run) else { return Err(self.break_down().into()) };
        let outcome = outcome.ok_or(Fault::NoSuchOperation)?;
        match outcome {
            Outcome::Blocked => return Ok(None),
            Outcome::Malformed => return Err(Fault::Malformed),
            Outcome::Done => {}
        }
        self.statistics.reads += 1;
        Ok(Some(result))
    }

    /// Has `read` look at the instance; `None` if there is none, or it returns that because its
    /// guard is false.
    #[inline]
    pub fn read_with<O>(
        &mut self,
        read: impl FnOnce(&T) -> Option<O>,
    ) -> Result<Option<O>, Broken> {
        let Some(instance) = &self.instance else { return Ok(None) };
        match catch_unwind(AssertUnwindSafe(|| read(instance))) {
            Ok(found) => {
                self.statistics.reads += u64::from(found.is_some());
                Ok(found)
            }
            Err(_) => Err(self.break_down()),
        }
    }

    /// Has `write` change the instance of the only copy, and executes all blocked ones that it lets
    /// through. `None` if this is not the only copy, or `write` returns that because its guard is
    /// false; then nothing was changed.
    pub fn write_with<O>(
        &mut self,
        write: impl FnOnce(&mut T) -> Option<O>,
        over: &mut Overs<R>,
    ) -> Result<Option<O>, Broken> {
        let (Role::Only, Some(instance)) = (self.role, &mut self.instance) else {
            return Ok(None);
        };
        match catch_unwind(AssertUnwindSafe(|| write(instance))) {
            Ok(Some(done)) => {
                self.statistics.writes += 1;
                self.wake(over);
                Ok(Some(done))
            }
            Ok(None) => Ok(None),
            Err(_) => {
                let broken = self.break_down();
                self.fail_blocked(over);
                Err(broken)
            }
        }
    }

    /// Reason why there is no instance, where there should be one.
    #[cold]
    fn missing(&self) -> Fault {
        if self.is_broken { Fault::Broken } else { Fault::NoCopy }
    }

    /// An operation panicked: what it left behind is not used any more.
    #[cold]
    fn break_down(&mut self) -> Broken {
        self.is_broken = true;
        // Its drop may panic, too.
        self.frozen = self.instance.take();
        Broken
    }

    /// Evaluates all that are blocked, in their order, until none gets through.
    fn wake(&mut self, over: &mut Overs<R>) {
        let mut has_written = true;
        while std::mem::take(&mut has_written) {
            for _ in 0..self.blocked.len() {
                let Some(waiting) = self.blocked.pop_front() else { return };
                self.statistics.evaluated += 1;
                match self.execute(waiting.operation, &waiting.arguments) {
                    Ok(None) => self.blocked.push_back(waiting),
                    Ok(Some((result, wrote))) => {
                        has_written |= wrote;
                        over.push((waiting.resume, Ok(result)));
                    }
                    Err(fault) => {
                        over.push((waiting.resume, Err(fault)));
                        self.fail_blocked(over);
                    }
                }
            }
        }
    }

    /// Nobody waits for an object that is broken.
    fn fail_blocked(&mut self, over: &mut Overs<R>) {
        if self.is_broken {
            let blocked = self.blocked.drain(..);
            over.extend(blocked.map(|waiting| (waiting.resume, Err(Fault::Broken))));
        }
    }

    /// Result of an operation, and true if it may have written; `None` if it is blocked.
    fn execute(
        &mut self,
        operation: u16,
        arguments: &[u8],
    ) -> Result<Option<(Vec<u8>, bool)>, Fault> {
        let mut result = Vec::new();
        let Some(instance) = &mut self.instance else { return Err(self.missing()) };
        let run = AssertUnwindSafe(|| instance.execute(operation, arguments, &mut result));
        let Ok(executed) = catch_unwind(run) else { return Err(self.break_down().into()) };
        let (outcome, writes) = executed.ok_or(Fault::NoSuchOperation)?;
        match outcome {
            Outcome::Blocked => return Ok(None),
            Outcome::Malformed => return Err(Fault::Malformed),
            Outcome::Done => {}
        }
        self.statistics.writes += u64::from(writes);
        self.statistics.reads += u64::from(!writes);
        Ok(Some((result, writes)))
    }
}

#[cfg(test)]
mod tests;
