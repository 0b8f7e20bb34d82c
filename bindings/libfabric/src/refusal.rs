//! Error numbers, as C gets them: negative.

use crate::job::Job;
use std::ffi::c_int;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Reason why a call did not do its work.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Refusal(c_int);

impl Refusal {
    /// Nothing there now, or no room now.
    pub const AGAIN: Refusal = Refusal(libc::EAGAIN);
    /// Arguments that make no sense.
    pub const INVALID: Refusal = Refusal(libc::EINVAL);
    /// The provider does not do that.
    pub const UNSUPPORTED: Refusal = Refusal(libc::ENOSYS);
    /// Nothing that fits the hints.
    pub const NO_DATA: Refusal = Refusal(libc::ENODATA);
    /// No such thing.
    pub const NOT_FOUND: Refusal = Refusal(libc::ENOENT);
    /// Nobody is there.
    pub const UNREACHABLE: Refusal = Refusal(libc::EHOSTUNREACH);
    /// Something goes on still.
    pub const BUSY: Refusal = Refusal(libc::EBUSY);
    /// No such option.
    pub const NO_OPTION: Refusal = Refusal(libc::ENOPROTOOPT);
    /// The time is up.
    pub const TIMED_OUT: Refusal = Refusal(libc::ETIMEDOUT);
    /// No memory.
    pub const NO_MEMORY: Refusal = Refusal(libc::ENOMEM);
    /// The job cannot go on.
    pub const BROKEN: Refusal = Refusal(libc::EIO);
    /// Too many of something.
    pub const TOO_MANY: Refusal = Refusal(libc::EMFILE);
    /// A message longer than such may be.
    pub const TOO_LONG: Refusal = Refusal(libc::EMSGSIZE);
    /// FI_ENOKEY: the key is another region's.
    pub const NO_KEY: Refusal = Refusal(completion::NO_KEY);
    /// No such operation on such elements.
    pub const NO_OPERATION: Refusal = Refusal(libc::EOPNOTSUPP);
    /// FI_ETOOSMALL: the room given is too small.
    pub const TOO_SMALL: Refusal = Refusal(257);
    /// FI_EOPBADSTATE: not now, not yet or no longer.
    pub const BAD_STATE: Refusal = Refusal(258);
    /// FI_EAVAIL: an error waits to be read.
    pub const ERROR_WAITS: Refusal = Refusal(259);
    /// FI_ENOAV: an endpoint without an address vector.
    pub const NO_VECTOR: Refusal = Refusal(267);
    /// FI_ENOCQ: an endpoint without a completion queue.
    pub const NO_QUEUE: Refusal = Refusal(263);
}

/// Errors in completions.
pub(crate) mod completion {
    use std::ffi::c_int;

    /// No message that a peek wants.
    pub const NO_MESSAGE: c_int = libc::ENOMSG;
    /// Taken back.
    pub const CANCELED: c_int = libc::ECANCELED;
    /// FI_ETRUNC: longer than the buffer.
    pub const TRUNCATED: c_int = 265;
    /// FI_ENOKEY: no region with such a key.
    pub const NO_KEY: c_int = 266;
    /// A region that may not be accessed in this way.
    pub const NO_RIGHT: c_int = libc::EACCES;
    /// Beyond the end of a region.
    pub const BEYOND: c_int = libc::EFAULT;
}

/// A result for C.
pub(crate) type Result<T = ()> = std::result::Result<T, Refusal>;

impl Refusal {
    /// The value for C.
    #[inline(always)]
    pub fn returned(self) -> isize {
        -(self.0 as isize)
    }
}

/// Does the work of an exported function. A panic is a bug, which may have left anything half done;
/// C is told that the job is broken, by this call and those that follow.
#[inline(always)]
pub(crate) fn returned(work: impl FnOnce() -> isize) -> isize {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| panicked())
}

#[cold]
#[inline(never)]
fn panicked() -> isize {
    if let Some(job) = Job::current() {
        job.break_off();
    }
    Refusal::BROKEN.returned()
}

/// Does what [`returned`] does, for work that may be refused.
#[inline(always)]
pub(crate) fn sized(work: impl FnOnce() -> Result<usize>) -> isize {
    returned(|| match work() {
        Ok(count) => count as isize,
        Err(refusal) => refusal.returned(),
    })
}

/// Does what [`sized`] does, for functions that return nothing but an error.
#[inline(always)]
pub(crate) fn done(work: impl FnOnce() -> Result) -> isize {
    sized(|| work().map(|()| 0))
}

/// Does what [`done`] does, for those whose errors are an `int`.
#[inline]
pub(crate) fn call(work: impl FnOnce() -> Result) -> c_int {
    done(work) as c_int
}

/// Function for empty entries of tables. It takes no arguments, which C, that cleans its own stack,
/// may pass all the same.
pub(crate) extern "C" fn unsupported() -> isize {
    -(libc::ENOSYS as isize)
}

/// A function that is not there.
pub(crate) type Missing = extern "C" fn() -> isize;
