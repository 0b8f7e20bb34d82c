//! Error numbers, as C gets them: negative.

use std::ffi::c_int;

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

/// The argument that C has to give in this call.
pub(crate) fn some<T>(given: Option<&T>) -> Result<&T> {
    given.ok_or(Refusal::INVALID)
}

/// Refuses flags where none is known.
pub(crate) fn no_flags(flags: u64) -> Result {
    if flags == 0 { Ok(()) } else { Err(Refusal::UNSUPPORTED) }
}
