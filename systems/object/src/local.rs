//! Copies at this rank, of types that are known and of types that are not.

use crate::copy::{Copy, Fault, Overs, Role, Statistics, Way};
use crate::lock::lock;
use crate::operation::Executable;
use std::any::Any;
use std::sync::{Arc, Mutex};
use weft_endpoint::Rank;
use weft_messaging::rpc::Responder;

/// Destination of the result of an invocation.
pub(crate) enum Resume {
    /// An invocation of this rank, with this key among [`crate::calls::Calls`]; and its number, 0
    /// if no process waits for it.
    Here(u64, u32),
    /// The rank that called; and the number there.
    Caller(Responder, Rank, u32),
    /// Another rank, whose own copy has it.
    Elsewhere,
}

/// Copy of a `T` at this rank, or the place for one.
pub(crate) type LocalCopy<T> = Mutex<Copy<T, Resume>>;

/// Copy, at this rank, of a type that is not known, or the place for one.
pub(crate) trait AnyCopy: Any + Send + Sync {
    /// Executes an operation; adds those that are over.
    fn invoke(&self, invocation: Local<'_>, over: &mut Overs<Resume>);

    /// State of the only copy, which is frozen from here on: see [`Copy::freeze`].
    fn freeze(&self, accepts: &dyn Fn(&[u8]) -> bool, is_late: bool) -> Option<Vec<u8>>;

    /// The copy has this role from here on, with the instance of another one if that is given: see
    /// [`Copy::settle`].
    fn settle(&self, role: Role, fresh: Fresh, over: &mut Overs<Resume>);

    /// The object is no more: see [`Copy::delete`].
    fn delete(&self, over: &mut Overs<Resume>);

    /// Ends all that is blocked, and what would be, by this fault from here on, or no longer; adds
    /// those that are over.
    fn set_ending(&self, ending: Option<Fault>, over: &mut Overs<Resume>);

    /// Adds the numbers of invocations of processes that are blocked here, with their ranks: each
    /// at one of its copies.
    fn blocked(&self, own: Rank, numbers: &mut Vec<(u16, u32)>);

    /// Its counters, and its role.
    fn statistics(&self) -> (Statistics, Role);
}

/// Instance of a copy that settles.
pub(crate) enum Fresh {
    /// The one that it has.
    Kept,
    /// The one of this copy, which may be of any type; none if that could not be made.
    Of(Option<Arc<dyn AnyCopy>>),
}

/// Invocation at a copy.
pub(crate) struct Local<'a> {
    pub way: Way,
    pub operation: u16,
    pub arguments: &'a [u8],
    pub resume: Resume,
}

pub(crate) fn local<T: Executable>(instance: Option<T>) -> Arc<dyn AnyCopy> {
    let copy: LocalCopy<T> = Mutex::new(Copy::new(instance, Role::Absent));
    Arc::new(copy)
}

impl<T: Executable> AnyCopy for LocalCopy<T> {
    fn invoke(&self, invocation: Local<'_>, over: &mut Overs<Resume>) {
        let Local { way, operation, arguments, resume } = invocation;
        lock(self).invoke(way, operation, arguments, resume, over);
    }

    fn freeze(&self, accepts: &dyn Fn(&[u8]) -> bool, is_late: bool) -> Option<Vec<u8>> {
        lock(self).freeze(accepts, is_late)
    }

    fn settle(&self, role: Role, fresh: Fresh, over: &mut Overs<Resume>) {
        let fresh = match fresh {
            Fresh::Kept => None,
            Fresh::Of(copy) => Some(copy.and_then(|copy| {
                let copy = (copy as Arc<dyn Any + Send + Sync>).downcast::<Self>().ok()?;
                lock(&copy).take_instance()
            })),
        };
        lock(self).settle(role, fresh, over);
    }

    fn delete(&self, over: &mut Overs<Resume>) {
        lock(self).delete(over);
    }

    fn set_ending(&self, ending: Option<Fault>, over: &mut Overs<Resume>) {
        lock(self).set_ending(ending, over);
    }

    fn blocked(&self, own: Rank, numbers: &mut Vec<(u16, u32)>) {
        let copy = lock(self);
        // What is at a frozen copy has not been tried.
        if copy.role() == Role::Frozen {
            return;
        }
        let invocations = copy.blocked().map(|resume| match resume {
            Resume::Here(_, number) => (own.0, *number),
            Resume::Caller(_, rank, number) => (rank.0, *number),
            Resume::Elsewhere => (own.0, 0),
        });
        numbers.extend(invocations.filter(|(_, number)| *number != 0));
    }

    fn statistics(&self) -> (Statistics, Role) {
        let copy = lock(self);
        (copy.statistics, copy.role())
    }
}
