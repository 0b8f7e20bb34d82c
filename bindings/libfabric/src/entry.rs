//! Functions that C calls, and the tables in which it finds them. No panic leaves one.

use crate::job::Job;
use crate::refusal::{Refusal, Result};
use std::ffi::c_int;
use std::panic::{AssertUnwindSafe, catch_unwind};

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

/// Does what [`sized`] does, for those that return an `int`.
pub(crate) fn count(work: impl FnOnce() -> Result<usize>) -> c_int {
    sized(work) as c_int
}

/// Function for empty entries of tables. It takes no arguments, which C, that cleans its own stack,
/// may pass all the same.
pub(crate) extern "C" fn unsupported() -> isize {
    -(libc::ENOSYS as isize)
}

/// A function that is not there.
pub(crate) type Missing = extern "C" fn() -> isize;

/// A table of functions of one type of objects: its layout, the table itself, and the functions.
/// An entry says by which of the functions above its work is [`done`], or that it is `missing`.
macro_rules! table {
    (
        $(#[$doc:meta])*
        $ops:ident: $table:ident of $object:ty {
            $( $name:ident: $kind:ident
                $(|$this:ident $(, $argument:tt: $type:ty)*| $body:expr)?; )*
        }
    ) => {
        $(#[$doc])*
        #[repr(C)]
        struct $table {
            size: usize,
            $( $name: table!(@type $kind $object $($(, $type)*)?), )*
        }

        static $ops: $table = {
            $( $(
                #[allow(clippy::too_many_arguments)] // libfabric has as many.
                extern "C" fn $name($this: &$object $(, $argument: $type)*)
                    -> table!(@result $kind)
                {
                    $kind(|| $body)
                }
            )? )*
            $table { size: size_of::<$table>(), $( $name: table!(@value $kind $name), )* }
        };
    };
    (@type missing $object:ty) => { Missing };
    (@type $kind:ident $object:ty $(, $type:ty)*) => {
        extern "C" fn(&$object $(, $type)*) -> table!(@result $kind)
    };
    (@value missing $name:ident) => { unsupported };
    (@value $kind:ident $name:ident) => { $name };
    (@result done) => { isize };
    (@result $kind:ident) => { c_int };
}

pub(crate) use table;
